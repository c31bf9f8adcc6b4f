"""What work on a GPU needs besides its blocks and passes: devices, rows, kernels and sums."""

from skauc.engines.gpu.devices import (
    PRECISE_PRODUCTS,
    check_device,
    find_device,
    keep_products_precise,
)
from skauc.engines.gpu.reading import read_for_gpu

__all__ = [
    "PRECISE_PRODUCTS",
    "check_device",
    "find_device",
    "keep_products_precise",
    "read_for_gpu",
]
