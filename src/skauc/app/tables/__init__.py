"""Tables read from files, and their target columns."""

from skauc.app.tables.readers import iterate_table, read_table
from skauc.app.tables.target import LabelledTable, split_target

__all__ = ["LabelledTable", "iterate_table", "read_table", "split_target"]
