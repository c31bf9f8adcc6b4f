"""Two small steps that scikit-learn does not have."""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

DAY = 86_400.0
# Seconds; the year is the mean one of the calendar, so that a phase needs no calendar.
PERIODS = {"day": DAY, "week": 7 * DAY, "year": 365.2425 * DAY}
# Phases closer together than this, in turns, are the same time of the day, week or year.
_SAME_PHASE = 1e-9


class ArcSinh(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """arcsinh of every value: the identity near 0, a logarithm far out, so that tails are tamed.

    Examples
    --------
    >>> from skauc.preprocessing import ArcSinh
    >>> ArcSinh().fit_transform([[0.0], [1e6]]).round(1).tolist()
    [[0.0], [14.5]]
    """

    def fit(self, X, y=None):
        """Check the columns and learn nothing.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Numbers.
        y : None
            Not used.

        Returns
        -------
        self : ArcSinh
            The step itself.
        """
        validate_data(self, X, ensure_all_finite="allow-nan")
        return self

    def transform(self, X):
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

    def inverse_transform(self, X):
        """Return sinh(X).

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            What ``transform`` returned.

        Returns
        -------
        X : ndarray of shape (n_samples, n_features)
            The numbers before it.
        """
        check_is_fitted(self, "n_features_in_")
        return np.sinh(check_array(X, ensure_all_finite="allow-nan"))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


class DateFeatures(TransformerMixin, BaseEstimator):
    """Seconds since 1970 as days, and as the phase of the day, the week and the year.

    A phase becomes its sine and cosine, where it varies: midnight has no time of the day.

    Attributes
    ----------
    phases_ : list of list of str
        For each column the periods that vary, of "day", "week" and "year".

    Examples
    --------
    >>> from skauc.preprocessing import DateFeatures
    >>> step = DateFeatures().fit([[0.0], [86400.0]])
    >>> step.get_feature_names_out(["born"]).tolist()
    ['born_days', 'born_week_sin', 'born_week_cos', 'born_year_sin', 'born_year_cos']
    """

    def fit(self, X, y=None):
        """Find the periods that vary.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Seconds since 1970-01-01.
        y : None
            Not used.

        Returns
        -------
        self : DateFeatures
            The fitted step.
        """
        X = validate_data(self, X, dtype=np.float64)
        self.phases_ = [
            [name for name, period in PERIODS.items() if _varies(column, period)] for column in X.T
        ]
        return self

    def transform(self, X):
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
        parts = []
        for column, names in zip(X.T, self.phases_, strict=True):
            parts.append(column / DAY)
            for name in names:
                turns = _turns(column, PERIODS[name])
                parts += [np.sin(2 * np.pi * turns), np.cos(2 * np.pi * turns)]
        return np.column_stack(parts)

    def inverse_transform(self, X):
        """Return the seconds, of which days are the one column that tells them all.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features_out)
            What ``transform`` returned.

        Returns
        -------
        X : ndarray of shape (n_samples, n_features)
            Seconds since 1970-01-01.
        """
        check_is_fitted(self)
        widths = [1 + 2 * len(names) for names in self.phases_]
        days = np.cumsum([0, *widths[:-1]])
        return check_array(X, dtype=np.float64)[:, days] * DAY

    def get_feature_names_out(self, input_features=None):
        """Return the names of the columns.

        Parameters
        ----------
        input_features : sequence of str, default=None
            Names of the date columns.

        Returns
        -------
        names : ndarray of str
            One name a column.
        """
        check_is_fitted(self)
        if input_features is None:
            input_features = [f"x{i}" for i in range(self.n_features_in_)]
        names = []
        for feature, phases in zip(input_features, self.phases_, strict=True):
            names.append(f"{feature}_days")
            names += [f"{feature}_{phase}_{part}" for phase in phases for part in ("sin", "cos")]
        return np.asarray(names, dtype=object)


def _turns(seconds: np.ndarray, period: float) -> np.ndarray:
    """Return the phase as a part of a full turn."""
    return seconds / period - np.floor(seconds / period)


def _varies(seconds: np.ndarray, period: float) -> bool:
    return bool(np.ptp(_turns(seconds, period)) > _SAME_PHASE)
