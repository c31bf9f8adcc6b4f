"""Data: readers of tables, and sets to try things on."""

from skauc.datasets.paper import DATASET_NAMES, load_dataset
from skauc.datasets.readers import iterate_table, read_table
from skauc.datasets.target import LabelledTable, split_target

__all__ = [
    "DATASET_NAMES",
    "LabelledTable",
    "iterate_table",
    "load_dataset",
    "read_table",
    "split_target",
]
