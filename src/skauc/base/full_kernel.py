"""What the classifiers with the kernel matrix of all rows share: parameters and the kernel."""

from __future__ import annotations

from typing import Any, ClassVar

from skauc.base.classifier import RankingClassifier
from skauc.exceptions import InvalidParameterError
from skauc.kernel_parameters import check_kernel_parameters, make_kernel
from skauc.kernels import Kernel
from skauc.validation import check_integer, check_n_jobs, check_positive, is_sequence


class FullKernelClassifier(RankingClassifier):
    """A classifier in which every training row can be a centre.

    A subclass has the parameters C, kernel, gamma, degree, coef0, tol, max_iter, cache_size and
    n_jobs.
    """

    _usual_max_iter: ClassVar[int]

    def _check_parameters(self) -> None:
        """Raise an error for an invalid parameter."""
        check_positive("C", self.C, "Larger values fit the training pairs more closely.")
        check_kernel_parameters(self.kernel, self.gamma, self.degree, self.coef0)
        if is_sequence(self.gamma):
            raise InvalidParameterError(
                f"`gamma` must be one width, 'scale' or 'auto'; got {self.gamma!r}. Choose one by "
                "cross-validation, or use SparseKernelAUC, which takes several widths."
            )
        check_positive("tol", self.tol, "1e-3 is a good choice.")
        check_integer("max_iter", self.max_iter, 1, f"{self._usual_max_iter} is a good choice.")
        check_positive("cache_size", self.cache_size, "It is in megabytes; 4000 is a good choice.")
        check_n_jobs(self.n_jobs)

    def _make_kernel(self, rows: Any) -> Kernel:
        """Build the kernel for weighted rows, after their features are named."""
        return make_kernel(
            self.kernel,
            rows,
            gamma=self.gamma,
            degree=self.degree,
            coef0=self.coef0,
            names=getattr(self, "feature_names_in_", None),
        )
