"""The steps behind the commands: train on a table, score rows, evaluate, inspect."""

from skauc.app.workflow.comparing import Comparison, compare_models
from skauc.app.workflow.demo import DemoResult, run_demo
from skauc.app.workflow.duration import estimate_seconds
from skauc.app.workflow.evaluation import Evaluation, OperatingPoint, evaluate_rows
from skauc.app.workflow.explaining import parse_rows, rows_within
from skauc.app.workflow.input_check import InputCheck
from skauc.app.workflow.inspection import ModelParts, describe_model
from skauc.app.workflow.labels import check_positive_is_clear
from skauc.app.workflow.memory import ColumnDrift, find_drift, remember
from skauc.app.workflow.model_facts import ModelFacts
from skauc.app.workflow.scoring import RowScorer, ScoredRows
from skauc.app.workflow.shared import notes_on_shared_groups, notes_on_shared_rows
from skauc.app.workflow.splitting import TableParts, split_off_test, take_rows
from skauc.app.workflow.training import Recipe, Trained, too_good_columns, train_model

__all__ = [
    "ColumnDrift",
    "Comparison",
    "DemoResult",
    "Evaluation",
    "InputCheck",
    "ModelFacts",
    "ModelParts",
    "OperatingPoint",
    "Recipe",
    "RowScorer",
    "ScoredRows",
    "TableParts",
    "Trained",
    "check_positive_is_clear",
    "compare_models",
    "describe_model",
    "estimate_seconds",
    "evaluate_rows",
    "find_drift",
    "notes_on_shared_groups",
    "notes_on_shared_rows",
    "parse_rows",
    "remember",
    "rows_within",
    "run_demo",
    "split_off_test",
    "take_rows",
    "too_good_columns",
    "train_model",
]
