"""Signals: SIGTERM and SIGHUP end a command as Ctrl-C does, and no worker process outlives it.

An interrupt waits for the end of an import. Extension modules turn an interrupt of their import
into an ImportError, or end the process, and Python may end with another status.
"""

from __future__ import annotations

import atexit
import os
import signal
import sys
from contextlib import suppress
from threading import Timer
from typing import NoReturn

# Seconds that the clean-up may take after an interrupt.
MOST_CLEAN_UP = 10.0

# Seconds after which a signal that came during an import is looked at again.
LATER = 0.02

_NAMES = ("SIGINT", "SIGTERM", "SIGHUP")  # Windows has no SIGHUP
_SIGNALS = [getattr(signal, name) for name in _NAMES if hasattr(signal, name)]

_HAS_TIMER = hasattr(signal, "setitimer")  # Windows has none

_received: list[int] = []


def install_handlers() -> None:
    """Turn SIGINT, SIGTERM and SIGHUP into a KeyboardInterrupt, unless they are ignored."""
    usual = (signal.SIG_DFL, signal.default_int_handler)
    for number in _SIGNALS:
        if signal.getsignal(number) in usual:
            signal.signal(number, _interrupt)
    sys.unraisablehook = _raise_again


def ignore_signals() -> None:
    """Ignore signals from now on, because the work is done and its status is known."""
    for number in _SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    if _HAS_TIMER:
        signal.setitimer(signal.ITIMER_REAL, 0.0)


def _interrupt(number, frame) -> None:
    if _HAS_TIMER:
        if _is_importing(frame):
            _interrupt_later(number)
            return
        signal.setitimer(signal.ITIMER_REAL, 0.0)  # no other one waits any more
    _received.append(number)
    if number != signal.SIGINT:
        signal.signal(number, signal.SIG_IGN)  # a second one must not cut the clean-up short
    raise KeyboardInterrupt


def _interrupt_later(number: int) -> None:
    signal.signal(signal.SIGALRM, lambda _, frame: _interrupt(number, frame))
    signal.setitimer(signal.ITIMER_REAL, LATER)


def _raise_again(unraisable) -> None:
    """Interrupt once more: Python prints errors in destructors and callbacks, and goes on."""
    if _HAS_TIMER and _received and issubclass(unraisable.exc_type, KeyboardInterrupt):
        _interrupt_later(_received.pop())
    else:
        sys.__unraisablehook__(unraisable)


def _is_importing(frame) -> bool:
    """Tell whether a module is being imported in this frame or in one of its callers."""
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False


def exit_code_of_interrupt() -> int:
    """Return 130 after Ctrl-C, 143 after SIGTERM: 128 and the number of the signal."""
    return 128 + (_received[-1] if _received else signal.SIGINT)


def end_workers() -> None:
    """End the worker processes that are left."""
    multiprocessing = sys.modules.get("multiprocessing")
    if multiprocessing is not None:  # without it there is none
        for process in multiprocessing.active_children():
            process.terminate()


def leave(code: int) -> NoReturn:
    """End the program at once: run what is registered for the exit, and nothing after it.

    A pool of workers that is interrupted while it starts makes the interpreter wait for them
    forever, libraries in C++ that are interrupted while they start threads abort the process when
    they are unloaded, and CPython may end with SIGINT, whatever the code.
    """
    ignore_signals()
    end_workers()
    watchdog = Timer(MOST_CLEAN_UP, os._exit, [code])
    watchdog.daemon = True
    watchdog.start()
    with suppress(Exception):
        atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with suppress(Exception):
            stream.flush()
    os._exit(code)
