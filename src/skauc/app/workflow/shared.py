"""What training rows and test rows share, which makes the AUC of the test too good."""

from __future__ import annotations

import numpy as np

from skauc.app.tables import LabelledTable
from skauc.preprocessing.optional import import_pandas
from skauc.preprocessing.spelling import spell_code
from skauc.unwrapping import first_step


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
    from skauc.report.rows import LabelledRows

    step = first_step(model)
    known, new = (import_pandas().DataFrame(step.column_values(rows.X)) for rows in (train, test))
    weights = np.ones(len(test.y)) if test.weights is None else test.weights
    found = find_repeated(known, LabelledRows(new, test.y, weights), scores, auc)
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
