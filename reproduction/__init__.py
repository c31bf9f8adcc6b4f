"""The paper's experiments: its protocol, its tables and its figures, from the data on."""

from reproduction.experiments import EXPERIMENT_NAMES, reproduce
from reproduction.methods import METHOD_NAMES

__all__ = ["EXPERIMENT_NAMES", "METHOD_NAMES", "reproduce"]
