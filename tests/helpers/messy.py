"""A messy table such as people have: gaps, heavy tails, categories, dates, text, an id."""

import numpy as np
import pandas as pd


def make_messy(n_rows=600, seed=0):
    """Return the table and labels that depend on several of its columns."""
    rng = np.random.default_rng(seed)
    positive = rng.random(n_rows) < 0.2
    age = rng.normal(40, 10, n_rows) + 8 * positive
    age[rng.random(n_rows) < 0.1] = np.nan
    days = pd.to_timedelta(rng.integers(0, 900, n_rows), unit="D")
    seconds = pd.to_timedelta(rng.integers(0, 10**7, n_rows), unit="s")
    shops = rng.integers(0, 60, n_rows) // (1 + positive)
    frame = pd.DataFrame(
        {
            "age": age,
            "income": np.exp(rng.normal(8, 2, n_rows) - positive),
            "visits": rng.poisson(3, n_rows),
            "member": rng.random(n_rows) < 0.4,
            "consent": rng.choice([True, False, None], n_rows).astype(object),
            "town": rng.choice(["Oslo", "Bern", "Århus", None], n_rows).astype(object),
            "shop": [f"shop {shop}" for shop in shops],
            "born": (pd.Timestamp("1980-01-01") + days).strftime("%Y-%m-%d"),
            "seen": pd.Timestamp("2024-01-01") + seconds,
            "name": [
                f"{title} {word} N{i}"
                for i, (title, word) in enumerate(
                    zip(
                        rng.choice(["Mr", "Mrs"], n_rows),
                        rng.choice(["Smith", "Jones"], n_rows),
                        strict=True,
                    )
                )
            ],
            "id": [f"u{i}" for i in range(n_rows)],
            "constant": 1,
            "nothing": np.nan,
        }
    )
    frame.loc[::17, "seen"] = pd.NaT
    return frame, positive


def make_written(n_rows=600, seed=0):
    """Return a messy table, the same table as people write it, and the labels.

    Ages have words among them, incomes are European amounts, and days come before months.
    """
    frame, positive = make_messy(n_rows, seed)
    frame["income"] = frame["income"].round(2)
    ages = frame["age"].map(lambda age: "unknown" if np.isnan(age) else repr(float(age)))
    incomes = frame["income"].map(lambda value: f"{value:,.2f}")
    incomes = incomes.map(lambda text: text.translate(str.maketrans(".,", ",.")) + " €")
    seen = frame["seen"].dt.strftime("%d/%m/%Y %H:%M:%S").fillna("-")
    written = frame.assign(
        age=ages,
        income=incomes,
        seen=seen,
        born=pd.to_datetime(frame["born"]).dt.strftime("%d.%m.%Y"),
    )
    return frame, written, positive
