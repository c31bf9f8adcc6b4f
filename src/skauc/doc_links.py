"""Where the documentation of an estimator is, for the diagram that notebooks show."""

from __future__ import annotations

DOCS_URL = "https://skauc.readthedocs.io/en/latest"


class DocLinkMixin:
    """Makes scikit-learn's HTML diagram link to our documentation; put it before BaseEstimator."""

    _doc_link_module = "skauc"
    _doc_link_template = DOCS_URL + "/api/skauc.{estimator_name}.html"

    def _doc_link_url_param_generator(self) -> dict[str, str]:
        return {"estimator_name": type(self).__name__}
