"""C functions that find words in UTF-8 text, as `CountVectorizer` finds them."""

from __future__ import annotations

import re
import sys

import numpy as np

from skauc.export.c_text import snippet, wrapped
from skauc.export.program import Program, Words
from skauc.onnx.words import capitals


def words_helpers(program: Program) -> str:
    """Return the functions that find words, with the letters that they need."""
    words = [
        word
        for block in program.blocks
        if isinstance(block, Words)
        for word in program.columns[block.column].levels
    ]
    letters = sorted(set("".join(words)) - {"ς"})
    pairs = [(capital, letter) for letter in letters for capital in capitals().get(letter, "")]
    pairs += [("\u0130", "i"), ("\u03a3", "\u03c3")]
    longest = max(len(word.encode()) for word in words) + 5
    texts = [f"{{{ord(capital)},{ord(letter)}}}" for capital, letter in dict(pairs).items()]
    return (
        snippet("words.h")
        .replace("LETTERS", wrapped(map(str, word_ends())))
        .replace("CAPITALS", wrapped(texts))
        .replace("LONGEST", str(longest))
    )


def word_ends() -> list[int]:
    """Return where runs of letters, digits and underscores begin and end, in turn."""
    is_letter = re.compile(r"\w").match
    flags = np.array([is_letter(chr(code)) is not None for code in range(sys.maxunicode + 1)])
    return (np.flatnonzero(np.diff(flags)) + 1).tolist()
