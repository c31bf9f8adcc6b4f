"""Write the numbers of a program with as few digits as its scores need."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from skauc.export.program import Expansion, Program

# The largest change of any score by rounding the centres.
LARGEST_CHANGE = {"double": 2e-10, "float": 2e-6}
# The maximum of |d exp(-|u|^2) / du|, and of |d exp(-|u|_1) / du_j|.
_STEEPEST = {"gaussian": math.sqrt(2.0 / math.e), "laplacian": 1.0}
# More decimals than this are all digits of a double.
_MOST_DECIMALS = 17


def with_rounded_centres(program: Program, precision: str = "double") -> Program:
    """Return the program with centres of few decimals; polynomials keep all digits.

    In units in which the kernel is exp(-|u - c|^2), a centre that moves by a vector of length e
    changes its kernel value by at most sqrt(2 / e) times that length. So rounding to D decimals
    changes a score by at most sum_m |coef_m| sqrt(2 / e) sqrt(n_features) 10^-D / 2.
    """
    expansion = program.expansion
    if expansion.shape not in _STEEPEST or len(expansion.coef) == 0:
        return program
    decimals = _decimals(expansion, LARGEST_CHANGE[precision])
    rounded = [
        column if places > _MOST_DECIMALS else np.round(column, places)
        for column, places in zip(expansion.centres.T, decimals.tolist(), strict=True)
    ]
    centres = np.column_stack(rounded)
    return replace(program, expansion=replace(expansion, centres=centres))


def _decimals(expansion: Expansion, change: float) -> np.ndarray:
    """Return the number of decimals for each feature."""
    is_gaussian = expansion.shape == "gaussian"
    n_features = expansion.centres.shape[1]
    slope = _STEEPEST[expansion.shape] * np.abs(expansion.coef).sum()
    slope *= math.sqrt(n_features) if is_gaussian else n_features
    units = np.sqrt(expansion.weights) if is_gaussian else expansion.weights
    with np.errstate(divide="ignore"):
        decimals = np.ceil(np.log10(slope * units / (2 * change)))
    # A feature of weight 0 has no effect.
    return np.maximum(decimals, 0).astype(int)


def digits(value: float) -> str:
    """Return the shortest text of a float that C, SQL and JavaScript read as the same float."""
    text = repr(float(value)).replace("e+", "e")
    if text.endswith(".0"):
        return "0" if value == 0 else text[:-2]
    return text.replace("0.", ".", 1) if text.startswith(("0.", "-0.")) else text
