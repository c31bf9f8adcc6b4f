"""Conditions in SQL that find a word in a text, as `CountVectorizer` finds it."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from functools import cache

from skauc.onnx.words import capitals, word_pattern


def word_test(dialect: str, text: str, word: str, quote: Callable[[str], str]) -> str:
    """Return a condition that is true if the text has the word."""
    if dialect == "duckdb":
        return f"regexp_full_match({text}, {quote(word_pattern(word))})"
    if dialect == "bigquery":
        return f"REGEXP_CONTAINS({text}, {quote(f'^(?:{word_pattern(word)})$')})"
    spelled = "".join(_either_case(letter) for letter in word)
    between = between_words()
    if dialect == "postgresql":
        return f"{text} ~ {quote(f'(^|{between}){spelled}($|{between})')}"
    return f"(' ' || {text} || ' ') GLOB {quote(f'*{between}{spelled}{between}*')}"


def _either_case(letter: str) -> str:
    return f"[{letter}{capitals().get(letter, '')}]"


@cache
def between_words() -> str:
    """Return a class of all characters that are not letters, digits or underscores."""
    is_letter = re.compile(r"\w").match
    ranges, start = [], None
    for code in range(1, sys.maxunicode + 2):
        inside = code <= sys.maxunicode and is_letter(chr(code)) is not None
        if inside and start is None:
            start = code
        elif not inside and start is not None:
            ranges.append(f"{chr(start)}-{chr(code - 1)}" if code - 1 > start else chr(start))
            start = None
    return f"[^{''.join(ranges)}]"
