"""What every ranking classifier shares: scores, all-or-nothing fits, callbacks, doc links."""

from skauc.base.calibration import Calibrator, IsotonicCalibration, LogisticCalibration, calibrate
from skauc.base.callbacks import CallbackMixin, Reporter, with_callbacks
from skauc.base.classifier import (
    LazyArray,
    RankingClassifier,
    fitted_attributes,
    fitting,
    support_attributes,
)
from skauc.base.doc_links import DocLinkMixin, docs_url
from skauc.base.full_kernel import FullKernelClassifier

__all__ = [
    "Calibrator",
    "CallbackMixin",
    "DocLinkMixin",
    "FullKernelClassifier",
    "IsotonicCalibration",
    "LazyArray",
    "LogisticCalibration",
    "RankingClassifier",
    "Reporter",
    "calibrate",
    "docs_url",
    "fitted_attributes",
    "fitting",
    "support_attributes",
    "with_callbacks",
]
