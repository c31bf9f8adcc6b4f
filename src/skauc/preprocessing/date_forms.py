"""Dates written as text: find the form that a column uses, and parse it.

A form is "ISO 8601" or a format of `strptime`, such as "%d/%m/%Y %H:%M".
"""

from __future__ import annotations

import re
from collections import Counter

import numpy as np

from skauc.preprocessing.number_forms import FEWEST_PARSED, is_missing_word, sample_of
from skauc.preprocessing.optional import import_pandas

ISO = "ISO 8601"
_ISO_DATE = re.compile(r"\d{4}-\d{1,2}-\d{1,2}(?!\d)")
_NUMERIC_DATE = re.compile(r"(\d{1,4})([/.\-])(\d{1,2})\2(\d{1,4})(.*)")
_NAMED_DATES = (
    (re.compile(r"\d{1,2}([ \-])([A-Za-z]{3,9})\1(\d{4}|\d{2})(.*)"), "%d{0}{1}{0}{2}"),
    (re.compile(r"([A-Za-z]{3,9}) \d{1,2}(,?) (\d{4})(.*)"), "{0} %d{1} %Y"),
)
_TIMES = (
    (re.compile(r""), ""),
    (re.compile(r"([ T])\d{1,2}:\d{2}"), "{0}%H:%M"),
    (re.compile(r"([ T])\d{1,2}:\d{2}:\d{2}"), "{0}%H:%M:%S"),
    (re.compile(r"([ T])\d{1,2}:\d{2}:\d{2}\.\d{1,9}"), "{0}%H:%M:%S.%f"),
    (re.compile(r"( )\d{1,2}:\d{2}( ?)[AaPp][Mm]"), "{0}%I:%M{1}%p"),
    (re.compile(r"( )\d{1,2}:\d{2}:\d{2}( ?)[AaPp][Mm]"), "{0}%I:%M:%S{1}%p"),
)


def find_date_form(counts) -> str | None:
    """Return the form of a column of text, or None if it does not hold dates.

    Parameters
    ----------
    counts : pandas.Series of int
        How often each distinct value occurs, indexed by the stripped text.

    Returns
    -------
    form : str or None
        The form that most values agree with.
    """
    forms = _candidate_forms(sample_of(counts))
    if not forms:
        return None
    texts = counts.index.to_series()
    weights = counts.to_numpy(dtype=np.float64)
    form, parsed = _best_form(texts, weights, forms)
    n_values = weights[~is_missing_word(texts)].sum()
    return form if weights[parsed].sum() >= FEWEST_PARSED * n_values else None


def best_date_form(counts) -> str | None:
    """Return the form under which most values parse, or None if no value parses."""
    texts = counts.index.to_series()
    forms = _candidate_forms(sample_of(counts), fewest=0.0) or _forms_of_digits(texts)
    if not forms:
        return None
    form, parsed = _best_form(texts, counts.to_numpy(dtype=np.float64), forms)
    return form if parsed.any() else None


def parse_dates(texts, form: str):
    """Return the dates in a Series of stripped text in UTC, NaT where a value does not parse."""
    written = "ISO8601" if form == ISO else form
    to_datetime = import_pandas().to_datetime
    return to_datetime(texts.astype(object), format=written, errors="coerce", utc=True)


def _best_form(texts, weights: np.ndarray, forms: list[str]) -> tuple[str, np.ndarray]:
    """Return the form that parses most; of equally good forms, the first."""
    parsed = {form: parse_dates(texts, form).notna().to_numpy() for form in forms}
    form = max(forms, key=lambda each: weights[parsed[each]].sum())
    return form, parsed[form]


def _candidate_forms(sample: list[str], fewest: float = FEWEST_PARSED / 2) -> list[str]:
    """Return the forms that suit a sample of the values, the more likely ones first."""
    shapes = Counter(shape for shape in map(_shape, sample) if shape is not None)
    if not shapes or sum(shapes.values()) < fewest * len(sample):
        return []
    shape = shapes.most_common(1)[0][0]
    if shape == ISO:
        return [ISO]
    forms = [shape]
    if shape.startswith("%d") and "%m" in shape:
        american = shape.replace("%d", "%_").replace("%m", "%d").replace("%_", "%m")
        forms = [american, shape] if _is_month_first(sample) else [shape, american]
    return forms


def _forms_of_digits(texts) -> list[str]:
    """Return the form of dates such as 20241231, which only a user can tell from numbers."""
    forms = {8: "%Y%m%d", 6: "%Y%m", 4: "%Y"}
    widths = texts[texts.str.fullmatch("[0-9]+").to_numpy(dtype=bool)].str.len()
    return [forms[width] for width in widths.mode() if width in forms]


def _shape(text: str) -> str | None:
    """Return a format for one value, with the day before the month; None if it is no date."""
    if _ISO_DATE.match(text):
        return ISO
    if (match := _NUMERIC_DATE.fullmatch(text)) is not None:
        first, mark, middle, last, rest = match.groups()
        time = _time_format(rest)
        date = _numeric_format(first, mark, middle, last)
        return None if time is None or date is None else date + time
    for pattern, example in _NAMED_DATES:
        if (match := pattern.fullmatch(text)) is not None:
            *parts, rest = match.groups()
            time = _time_format(rest)
            named = [_name_format(part) for part in parts]
            return None if time is None else example.format(*named) + time
    return None


def _numeric_format(first: str, mark: str, middle: str, last: str) -> str | None:
    if len(first) == 4 and len(last) <= 2:
        return f"%Y{mark}%m{mark}%d"
    if len(first) > 2 or len(last) not in (2, 4):
        return None
    if mark == "." and len(last) == 2 and len(first + middle) < 4:
        return None  # the number of a version rather than a date
    return f"%d{mark}%m{mark}{'%Y' if len(last) == 4 else '%y'}"


def _name_format(part: str) -> str:
    """Return the format of a month's name or of a year; marks stay as they are."""
    if part.isdigit():
        return "%Y" if len(part) == 4 else "%y"
    if part.isalpha():
        return "%b" if len(part) == 3 else "%B"
    return part


def _time_format(rest: str) -> str | None:
    for pattern, example in _TIMES:
        if (match := pattern.fullmatch(rest)) is not None:
            return example.format(*match.groups())
    return None


def _is_month_first(sample: list[str]) -> bool:
    """Tell whether the second part, always 1 where the first part varies, must be the day."""
    matches = [match for match in map(_NUMERIC_DATE.fullmatch, sample) if match is not None]
    firsts = {int(match[1]) for match in matches}
    return {int(match[3]) for match in matches} == {1} and len(firsts) > 1
