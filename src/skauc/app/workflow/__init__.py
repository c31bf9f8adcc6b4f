"""From a table to a model, from a model to scores and figures: what the command line is made of."""

from skauc.app.workflow.evaluation import Evaluation, OperatingPoint, evaluate_rows
from skauc.app.workflow.inspection import ModelParts, describe_model
from skauc.app.workflow.model_facts import ModelFacts
from skauc.app.workflow.scoring import RowScorer, ScoredRows
from skauc.app.workflow.splitting import TableParts, split_off_test, take_rows
from skauc.app.workflow.training import Recipe, Trained, too_good_columns, train_model

__all__ = [
    "Evaluation",
    "ModelFacts",
    "ModelParts",
    "OperatingPoint",
    "Recipe",
    "RowScorer",
    "ScoredRows",
    "TableParts",
    "Trained",
    "describe_model",
    "evaluate_rows",
    "split_off_test",
    "take_rows",
    "too_good_columns",
    "train_model",
]
