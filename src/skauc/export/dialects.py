"""How databases spell names, strings, numbers and tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from skauc.exceptions import InvalidDataError


@dataclass(frozen=True)
class Dialect:
    """How one database spells things.

    Attributes
    ----------
    double, text : str
        Names of types.
    greatest, least : str
        Functions of two numbers.
    seconds : str
        Seconds since 1970 of a date or a time in UTC, with {} for the date.
    quote : str
        The mark around names.
    materialized, fence : str
        What keeps the planner from computing a common table expression or a derived table of one
        row several times.
    has_backslashes, has_values : bool
        Whether strings have escapes with backslashes, and whether there are VALUES.
    """

    double: str
    text: str
    seconds: str
    greatest: str = "GREATEST"
    least: str = "LEAST"
    quote: str = '"'
    materialized: str = ""
    fence: str = ""
    has_backslashes: bool = False
    has_values: bool = True

    def name(self, text: str) -> str:
        """Return a quoted name."""
        if self.has_backslashes:
            return self.quote + _backslashed(text, self.quote) + self.quote
        return self.quote + text.replace(self.quote, 2 * self.quote) + self.quote

    def string(self, text: str) -> str:
        """Return a quoted string."""
        if "\0" in text:
            raise InvalidDataError(
                f"The string {text!r} has a NUL character, which SQL cannot hold. Remove the "
                "character from the table and fit again, or export to js or html."
            )
        if self.has_backslashes:
            return "'" + _backslashed(text, "'") + "'"
        return "'" + text.replace("'", "''") + "'"

    def number(self, value: float) -> str:
        """Return a number with an exponent, which is a double and no decimal."""
        text = repr(float(value))
        text = text if "e" in text else f"{text}e0"
        return f"({text})" if text.startswith("-") else text

    def literal(self, value) -> str:
        """Return a value of a label or a row."""
        if value is None:
            return "NULL"
        if isinstance(value, bool):
            return "TRUE" if value else "FALSE"
        if isinstance(value, str):
            return self.string(value)
        return str(value) if isinstance(value, int) else self.number(value)

    def table(self, names: Sequence[str], types: Sequence[str], rows: Sequence[Sequence]) -> str:
        """Return a SELECT of constant rows."""
        if not self.has_values:
            fields = ", ".join(f"{name} {kind}" for name, kind in zip(names, types, strict=True))
            first, *others = ["(" + ", ".join(map(self.literal, row)) + ")" for row in rows]
            listed = ",\n".join([f"STRUCT<{fields}>{first}", *others])
            return f"SELECT * FROM UNNEST([\n{listed}])"
        typed = ", ".join(
            f"CAST(column{number} AS {kind}) AS {name}"
            for number, (name, kind) in enumerate(zip(names, types, strict=True), 1)
        )
        columns = ", ".join(f"column{number}" for number in range(1, len(names) + 1))
        listed = ",\n".join("(" + ", ".join(map(self.literal, row)) + ")" for row in rows)
        return (
            f"SELECT {typed} FROM (\nWITH given({columns}) AS (VALUES\n{listed})\n"
            "SELECT * FROM given) AS given"
        )


DIALECTS = {
    "duckdb": Dialect("DOUBLE", "VARCHAR", "epoch(CAST({} AS TIMESTAMP))"),
    "sqlite": Dialect(
        "REAL",
        "TEXT",
        "(strftime('%s', {0}) + strftime('%f', {0}) - strftime('%S', {0}))",
        greatest="MAX",
        least="MIN",
        materialized="MATERIALIZED",
        fence=" LIMIT 1",
    ),
    "postgresql": Dialect(
        "DOUBLE PRECISION",
        "TEXT",
        "EXTRACT(EPOCH FROM CAST({} AS TIMESTAMP))",
        materialized="MATERIALIZED",
        fence=" OFFSET 0",
    ),
    "bigquery": Dialect(
        "FLOAT64",
        "STRING",
        "UNIX_MICROS(CAST({} AS TIMESTAMP)) / 1e6",
        quote="`",
        has_backslashes=True,
        has_values=False,
    ),
}


def _backslashed(text: str, mark: str) -> str:
    """Return text inside of marks for a dialect with backslashes, in ASCII."""
    return "".join(
        char
        if char.isascii() and char.isprintable() and char not in (mark, "\\")
        else f"\\U{ord(char):08x}"
        for char in text
    )
