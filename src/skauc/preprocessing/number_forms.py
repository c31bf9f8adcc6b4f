"""Numbers written as text: find the form that a column uses, and parse it.

A form is stored as an example of itself: "1,234.5", "1.234,5", "$1,234.5", "1,234.5%". The last
mark is the decimal mark. Thousands may be grouped by the other mark, a space or an apostrophe.
Negative numbers have a leading or trailing minus, or stand in parentheses.
"""

from __future__ import annotations

import re

import numpy as np

from skauc.preprocessing.optional import import_pandas

PLAIN = "1234.5"
# Share of the values that must be numbers. Words for a missing value do not count.
FEWEST_PARSED = 0.9
# Share of all values that must be numbers, however many words for a missing value there are.
FEWEST_NUMBERS = 0.1
# Text of integers with at most this many distinct values is taken as codes.
MOST_CODES = 10
_SAMPLE = 1000

MISSING_WORDS = frozenset(
    {
        *("", "-", "--", "---", "–", "—", ".", "..", "...", "?", "??", "*", "n/a", "n.a.", "n.a"),
        *("na", "nan", "nil", "null", "none", "<na>", "#n/a", "#na", "#null!", "#value!"),
        *("#div/0!", "#ref!", "#num!", "#name?", "missing", "unknown", "unk", "undefined"),
        *("empty", "blank", "tbd", "tba", "not available", "not known", "not applicable"),
        *("no data", "not recorded", "not given"),
    }
)

_SPACE = "[\\s\u00a0\u2009\u202f]"
_MINUS = "[+\\-\u2212]"
_SYMBOLS = "$€£¥₹₽₩₺₪₫₴₦฿¢"
_CURRENCIES = (
    *("US$", "R$", "A$", "C$", "NZ$", "HK$", "S$"),
    *("USD", "EUR", "GBP", "JPY", "CHF", "CAD", "AUD", "NZD", "CNY", "RMB", "INR", "SEK", "NOK"),
    *("DKK", "PLN", "CZK", "HUF", "BRL", "MXN", "ZAR", "TRY", "RUB", "KRW", "SGD", "HKD", "ILS"),
    *("Rs.", "Rs", "kr.", "kr", "zł", "Kč", "Ft"),
    *_SYMBOLS,
)
_UNIT = "|".join(re.escape(unit) for unit in ("%", *_CURRENCIES))
_INFINITE = "[+-]?(?i:inf(?:inity)?)"
_LOOKS_NUMERIC = re.compile(rf"(?:{_MINUS}|\(|{_UNIT}|{_SPACE})*(?:[0-9.,]|{_INFINITE}$)")


def find_number_form(counts) -> str | None:
    """Return the form of a column of text, or None if it does not hold numbers.

    Parameters
    ----------
    counts : pandas.Series of int
        How often each distinct value occurs, indexed by the stripped text.

    Returns
    -------
    form : str or None
        The form that most values agree with.
    """
    sample = sample_of(counts)
    looks = sum(_LOOKS_NUMERIC.match(text) is not None for text in sample)
    if not sample or looks < FEWEST_PARSED / 2 * len(sample):
        return None
    texts = counts.index.to_series()
    weights = counts.to_numpy(dtype=np.float64)
    is_word = is_missing_word(texts)
    form, parsed = best_number_form(texts, weights)
    n_parsed, n_words = weights[parsed].sum(), weights[is_word].sum()
    if n_parsed < FEWEST_PARSED * (weights.sum() - n_words):
        return None
    if n_parsed < FEWEST_NUMBERS * weights.sum():
        return None
    if _are_codes(texts, weights, parsed, is_word, form):
        return None
    return form


def best_number_form(texts, weights: np.ndarray) -> tuple[str, np.ndarray]:
    """Return the form under which most of the values parse, and which values these are.

    "1,234" can be 1234 or 1.234. The other values of the column decide; if they do not, the comma
    groups thousands.
    """
    unit = _unit_of(texts, weights)
    point, comma = (_example(mark, False, unit) for mark in ".,")
    parsed = {form: ~np.isnan(parse_numbers(texts, form)) for form in (point, comma)}
    form = comma if weights[parsed[comma]].sum() > weights[parsed[point]].sum() else point
    kept = parsed[form]
    mark = "," if form == comma else "."
    is_grouped = bool(_contains(texts[kept], f"[0-9]{_group(mark)}[0-9]{{3}}").any())
    return _example(mark, is_grouped, unit), kept


def parse_numbers(texts, form: str) -> np.ndarray:
    """Return the numbers in a Series of stripped text, NaN where a value does not parse.

    Numbers that are too large, "inf" and "Infinity" are infinite.
    """
    pd = import_pandas()
    mark, unit = _decimal_mark(form), _unit_in(form)
    if mark == "." and unit != "%":
        found = pd.to_numeric(texts, errors="coerce")
        numbers = found.to_numpy(np.float64, copy=True, na_value=np.nan)
    else:
        numbers = np.full(len(texts), np.nan)
    left = np.isnan(numbers)
    if left.any():
        numbers[left] = _parse_written(texts[left], mark, unit)
    return numbers


