"""From a messy table to a matrix of well-scaled numbers."""

from skauc.preprocessing.kinds import KINDS
from skauc.preprocessing.new_rows import NewRows
from skauc.preprocessing.steps import ArcSinh, DateFeatures
from skauc.preprocessing.table import TablePreprocessor

__all__ = ["KINDS", "ArcSinh", "DateFeatures", "NewRows", "TablePreprocessor"]
