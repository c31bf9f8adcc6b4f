"""Regular expressions that find words in a text, in the syntax of RE2, which ONNX runtimes use.

They find a word wherever scikit-learn's `CountVectorizer` with its default parameters finds it: the
text is in lower case, and words end at characters that are not letters, digits or underscores. The
results differ only for a capital sigma before an apostrophe and more letters.
"""

from __future__ import annotations

import re
import sys
from functools import cache

_BETWEEN = r"[^\pL\pN_]"
# Its lower case is an i and a combining dot, and the dot ends the word.
_DOTTED_I = "\u0130"


def word_pattern(word: str) -> str:
    """Return an expression that matches a whole text if the text contains the word."""
    *head, last = (_either_case(letter) for letter in word)
    before, after = f"(?:.*(?:{_BETWEEN}|{_DOTTED_I}))?", f"(?:{_BETWEEN}.*)?"
    dotted = f"|{_DOTTED_I}.*" if word[-1] == "i" else ""
    return f"(?s){before}{''.join(head)}(?:{last}{after}{dotted})"


def _either_case(letter: str) -> str:
    spellings = letter + capitals().get(letter, "")
    return re.escape(letter) if len(spellings) == 1 else f"[{spellings}]"


@cache
def capitals() -> dict[str, str]:
    """Return all capitals of each letter: K and the Kelvin sign for k."""
    found: dict[str, str] = {}
    for capital in map(chr, range(sys.maxunicode + 1)):
        letter = capital.lower()
        if letter != capital:
            found[letter] = found.get(letter, "") + capital
    # At the end of a word, the lower case of sigma is this letter.
    found["ς"] = "Σ"
    return found
