"""From numbers back to tables."""

import numpy as np
import pandas as pd
from messy import make_messy

from skauc.preprocessing import TablePreprocessor


def test_a_table_comes_back_from_its_numbers():
    frame, y = make_messy(400)
    step = TablePreprocessor().fit(frame, y)
    back = step.inverse_transform(step.transform(frame))
    assert list(back.columns) == list(step.columns_)
    for name in ("age", "income", "visits"):
        assert np.allclose(back[name], frame[name], rtol=1e-6, equal_nan=True)
    assert (back["visits"][frame["visits"] == 0] == 0).all()
    assert (back["member"] == frame["member"]).all()
    consent = [None if value is None else bool(value) for value in frame["consent"]]
    assert back["consent"].tolist() == consent
    assert (back["town"] == frame["town"].fillna("")).mean() == 1.0
    assert (back["born"] == pd.to_datetime(frame["born"])).all()
    seen = back["seen"].isna()
    assert (seen == frame["seen"].isna()).all()
    assert (abs(back["seen"] - frame["seen"]).dropna() <= pd.Timedelta(1, "s")).all()
    assert set(back["name"]) <= {"jones mr", "mr smith", "jones mrs", "mrs smith"}


def test_a_category_by_target_comes_back_as_a_level_of_the_same_mean():
    frame, y = make_messy(2000)
    step = TablePreprocessor().fit(frame, y)
    numbers = step.transform(frame)
    again = step.transform(frame.assign(shop=step.inverse_transform(numbers)["shop"]))
    assert np.allclose(again, numbers)


def test_rows_between_levels_have_the_nearest_or_none():
    frame = pd.DataFrame({"a": np.arange(20.0), "town": ["Oslo", "Bern"] * 10})
    step = TablePreprocessor().fit(frame)
    row = step.transform(frame[:1])[0]
    towns = slice(1, 3)
    row[towns] = 0.2, 0.8
    assert step.inverse_transform([row])["town"][0] == "Oslo"
    row[towns] = 0.4, 0.4
    assert step.inverse_transform([row])["town"][0] == ""
