"""The paper's experiments: data sets, protocol, tables and figures."""

from reproduction.experiments import EXPERIMENT_NAMES, reproduce
from reproduction.methods import METHOD_NAMES

__all__ = ["EXPERIMENT_NAMES", "METHOD_NAMES", "reproduce"]
