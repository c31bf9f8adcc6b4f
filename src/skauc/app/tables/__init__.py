"""Tables read from files, and their target columns."""

from skauc.app.tables.readers import iterate_table, iterate_with_text, read_table
from skauc.app.tables.target import LabelledTable, split_target

__all__ = ["LabelledTable", "iterate_table", "iterate_with_text", "read_table", "split_target"]
