"""The calls from `fit` and `decision_function` down to compiled code stay few."""

import subprocess
import sys
from pathlib import Path

TOOL = Path(__file__).parents[1] / "tools" / "count_frames.py"


def test_the_frames_to_compiled_code_are_few():
    answer = subprocess.run([sys.executable, TOOL], capture_output=True, text=True, timeout=300)
    assert answer.returncode == 0, answer.stdout + answer.stderr
