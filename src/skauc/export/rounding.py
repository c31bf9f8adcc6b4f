"""Write the numbers of a program with as few digits as its scores need."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from skauc.export.program import Expansion, Program

# Six standard deviations of the change of any score or probability by rounding the centres.
LARGEST_CHANGE = {"double": 8e-10, "float": 3e-6}
_N_DEVIATIONS = 6
# The maximum of |d exp(-|u|^2) / du|, and of |d exp(-|u|_1) / du_j|.
_STEEPEST = {
    "gaussian": math.sqrt(2.0 / math.e),
    "local": math.sqrt(2.0 / math.e),
    "laplacian": 1.0,
}
# More decimals than this are all digits of a double.
_MOST_DECIMALS = 17


def with_rounded_centres(program: Program, precision: str = "double") -> Program:
    """Return the program with centres of few decimals; polynomials keep all digits.

    In units in which the kernel is exp(-|u - c|^2), the gradient of its value by the centre has a
    length of at most sqrt(2 / e). Rounding to D decimals adds independent errors with a standard
    deviation of 10^-D / sqrt(12) to each number. So the standard deviation of the change of a score
    is at most |coef|_2 sqrt(2 / e) 10^-D / sqrt(12), wherever the row is. The probability changes
    more where its calibration is steeper than 1.
    """
    expansion = program.expansion
    if expansion.shape not in _STEEPEST or len(expansion.coef) == 0:
        return program
    steepest = 1.0 if program.calibration is None else program.calibration.steepest
    decimals = _decimals(expansion, LARGEST_CHANGE[precision] / max(steepest, 1.0))
    rounded = [
        column if places > _MOST_DECIMALS else np.round(column, places)
        for column, places in zip(expansion.centres.T, decimals.tolist(), strict=True)
    ]
    centres = np.column_stack(rounded)
    return replace(program, expansion=replace(expansion, centres=centres))


def _decimals(expansion: Expansion, change: float) -> np.ndarray:
    """Return the number of decimals for each feature."""
    slope = _STEEPEST[expansion.shape] * float(np.linalg.norm(expansion.coef))
    units = expansion.weights
    if expansion.shape == "laplacian":
        slope *= math.sqrt(expansion.centres.shape[1])
    elif expansion.shape == "gaussian":
        units = np.sqrt(units)
    else:  # the scales of the centre that is steepest in a feature
        units = np.abs(units).max(axis=0)
    deviation = slope * units / math.sqrt(12)
    with np.errstate(divide="ignore"):  # a feature of weight 0 has no effect
        decimals = np.ceil(np.log10(_N_DEVIATIONS * deviation / change))
    return np.maximum(decimals, 0).astype(int)


def is_single(numbers: np.ndarray) -> bool:
    """Tell whether single precision holds the numbers exactly, as it does refined centres."""
    with np.errstate(over="ignore"):
        return bool(np.array_equal(numbers, numbers.astype(np.float32)))


def digits(value: float) -> str:
    """Return the shortest text of a float that C, SQL and JavaScript read as the same float."""
    return _short(repr(float(value)))


def single_digits(value: float) -> str:
    """Return the shortest text that is the nearest number of single precision once it is rounded.

    C and JavaScript read the text in double precision first.
    """
    single = np.float32(value)
    text = str(single)
    is_same = np.float32(float(text)) == single
    return _short(text) if is_same else digits(float(single))


def _short(text: str) -> str:
    text = text.replace("e+", "e")
    if text.endswith(".0"):
        return "0" if text in ("0.0", "-0.0") else text[:-2]
    return text.replace("0.", ".", 1) if text.startswith(("0.", "-0.")) else text
