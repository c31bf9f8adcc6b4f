"""Names that a language accepts, made of the names of columns."""

from __future__ import annotations

import re
from collections.abc import Iterable

from skauc.exceptions import InvalidParameterError
from skauc.validation import shortened

# Keywords of C99 and C++, so that a header can be included in both.
_KEYWORDS = frozenset(
    re.findall(
        r"\w+",
        "alignas alignof and and_eq asm auto bitand bitor bool break case catch char class compl "
        "concept const consteval constexpr const_cast continue co_await co_return co_yield "
        "decltype default delete do double dynamic_cast else enum explicit export extern false "
        "float for friend goto if inline int long mutable namespace new noexcept not not_eq "
        "nullptr operator or or_eq private protected public register reinterpret_cast requires "
        "restrict return short signed sizeof static static_assert static_cast struct switch "
        "template this thread_local throw true try typedef typeid typename union unsigned using "
        "virtual void volatile wchar_t while xor xor_eq NAN NULL ",
    )
)


# The length of a name in bytes. A number may follow it.
_LONGEST = 60


def identifiers(names: Iterable[str]) -> list[str]:
    """Return a distinct identifier of C for each name."""
    plain = (re.sub(r"[^A-Za-z0-9]+", "_", name).strip("_") for name in names)
    safe = (name if name and not name[0].isdigit() else f"x{name}" for name in plain)
    return distinct([f"{name}_" if name in _KEYWORDS else name for name in safe])


def distinct(names: Iterable[str]) -> list[str]:
    """Shorten names and number those that differ in case only, or not at all."""
    found: list[str] = []
    used: set[str] = set()
    for name in names:
        short = name.encode()[:_LONGEST].decode(errors="ignore")
        unique, number = short, 2
        while unique.casefold() in used:
            unique, number = f"{short}_{number}", number + 1
        used.add(unique.casefold())
        found.append(unique)
    return found


def check_name(name: str) -> str:
    """Return the name of the model, or raise an error if it is no identifier."""
    if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]{0,39}", name):
        raise InvalidParameterError(
            "`name` must begin with a letter and have up to 40 letters, digits and underscores; "
            f"got {shortened(name)}."
        )
    return name
