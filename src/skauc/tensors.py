"""Tensors of torch's among what users pass, without importing torch for it."""

from __future__ import annotations

import sys


def is_tensor(values) -> bool:
    """Tell whether this is a tensor of torch's, without importing torch for it."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(values, torch.Tensor)


def on_host(values):
    """Return a tensor of torch's, wherever it is, as a NumPy array; anything else as it is."""
    if not is_tensor(values):
        return values
    values = values.detach().cpu()
    # NumPy has no such numbers.
    return (values.float() if "bfloat16" in str(values.dtype) else values).numpy()
