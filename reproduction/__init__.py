"""The paper's experiments: its protocol, its tables and its figures, from the data on."""

from reproduction.methods import METHOD_NAMES
from reproduction.reproduction import EXPERIMENT_NAMES, reproduce

__all__ = ["EXPERIMENT_NAMES", "METHOD_NAMES", "reproduce"]
