"""The result of an explanation, in the form that plots expect."""

from __future__ import annotations

import sys
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from skauc.exceptions import MissingPackageError


@dataclass(frozen=True, eq=False)
class Explanation:
    """Contributions of columns to scores.

    The contributions of a row add up to its score minus the base value:
    ``values.sum(axis=1) + base_values == scores``. The plots of the package ``shap`` take the
    object as it is.

    Attributes
    ----------
    values : ndarray of shape (n_samples, n_columns)
        Contribution of each column to the score of each row.
    base_values : ndarray of shape (n_samples,)
        Mean score of the background rows, once per row.
    data : ndarray of shape (n_samples, n_columns)
        The values of the columns.
    feature_names : list of str
        Names of the columns.
    standard_errors : ndarray of shape (n_samples, n_columns) or None
        Standard errors of values that were estimated by sampling. None if the values are exact.
    """

    values: np.ndarray
    base_values: np.ndarray
    data: np.ndarray
    feature_names: list[str]
    standard_errors: np.ndarray | None = None

    @property
    def is_exact(self) -> bool:
        """Whether the values are exact up to rounding."""
        return self.standard_errors is None

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of ``values``."""
        return self.values.shape

    def __len__(self) -> int:
        return len(self.values)

    def to_shap(self) -> Any:
        """Return an ``Explanation`` of the package shap.

        Returns
        -------
        explanation : shap.Explanation
            With the same values, base values, data and column names.
        """
        try:
            import shap
        except ImportError as error:
            raise MissingPackageError(
                "The plots of shap need the package shap, which is not installed. Install it "
                "with: pip install shap"
            ) from error
        return shap.Explanation(
            self.values, self.base_values, self.data, feature_names=self.feature_names
        )

    # -- what the plots of shap ask for ---------------------------------------------------------

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        """The class that `isinstance` sees besides the own one: that of shap, if it is loaded."""
        shap = sys.modules.get("shap")
        return type(self) if shap is None else shap.Explanation

    def __getattr__(self, name: str) -> Any:
        """Return an attribute of shap's class that this class does not have."""
        if name.startswith("_") or "shap" not in sys.modules:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return getattr(self.to_shap(), name)

    def __reduce__(self) -> tuple:
        return type(self), tuple(getattr(self, field.name) for field in fields(self))

    # -- rows -----------------------------------------------------------------------------------

    def joined(self, other: Explanation) -> Explanation:
        """Return the explanation of the rows of both; the columns must be the same."""
        errors = None
        if self.standard_errors is not None and other.standard_errors is not None:
            errors = np.concatenate((self.standard_errors, other.standard_errors))
        return Explanation(
            np.concatenate((self.values, other.values)),
            np.concatenate((self.base_values, other.base_values)),
            np.concatenate((self.data, other.data)),
            self.feature_names,
            errors,
        )

    def __getitem__(self, rows: Any) -> Explanation:
        """Return the explanation of some rows; of rows and columns as an object of shap."""
        if isinstance(rows, tuple):
            return self.to_shap()[rows]
        errors = self.standard_errors
        return Explanation(
            self.values[rows],
            self.base_values[rows],
            self.data[rows],
            self.feature_names,
            None if errors is None else errors[rows],
        )
