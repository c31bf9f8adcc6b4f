"""Text of C: strings, comments, tables and functions."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from textwrap import indent

from skauc.exceptions import InvalidDataError
from skauc.export.static import read_part


def quoted(text: str, where: str) -> str:
    """Return a string of C in UTF-8; bytes that are not plain ASCII are octal."""
    if "\0" in text:
        raise InvalidDataError(
            f"The {where} has a string with a NUL character, {text!r}, which C cannot hold. "
            "Remove the character from the table and fit again, or export to js or html."
        )
    escaped = (
        chr(byte) if 32 <= byte < 127 and chr(byte) not in '"\\?' else f"\\{byte:03o}"
        for byte in text.encode()
    )
    return '"' + "".join(escaped) + '"'


def comment(text: str) -> str:
    """Return text that cannot end a comment, in ASCII and on one line."""
    return json.dumps(text)[1:-1].replace("*", "\\u002a").replace("?", "\\u003f")


def array(declaration: str, items: Iterable[str]) -> str:
    """Return the declaration of a constant array."""
    return f"{declaration} = {{{wrapped(items)}}};"


def wrapped(items: Iterable[str]) -> str:
    """Join items by commas, in lines of about 100 characters."""
    lines, line = [], ""
    for item in items:
        if len(line) + len(item) > 98:
            lines.append(line)
            line = ""
        line += f"{item},"
    return "\n".join([*lines, line])[:-1]


def function(signature: str, lines: list[str]) -> str:
    """Return a function that a header may define without using it."""
    return "\n".join(
        [f"static inline {signature}", "{", indent("\n".join(lines), "    ", _is_code), "}"]
    )


def _is_code(line: str) -> bool:
    """Tell whether a line is not the continuation of a table, which needs no indentation."""
    return not re.match(r"[-.\d]", line)


def snippet(name: str) -> str:
    """Return functions from a file of this package, with § for the name of the model."""
    return read_part(name).rstrip().replace("NAME", "§")
