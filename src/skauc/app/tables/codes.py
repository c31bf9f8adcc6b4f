"""Columns of codes that pyarrow takes for numbers: hexadecimal, or with too many digits."""

from __future__ import annotations

from collections.abc import Callable

_LONGEST_INTEGER = 2.0**63
_CODE = r"^\s*[+-]?(?:0[xX]|[0-9]{19})"


def with_codes_as_text(table, has_hexadecimal: bool, read_as_text: Callable):
    """Return a table in which columns of codes are text.

    Parameters
    ----------
    table : pyarrow.Table
        The table, with the types that pyarrow has inferred.
    has_hexadecimal : bool
        Whether 0x stands somewhere in the file.
    read_as_text : callable
        Takes names, and returns the table with these columns as text.
    """
    suspects = [name for name in table.column_names if _may_be_codes(table[name], has_hexadecimal)]
    if not suspects:
        return table
    texts = read_as_text(suspects)
    for name in suspects:
        if _holds_codes(texts[name]):
            table = table.set_column(table.schema.get_field_index(name), name, texts[name])
    return table


def may_be_hexadecimal(content: bytes) -> bool:
    """Tell whether 0x stands somewhere in a text."""
    return b"0x" in content or b"0X" in content


def _may_be_codes(column, has_hexadecimal: bool) -> bool:
    """Tell whether pyarrow may have read codes as integers, or as floats for want of digits."""
    import pyarrow as pa
    from pyarrow import compute

    if pa.types.is_floating(column.type):
        limits = compute.min_max(column).as_py().values()
        return any(limit is not None and abs(limit) >= _LONGEST_INTEGER for limit in limits)
    return has_hexadecimal and pa.types.is_integer(column.type)


def _holds_codes(texts) -> bool:
    from pyarrow import compute

    return bool(compute.any(compute.match_substring_regex(texts, _CODE)).as_py())
