"""Tables read from files, and their target columns."""

from skauc.app.tables.labels import find_label, is_same_label
from skauc.app.tables.readers import iterate_table, iterate_with_text, read_table
from skauc.app.tables.target import LabelledTable, is_positive_ambiguous, split_target

__all__ = [
    "LabelledTable",
    "find_label",
    "is_positive_ambiguous",
    "is_same_label",
    "iterate_table",
    "iterate_with_text",
    "read_table",
    "split_target",
]
