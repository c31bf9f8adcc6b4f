"""Words of a text as regular expressions of RE2, which is what ONNX runtimes have.

A text has a word where scikit-learn's `CountVectorizer` finds it with its defaults: in lower case,
and between characters that are no letter, digit or underscore. The one difference is a capital
sigma at the end of a word with an apostrophe and more letters after it.
"""

from __future__ import annotations

import re
import sys
from functools import cache

_BETWEEN = r"[^\pL\pN_]"
# In lower case this one is an i and a dot of its own, which ends a word.
_DOTTED_I = "\u0130"


def word_pattern(word: str) -> str:
    """Return the expression that the whole of a text matches if it has the word."""
    *head, last = (_either_case(letter) for letter in word)
    before, after = f"(?:.*(?:{_BETWEEN}|{_DOTTED_I}))?", f"(?:{_BETWEEN}.*)?"
    dotted = f"|{_DOTTED_I}.*" if word[-1] == "i" else ""
    return f"(?s){before}{''.join(head)}(?:{last}{after}{dotted})"


def _either_case(letter: str) -> str:
    spellings = letter + _capitals().get(letter, "")
    return re.escape(letter) if len(spellings) == 1 else f"[{spellings}]"


@cache
def _capitals() -> dict[str, str]:
    """Return for each letter the others that it is the lower case of: K and the Kelvin for k."""
    capitals: dict[str, str] = {}
    for capital in map(chr, range(sys.maxunicode + 1)):
        letter = capital.lower()
        if letter != capital:
            capitals[letter] = capitals.get(letter, "") + capital
    # At the end of a word the capital sigma stands for another letter.
    capitals["ς"] = "Σ"
    return capitals
