"""Two transformers that scikit-learn does not have."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

DAY = 86_400.0
# In seconds. The year is the mean year of the calendar, so that a phase needs no calendar.
PERIODS = {"day": DAY, "week": 7 * DAY, "year": 365.2425 * DAY}
# Phases closer together than this share of a period are the same.
_SAME_PHASE = 1e-9


class ArcSinh(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Apply arcsinh to every value.

    arcsinh is close to the identity near 0 and to a logarithm far from 0. It shortens heavy tails.

    Examples
    --------
    >>> from skauc.preprocessing import ArcSinh
    >>> ArcSinh().fit_transform([[0.0], [1e6]]).round(1).tolist()
    [[0.0], [14.5]]
    """

    def fit(self, X: Any, y: Any = None) -> Self:
        """Check the columns. Nothing is learnt.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Numbers.
        y : None
            Ignored.

        Returns
        -------
        self : ArcSinh
            The transformer itself.
        """
        validate_data(self, X, ensure_all_finite="allow-nan")
        return self

    def transform(self, X: Any) -> np.ndarray:
        """Return arcsinh(X).

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Numbers.

        Returns
        -------
        X : ndarray of shape (n_samples, n_features)
            Their inverse hyperbolic sines.
        """
        check_is_fitted(self, "n_features_in_")
        return np.arcsinh(validate_data(self, X, reset=False, ensure_all_finite="allow-nan"))

    def inverse_transform(self, X: Any) -> np.ndarray:
        """Return sinh(X).

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Numbers as ``transform`` returns them.

        Returns
        -------
        X : ndarray of shape (n_samples, n_features)
            The original numbers.
        """
        check_is_fitted(self, "n_features_in_")
        return np.sinh(check_array(X, ensure_all_finite="allow-nan"))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


class DateFeatures(TransformerMixin, BaseEstimator):
    """Turn seconds since 1970 into days and the phases of the day, the week and the year.

    A phase becomes its sine and cosine. A phase that does not vary is left out: dates without a
    time have no phase of the day.

    Attributes
    ----------
    phases_ : list of list of str
        The periods that vary, for each column: "day", "week", "year".

    Examples
    --------
    >>> from skauc.preprocessing import DateFeatures
    >>> step = DateFeatures().fit([[0.0], [86400.0]])
    >>> step.get_feature_names_out(["born"]).tolist()
    ['born_days', 'born_week_sin', 'born_week_cos', 'born_year_sin', 'born_year_cos']
    """

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the periods that vary.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Seconds since 1970-01-01.
        y : None
            Ignored.

        Returns
        -------
        self : DateFeatures
            The fitted transformer.
        """
        X = validate_data(self, X, dtype=np.float64)
        self.phases_ = [
            [name for name, period in PERIODS.items() if _varies(column, period)] for column in X.T
        ]
        return self

    def transform(self, X: Any) -> np.ndarray:
        """Return days, sines and cosines.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Seconds since 1970-01-01.

        Returns
        -------
        X : ndarray of shape (n_samples, n_features_out)
            The columns that ``get_feature_names_out`` names.
        """
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        return features_of_dates(X, self.phases_)

    def inverse_transform(self, X: Any) -> np.ndarray:
        """Return the seconds, which follow from the days alone.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features_out)
            Numbers as ``transform`` returns them.

        Returns
        -------
        X : ndarray of shape (n_samples, n_features)
            Seconds since 1970-01-01.
        """
        check_is_fitted(self)
        return seconds_of(check_array(X, dtype=np.float64), self.phases_)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the names of the columns.

        Parameters
        ----------
        input_features : sequence of str, default=None
            Names of the date columns.

        Returns
        -------
        names : ndarray of str
            One name per column.
        """
        check_is_fitted(self)
        if input_features is None:
            input_features = [f"x{i}" for i in range(self.n_features_in_)]
        return np.asarray(names_of_dates(input_features, self.phases_), dtype=object)


def features_of_dates(seconds: np.ndarray, phases: Sequence[Sequence[str]]) -> np.ndarray:
    """Return days, and the sines and cosines of the phases, for each column of seconds."""
    parts = []
    for column, names in zip(seconds.T, phases, strict=True):
        parts.append(column / DAY)
        for name in names:
            turns = _turns(column, PERIODS[name])
            parts += [np.sin(2 * np.pi * turns), np.cos(2 * np.pi * turns)]
    return np.column_stack(parts)


def seconds_of(features: np.ndarray, phases: Sequence[Sequence[str]]) -> np.ndarray:
    """Return the seconds that `features_of_dates` would turn into the features."""
    widths = [1 + 2 * len(names) for names in phases]
    days = np.cumsum([0, *widths[:-1]])
    return features[:, days] * DAY


def names_of_dates(columns: Iterable[str], phases: Sequence[Sequence[str]]) -> list[str]:
    """Return the names of the features of dates."""
    names = []
    for column, periods in zip(columns, phases, strict=True):
        names.append(f"{column}_days")
        names += [f"{column}_{period}_{part}" for period in periods for part in ("sin", "cos")]
    return names


def _turns(seconds: np.ndarray, period: float) -> np.ndarray:
    """Return the phase as a share of the period.

    The seconds since the period began are exact, so that equal phases are equal numbers. Shares of
    the turns since 1970 would have errors that grow with their number.
    """
    return (seconds - period * np.floor(seconds / period)) / period


def _varies(seconds: np.ndarray, period: float) -> bool:
    return bool(np.ptp(_turns(seconds, period)) > _SAME_PHASE)
