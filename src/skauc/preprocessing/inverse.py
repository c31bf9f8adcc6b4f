"""From numbers back to a table: what a centre of the kernel stands for, in the user's units."""

from __future__ import annotations

import numpy as np

# A share of a level, a word or a gap that is above this counts as its being there.
_PRESENT = 0.5


def original_columns(transformer, rows: np.ndarray) -> dict[str, np.ndarray]:
    """Return the columns that a fitted `ColumnTransformer` of ours would make such rows of.

    Numbers and dates are those that give the row. Of categories it is the nearest level, of text
    the words, both empty where there is none; a gap is NaN or None.
    """
    columns: dict[str, np.ndarray] = {}
    gaps: dict[str, np.ndarray] = {}
    for step, fitted, names in transformer.transformers_:
        part = rows[:, transformer.output_indices_[step]]
        if step == "missing":
            gaps = dict(zip(names, (part > _PRESENT).T, strict=True))
        elif step.startswith("words of "):
            columns[names] = _words(fitted, part)
        elif step in _UNDO:
            columns |= zip(names, _UNDO[step](fitted, part), strict=True)
    return {name: _with_gaps(values, gaps.get(name)) for name, values in columns.items()}


def _numbers(fitted, part: np.ndarray) -> np.ndarray:
    return fitted[1:].inverse_transform(part).T


def _dates(fitted, part: np.ndarray) -> np.ndarray:
    seconds = fitted[1:].inverse_transform(part).T
    return np.round(seconds).astype("datetime64[s]")


def _truths(fitted, part: np.ndarray) -> np.ndarray:
    return (part > _PRESENT).T


def _levels(fitted, part: np.ndarray) -> list[np.ndarray]:
    ends = np.cumsum([len(levels) for levels in fitted.categories_])
    shares = np.split(part, ends[:-1], axis=1)
    return [
        np.where(share.max(axis=1) > _PRESENT, levels[share.argmax(axis=1)], "")
        for share, levels in zip(shares, fitted.categories_, strict=True)
    ]


def _levels_by_target(fitted, part: np.ndarray) -> list[np.ndarray]:
    encoder, means = fitted[0], fitted[1:].inverse_transform(part).T
    return [
        levels[np.abs(known[None, :] - mean[:, None]).argmin(axis=1)]
        for mean, known, levels in zip(means, encoder.encodings_, encoder.categories_, strict=True)
    ]


def _words(counter, part: np.ndarray) -> np.ndarray:
    words = counter.get_feature_names_out()
    return np.array([" ".join(words[row > _PRESENT]) for row in part], dtype=object)


def _with_gaps(values: np.ndarray, gaps: np.ndarray | None) -> np.ndarray:
    if gaps is None or not gaps.any():
        return values
    if values.dtype.kind == "M":
        return np.where(gaps, np.datetime64("NaT"), values)
    if values.dtype.kind == "b":
        return np.where(gaps, None, values)
    return np.where(gaps, np.nan, values)


_UNDO = {
    "numeric": _numbers,
    "boolean": _truths,
    "date": _dates,
    "levels": _levels,
    "target": _levels_by_target,
}
