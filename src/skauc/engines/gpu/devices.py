"""Which device, and how it is to multiply."""

from __future__ import annotations

import os

import torch

from skauc.engines import GPU_VARIABLE
from skauc.exceptions import InvalidParameterError


def find_device() -> str:
    """Return the name of the device to work on, or say why there is none."""
    asked = os.environ.get(GPU_VARIABLE)
    if not asked and not torch.cuda.is_available():
        raise InvalidParameterError(
            f"engine='gpu' needs a GPU, and torch {torch.__version__} finds none. Install the "
            "torch of your GPU's maker (https://pytorch.org/get-started/locally), or use "
            f"engine='cpu'. To try the engine without a GPU, set {GPU_VARIABLE}=cpu."
        )
    return check_device(GPU_VARIABLE, asked or "cuda")


def check_device(who: str, name: str) -> str:
    """Return torch's own name of a device that can work in float64, which ``who`` has named."""
    try:
        number = torch.zeros(1, dtype=torch.float64, device=name)
        number.cpu()  # which a device without numbers, such as 'meta', cannot do
        return str(number.device)
    except (AssertionError, NotImplementedError, RuntimeError, TypeError) as error:
        raise InvalidParameterError(
            f"{who} must name a device of torch's with 64-bit floats, such as 'cuda', "
            f"'cuda:1' or 'cpu'; got {name!r}: {str(error).splitlines()[0]}"
        ) from error


def multiply_precisely() -> str:
    """Keep products of float32 numbers from being rounded to 10 bits; return what was so far."""
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("highest")
    return before
