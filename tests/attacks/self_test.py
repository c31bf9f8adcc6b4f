"""An attack on the harness itself: cases that pass, fail, hang, crash and take memory."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import numpy as np

from tests.attacks.judging import demand


class Attack:
    """The number of the case says what it does."""

    def __init__(self, folder: Path, seed: int):
        self.kind = ""

    def run(self, case: int) -> str:
        """Pass, or fail in one of five ways."""
        self.kind = f"kind {case}"
        if case == 1:
            demand(False, "a promise")
        elif case == 2:
            [].pop()
        elif case == 3:
            time.sleep(60)
        elif case == 4:
            os.kill(os.getpid(), signal.SIGSEGV)
        elif case == 5:
            np.ones(1 << 28)
        return "passed"
