"""Signals that come while a module is imported."""

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals as POSIX has them")

# The module interrupts its own import, as a user can who presses Ctrl-C early.
MODULE = """
import os, signal
os.kill(os.getpid(), signal.{name})
for _ in range(1000):
    pass
is_complete = True
"""
PROGRAM = """
import time
from skauc.app.cli.signals import exit_code_of_interrupt, install_handlers
install_handlers()
import interrupted
try:
    time.sleep(60)
except KeyboardInterrupt:
    print(interrupted.is_complete, exit_code_of_interrupt())
"""


@pytest.mark.parametrize(("name", "code"), [("SIGINT", 130), ("SIGTERM", 143)])
def test_an_interrupt_waits_for_the_end_of_an_import(name, code, tmp_path):
    (tmp_path / "interrupted.py").write_text(MODULE.format(name=name))
    path = os.pathsep.join([str(tmp_path), *sys.path])
    answer = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert answer.stdout.split() == ["True", str(code)], answer.stderr


IN_A_DESTRUCTOR = """
import os, signal, time
from skauc.app.cli.signals import exit_code_of_interrupt, install_handlers
install_handlers()

class Part:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGTERM)
        for _ in range(1000):
            pass

Part()
try:
    time.sleep(60)
except KeyboardInterrupt:
    print(exit_code_of_interrupt())
"""


def test_an_interrupt_in_a_destructor_is_not_lost():
    answer = subprocess.run(
        [sys.executable, "-c", IN_A_DESTRUCTOR], capture_output=True, text=True, timeout=50
    )
    assert (answer.stdout, answer.stderr) == ("143\n", "")


OUTSIDE_A_COMMAND = """
import os, signal, sys
import skauc.app.cli.app as app
from skauc.app.cli import main

def parse(self, *arguments):
    os.kill(os.getpid(), signal.SIGTERM)
    for _ in range(1000):
        pass

from typer.core import TyperGroup
TyperGroup.make_context = parse
sys.argv = ["skauc", "--help"]
main()
"""


def test_the_status_is_that_of_the_signal_before_a_command_has_begun():
    answer = subprocess.run(
        [sys.executable, "-c", OUTSIDE_A_COMMAND], capture_output=True, text=True, timeout=60
    )
    assert answer.returncode == 143, answer.stderr


AFTER_A_COMMAND = """
import atexit, os, signal, sys
from skauc.app.cli import main

atexit.register(os.kill, os.getpid(), signal.{name})
sys.argv = ["skauc", "--version"]
main()
"""


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_a_signal_after_the_work_is_done_does_not_change_the_status(name):
    code = AFTER_A_COMMAND.format(name=name)
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (answer.returncode, answer.stderr) == (0, "")
