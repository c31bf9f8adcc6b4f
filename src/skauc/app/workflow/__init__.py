"""The steps behind the commands: train on a table, score rows, evaluate, inspect."""

from skauc.app.workflow.demo import DemoResult, run_demo
from skauc.app.workflow.duration import estimate_seconds
from skauc.app.workflow.evaluation import Evaluation, OperatingPoint, evaluate_rows
from skauc.app.workflow.input_check import InputCheck
from skauc.app.workflow.inspection import ModelParts, describe_model
from skauc.app.workflow.labels import check_positive_is_clear
from skauc.app.workflow.model_facts import ModelFacts
from skauc.app.workflow.scoring import RowScorer, ScoredRows
from skauc.app.workflow.splitting import TableParts, split_off_test, take_rows
from skauc.app.workflow.training import Recipe, Trained, too_good_columns, train_model

__all__ = [
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
    "describe_model",
    "estimate_seconds",
    "evaluate_rows",
    "run_demo",
    "split_off_test",
    "take_rows",
    "too_good_columns",
    "train_model",
]
