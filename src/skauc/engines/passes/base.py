"""What a pass is: sums over the rows of a block, added up over blocks, then finished.

A pass is one question about all rows. Its file holds the formula, the version for each kind of
block, and what is made of the sums. Engines know nothing of a particular pass: one with a single
block runs it there, and a cluster runs it on every block and adds up what the blocks return.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, ClassVar

Sums = tuple[Any, ...]


class Pass(ABC):
    """A question that `skauc.engines.Engine.ask` answers.

    Arrays in the fields of a pass are small: they are sent to every block. Versions yield tuples
    of NumPy arrays (or of tensors), which `add` adds up. ``given`` is the answer of the pass that
    `before` returns.
    """

    # Run on the first block alone. The answer is not a sum.
    first_block_only: ClassVar[bool] = False

    @property
    def before(self) -> Pass | None:
        """Another pass, over the same states, whose answer this one needs."""
        return None

    @abstractmethod
    def cpu(self, block: Any, given: Any, *states: Any) -> Iterator[Sums]:
        """Yield sums over the rows of a `CPUBlock`; their total is the sum of the block."""

    @abstractmethod
    def gpu(self, block: Any, given: Any, *states: Any) -> Iterator[Sums]:
        """Yield sums over the rows of a `GPUBlock`, as tensors or as arrays."""

    @staticmethod
    def add(totals: Sums, part: Sums) -> None:
        """Add a part to the totals, in place and item by item."""
        for total, array in zip(totals, part, strict=True):
            total += array

    def finish(self, sums: Sums, given: Any) -> Any:
        """Return the answer, from the sums of all blocks. They may be tensors."""
        return sums[0]


def alone(*sums: Any) -> Iterator[Sums]:
    """Return the sums of a version that goes over all rows of its block at once."""
    return iter((sums,))
