"""Links from scikit-learn's diagrams to our guide."""

from __future__ import annotations

import os
from functools import cache
from importlib import metadata
from pathlib import Path

GUIDE = "methods.md"


class DocLinkMixin:
    """Links scikit-learn's HTML diagram to our guide. It must come before `BaseEstimator`."""

    _doc_link_module = "skauc"

    @property
    def _doc_link_template(self) -> str:
        url = docs_url()
        page = GUIDE if url.startswith("file:") else Path(GUIDE).with_suffix(".html")
        return f"{url}/{page}#{{section}}"

    def _doc_link_url_param_generator(self) -> dict[str, str]:
        return {"section": type(self).__name__.lower()}


def docs_url() -> str:
    """Return the URL of the guide's folder: $SKAUC_DOCS_URL, the published one, or a local one."""
    given = os.environ.get("SKAUC_DOCS_URL") or _published_url()
    return given.rstrip("/") if given else _local_folder().as_uri()


@cache
def _published_url() -> str | None:
    """Return the documentation's URL from the metadata of the installed package, if any."""
    try:
        urls = metadata.metadata("skauc").get_all("Project-URL") or []
    except metadata.PackageNotFoundError:
        return None
    by_label = dict(url.split(", ", 1) for url in urls)
    return by_label.get("Documentation")


@cache
def _local_folder() -> Path:
    """Return the guide's folder, which is in the installed package, or in docs in a checkout."""
    package = Path(__file__).resolve().parents[1]
    folders = (package / "guide", package.parents[1] / "docs" / "guide")
    return next((folder for folder in folders if (folder / GUIDE).exists()), folders[0])