def sample_of(counts) -> list[str]:
    """Return some of the distinct values without words for a missing value.

    The sample decides whether a column is worth a closer look, so that prose costs little.
    """
    texts = counts.index[:: max(1, len(counts) // _SAMPLE)].tolist()
    return [text for text in texts if text.lower() not in MISSING_WORDS]


def is_missing_word(texts) -> np.ndarray:
    """Return which values are words for a missing value, such as "n/a" or "unknown"."""
    return texts.str.lower().isin(MISSING_WORDS).to_numpy(dtype=bool)


def _parse_written(texts, mark: str, unit: str) -> np.ndarray:
    """Parse numbers with groups, units, parentheses or a decimal comma."""
    pd = import_pandas()
    numbers = np.full(len(texts), np.nan)
    is_infinite = _fullmatch(texts, _INFINITE)
    numbers[is_infinite] = np.where(texts[is_infinite].str.startswith("-"), -np.inf, np.inf)
    matched = _fullmatch(texts, _pattern(mark, unit))
    if not matched.any():
        return numbers
    cores = texts[matched]
    is_negative = _contains(cores, "^\\(|^[^0-9]*[-\u2212]|[-\u2212]$")
    if unit:
        cores = cores.str.replace(unit, "", regex=False)
    cores = cores.str.replace("^[^0-9.,]+|[^0-9.,]+$", "", regex=True)
    cores = cores.str.replace(_group(mark), "", regex=True)
    if mark == ",":
        cores = cores.str.replace(",", ".", regex=False)
    found = pd.to_numeric(cores, errors="coerce").to_numpy(np.float64, na_value=np.nan)
    numbers[matched] = np.where(is_negative, -found, found)
    return numbers


def _pattern(mark: str, unit: str) -> str:
    """Return what a whole number in this form looks like."""
    group, decimal = _group(mark), re.escape(mark)
    body = (
        rf"(?:(?:[0-9]+|[1-9][0-9]{{0,2}}(?:{group}[0-9]{{3}})+)(?:{decimal}[0-9]*)?"
        rf"|{decimal}[0-9]+)(?:[eE][+\-]?[0-9]+)?"
    )
    sign, space = f"{_MINUS}?", f"{_SPACE}*"
    if unit == "%":
        signed = rf"{sign}{space}{body}{space}%"
    elif unit:
        name = re.escape(unit)
        signed = rf"{sign}{space}(?:{name})?{space}{sign}{space}{body}{space}(?:{name})?"
    else:
        signed = rf"{sign}{space}{body}"
    return rf"{signed}-?|\({space}{signed}{space}\)"


def _group(mark: str) -> str:
    """Return the marks that may separate groups of thousands."""
    return "[ '’\u00a0\u2009\u202f" + ("." if mark == "," else ",") + "]"


def _fullmatch(texts, pattern: str) -> np.ndarray:
    return texts.str.fullmatch(f"(?:{pattern})").to_numpy(dtype=bool)


def _contains(texts, pattern: str) -> np.ndarray:
    return texts.str.contains(f"(?:{pattern})").to_numpy(dtype=bool)


def _example(mark: str, is_grouped: bool, unit: str) -> str:
    number = {".": ("1234.5", "1,234.5"), ",": ("1234,5", "1.234,5")}[mark][is_grouped]
    return f"{number}%" if unit == "%" else f"{unit}{number}"


def _decimal_mark(form: str) -> str:
    return "," if form.rstrip("%").endswith(",5") else "."


def _unit_in(form: str) -> str:
    return "%" if form.endswith("%") else re.sub(r"1[.,]?234[.,]5$", "", form)


def _unit_of(texts, weights: np.ndarray) -> str:
    """Return the most frequent currency; a percent sign if most values have one; or "".

    Amounts without a currency are in the one that the column has. A number without a percent sign
    may be a share instead, so that it must not be mixed with percentages.
    """
    pd = import_pandas()
    digits = _contains(texts, "[0-9]")
    units = texts.str.extract(f"({_UNIT})", expand=False)[digits]
    if units.isna().all():
        return ""
    totals = pd.Series(weights[digits]).groupby(units.to_numpy()).sum()
    unit = str(totals.idxmax())
    if unit == "%" and 2 * totals.max() < weights[digits].sum():
        return ""
    return unit


def _are_codes(texts, weights, parsed: np.ndarray, is_word: np.ndarray, form: str) -> bool:
    """Tell whether the values are codes that only look like numbers.

    Codes have leading zeros, or more than 15 digits, or some of them begin with letters ("V45").
    Text of a few distinct integers and nothing else is a code as well: a column of numbers would
    not have been stored as text.
    """
    total = weights[parsed].sum()
    numbers, heavy = texts[parsed], weights[parsed]
    padded = heavy[_fullmatch(numbers, "0[0-9]+")].sum()
    long = heavy[_fullmatch(numbers, "[0-9]{16,}")].sum()
    if padded >= 0.01 * total or long >= 0.5 * total:
        return True
    others = texts[~parsed & ~is_word]
    lettered = np.count_nonzero(_fullmatch(others, r"[A-Za-z]{1,3}[-.]?[0-9].*"))
    if lettered >= max(3, 0.01 * len(numbers)):
        return True
    is_pure = bool(parsed.all()) and form == PLAIN
    return is_pure and len(numbers) <= MOST_CODES and bool(_fullmatch(numbers, "-?[0-9]+").all())
