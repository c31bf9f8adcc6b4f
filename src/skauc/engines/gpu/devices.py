"""The device to work on, and the precision of its products."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial

import torch

from skauc.engines import GPU_VARIABLE
from skauc.exceptions import InvalidParameterError
from skauc.threads import SharedSetting


def find_device() -> str:
    """Return the name of the device to work on; raise an error if there is none."""
    asked = os.environ.get(GPU_VARIABLE)
    if not asked and not torch.cuda.is_available():
        raise InvalidParameterError(
            f"engine='gpu' needs a GPU, and torch {torch.__version__} finds none. Install a "
            "version of torch for your GPU (https://pytorch.org/get-started/locally), or use "
            f"engine='cpu'. To try the engine without a GPU, set {GPU_VARIABLE}=cpu."
        )
    return check_device(GPU_VARIABLE, asked or "cuda")


def check_device(who: str, name: str) -> str:
    """Return torch's name of a device that has float64; ``who`` is where the name comes from."""
    try:
        number = torch.zeros(1, dtype=torch.float64, device=name)
        number.cpu()  # fails for a device without numbers, such as 'meta'
        return str(number.device)
    except (AssertionError, NotImplementedError, RuntimeError, TypeError) as error:
        raise InvalidParameterError(
            f"{who} must name a torch device with 64-bit floats, such as 'cuda', "
            f"'cuda:1' or 'cpu'; got {name!r}: {str(error).splitlines()[0]}"
        ) from error


def _multiply_precisely() -> Callable[[], object]:
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("highest")
    return partial(torch.set_float32_matmul_precision, before)


def keep_products_precise() -> None:
    """Stop rounding products of float32 numbers for as long as the process lives."""
    torch.set_float32_matmul_precision("highest")


# Inside of this context products of float32 numbers are not rounded to 10 bits.
PRECISE_PRODUCTS = SharedSetting(_multiply_precisely)
