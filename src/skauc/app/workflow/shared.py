"""What training rows and test rows share, which makes the AUC of the test too good."""

from __future__ import annotations

import numpy as np

from skauc.app.tables import LabelledTable
from skauc.preprocessing.spelling import spell_code
from skauc.unwrapping import first_step


def rows_as_read(model, table: LabelledTable):
    """Return the columns that a model uses, as it reads them, for the checks of a report."""
    from skauc.report.rows import LabelledRows, as_read

    weights = np.ones(len(table.y)) if table.weights is None else table.weights
    return as_read(first_step(model), LabelledRows(table.X, table.y, weights))


def notes_on_shared_rows(
    model, train: LabelledTable, test: LabelledTable, scores: np.ndarray, auc: float
) -> tuple[str, ...]:
    """Say how many test rows are also training rows, if they are many or raise the AUC.

    Parameters
    ----------
    model : FixedThresholdClassifier
        The model. Rows are equal if they are so in the columns that it uses.
    train, test : LabelledTable
        The two tables.
    scores : ndarray of shape (n_samples,)
        Scores of the test rows.
    auc : float
        Their AUC.

    Returns
    -------
    notes : tuple of str
        Empty if there is nothing to say.
    """
    from skauc.report.data_warnings import find_repeated

    known, new = (rows_as_read(model, rows) for rows in (train, test))
    found = find_repeated(known.X, new, scores, auc)
    if found is None or not found.is_serious:
        return ()
    return (
        f"{found.words} If the same case was recorded twice, remove duplicates, or keep the rows "
        "of a case together with --group. With few distinct values, equal rows can be chance.",
    )


def notes_on_shared_groups(train, test, group: str) -> tuple[str, ...]:
    """Say how many groups two tables share.

    Parameters
    ----------
    train, test : pandas.DataFrame
        The two tables.
    group : str
        The column of groups. The test table need not have it.

    Returns
    -------
    notes : tuple of str
        Empty if the tables share no group.
    """
    if group not in test.columns:
        return ()
    first, second = (
        {spell_code(name) for name in table[group].dropna().unique()} for table in (train, test)
    )
    n_shared = len(first & second)
    if n_shared == 0:
        return ()
    return (
        f"{n_shared:,} of {len(second):,} groups of the test rows are also groups of the training "
        f"rows, by the column {group!r}. The test may flatter the model: test on other groups.",
    )
