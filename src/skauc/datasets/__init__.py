"""Data: readers of tables, and sets to try things on."""

from skauc.datasets.catalogue import CATALOGUE, DATASET_NAMES, DatasetInfo
from skauc.datasets.paper import load_dataset
from skauc.datasets.readers import iterate_table, read_table
from skauc.datasets.synthetic import make_islands, make_waves
from skauc.datasets.target import LabelledTable, split_target

__all__ = [
    "CATALOGUE",
    "DATASET_NAMES",
    "DatasetInfo",
    "LabelledTable",
    "iterate_table",
    "load_dataset",
    "make_islands",
    "make_waves",
    "read_table",
    "split_target",
]
