"""Numbers as people write them: the model ranks as well as with plain numbers."""

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline

from skauc import SparseKernelAUC, TablePreprocessor, read_table

N_ROWS, N_TRAIN = 800, 500


def plain_table():
    """Six columns that matter equally, and labels."""
    rng = np.random.default_rng(0)
    effects = rng.normal(size=(N_ROWS, 6))
    positive = effects.sum(axis=1) + 2 * rng.normal(size=N_ROWS) > 2.5
    columns = {
        "amount": np.round(np.exp(7 + effects[:, 0]), 2),
        "share": np.round(50 + 10 * effects[:, 1], 1),
        "people": np.round(np.exp(9 + effects[:, 2])),
        "weight": np.round(20 + 3 * effects[:, 3], 3),
        "day": pd.Timestamp("2020-06-15") + pd.to_timedelta(np.round(300 * effects[:, 4]), "D"),
        "age": np.round(40 + 8 * effects[:, 5], 1),
    }
    return pd.DataFrame(columns), positive


def spoiled(table):
    """Return the table with currency, percentages, separators, commas, days first and words."""
    ages = table["age"].map(str)
    ages[np.arange(6) * 100] = "unknown"
    return table.assign(
        amount=table["amount"].map("${:,.2f}".format),
        share=table["share"].map("{:.1f}%".format),
        people=table["people"].map("{:,.0f}".format),
        weight=table["weight"].map(lambda weight: f"{weight:.3f}".replace(".", ",")),
        day=table["day"].dt.strftime("%d/%m/%Y"),
        age=ages,
    )


def held_out_auc(table, positive, path):
    table.to_csv(path, index=False)
    rows = read_table(path)
    model = make_pipeline(TablePreprocessor(random_state=0), SparseKernelAUC(12, random_state=0))
    model.fit(rows[:N_TRAIN], positive[:N_TRAIN])
    return model.score(rows[N_TRAIN:], positive[N_TRAIN:])


def test_a_table_as_people_write_it_is_ranked_as_well(tmp_path):
    table, positive = plain_table()
    expected = held_out_auc(table, positive, tmp_path / "plain.csv")
    assert expected > 0.75
    found = held_out_auc(spoiled(table), positive, tmp_path / "spoiled.csv")
    assert found == pytest.approx(expected, abs=0.01)
