"""The GPU engine: one block of rows on a device of torch's.

Everything as long as the data is a tensor there. Sums over rows of float32 columns are taken in
float64, segment by segment; sums by cells are of whole numbers, or of rows in the order of their
cells. No sum depends on the order in which threads of the device come to it.
"""

from skauc.engines.gpu.block import DeviceBlock
from skauc.engines.gpu.devices import check_device, find_device, multiply_precisely
from skauc.engines.gpu.engine import GPUEngine
from skauc.engines.gpu.reading import read_training

__all__ = [
    "DeviceBlock",
    "GPUEngine",
    "check_device",
    "find_device",
    "multiply_precisely",
    "read_training",
]
