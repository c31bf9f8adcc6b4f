"""One spelling of cells that files and readers write in several ways."""

from __future__ import annotations

import re

_CLOCK = re.compile(r"([01][0-9]|2[0-3]):([0-5][0-9])(?::([0-5][0-9])(?:\.([0-9]+))?)?")


def spell_time(text: str) -> str:
    """Return a time of the day with seconds, and other text as it is.

    Examples
    --------
    >>> spell_time("08:00"), spell_time("08:00:00.500"), spell_time("late")
    ('08:00:00', '08:00:00.5', 'late')
    """
    match = _CLOCK.fullmatch(text)
    if match is None:
        return text
    hour, minute, second, fraction = match.groups("")
    time, fraction = f"{hour}:{minute}:{second or '00'}", fraction.rstrip("0")
    return f"{time}.{fraction}" if fraction else time
