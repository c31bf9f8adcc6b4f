"""Where the documentation of an estimator is, for the diagram that notebooks show.

It is the guide to the methods, which has a section for each estimator: at the address in the
environment variable SKAUC_DOCS_URL, at the one that the package names as its documentation, or,
where there is neither, the copy that is installed with the package.
"""

from __future__ import annotations

import os
from functools import cache
from importlib import metadata
from pathlib import Path

GUIDE = "methods.md"


class DocLinkMixin:
    """Makes scikit-learn's HTML diagram link to our documentation; put it before BaseEstimator."""

    _doc_link_module = "skauc"

    @property
    def _doc_link_template(self) -> str:
        return f"{docs_url()}/{GUIDE}#{{section}}"

    def _doc_link_url_param_generator(self) -> dict[str, str]:
        return {"section": type(self).__name__.lower()}


def docs_url() -> str:
    """Return the address of the guide's folder."""
    given = os.environ.get("SKAUC_DOCS_URL") or _published()
    return given.rstrip("/") if given else _installed().as_uri()


@cache
def _published() -> str | None:
    """Return the address of the documentation in the metadata of the package, if it has one."""
    try:
        addresses = metadata.metadata("skauc").get_all("Project-URL") or []
    except metadata.PackageNotFoundError:
        return None
    by_label = dict(address.split(", ", 1) for address in addresses)
    return by_label.get("Documentation")


@cache
def _installed() -> Path:
    """Return the folder of the guide: inside of the package, or beside it in a checkout."""
    package = Path(__file__).resolve().parent
    places = (package / "guide", package.parents[1] / "docs" / "guide")
    return next((place for place in places if (place / GUIDE).exists()), places[0])
