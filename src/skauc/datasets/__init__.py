"""Data to try things on."""

from skauc.datasets.paper import DATASET_NAMES, load_dataset

__all__ = ["DATASET_NAMES", "load_dataset"]
