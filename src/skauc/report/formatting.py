"""Formats of numbers and names on the page."""

from __future__ import annotations

import re
from collections.abc import Iterable


def format_number(value: float | str) -> str:
    """Format a number with four significant digits, or three below 1. Texts are unchanged."""
    if isinstance(value, str):
        return value
    if (value == int(value) or abs(value) >= 1000) and abs(value) < 1e15:
        return f"{value:,.0f}".replace("-", "−")
    text = f"{value:.{4 if abs(value) >= 1 else 3}g}"
    return text.replace("e-0", "e-").replace("e+0", "e").replace("e+", "e").replace("-", "−")


def percent(share: float) -> str:
    """Format a share in percent, without the sign: one decimal from 10 on, two digits below."""
    value = 100 * share
    return f"{value:.1f}" if value >= 9.95 else f"{value:.2g}"


def signed(value: float) -> str:
    """Format a difference of AUCs with four decimals."""
    return f"{value:.4f}".replace("-0.0000", "0.0000").replace("-", "−")


def format_step(value: float, decimals: int) -> str:
    """Format a contribution with its sign."""
    return f"{value:+.{decimals}f}".replace("-", "−")


def breakable(name: str):
    """Escape a name, and allow line breaks after underscores, and after dots but before ".csv"."""
    from markupsafe import Markup, escape

    breaks = re.sub(r"\.(?=\w{6}|\w+[._])", ".<wbr>", str(escape(name)).replace("_", "_<wbr>"))
    return Markup(breaks)


def few(values: Iterable, most: int = 21) -> list:
    """Return evenly spaced entries of a sequence, including both ends."""
    values = list(values)
    if len(values) <= most:
        return values
    indices = sorted({round(i * (len(values) - 1) / (most - 1)) for i in range(most)})
    return [values[i] for i in indices]


def more_columns(count: int) -> str:
    """Return the summary of a table that is closed at first."""
    return "1 more column" if count == 1 else f"{count:,} more columns"
