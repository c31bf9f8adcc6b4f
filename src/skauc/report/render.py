"""A report as one HTML file that needs nothing else: no server, no network, no other file."""

from __future__ import annotations

import json
import os
import tempfile
from dataclasses import asdict
from pathlib import Path

from skauc.exceptions import InvalidParameterError
from skauc.report.content import ReportContent, make_report_content
from skauc.report.markup import asset, escaped, filled
from skauc.report.sections import SECTIONS, footer, summary


def make_report(
    path,
    model,
    X_test,
    y_test,
    *,
    X_train=None,
    y_train=None,
    sample_weight=None,
    costs=None,
    labels=None,
    title=None,
    force=False,
) -> Path:
    """Work out a report on a fitted model and write it to an HTML file.

    Parameters
    ----------
    path : str or path
        The file to write.
    model : estimator
        A fitted binary classifier; see `make_report_content` for the kinds.
    X_test, y_test : array-like
        Rows that the model was not fitted to, and their labels.
    X_train, y_train : array-like, default=None
        The rows that it was fitted to, where they are at hand.
    sample_weight : array-like of shape (n_samples,), default=None
        How much each test row counts.
    costs : tuple of two floats, default=None
        The cost of a false alarm and of a miss to begin with.
    labels : tuple of two, default=None
        What the negative and the positive class are called, where it is not the model's labels.
    title : str, default=None
        The title.
    force : bool, default=False
        Whether to replace a file that is there already.

    Returns
    -------
    path : Path
        The file.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from skauc import SparseKernelAUC
    >>> from skauc.report import make_report
    >>> X, y = make_moons(200, noise=0.3, random_state=0)
    >>> model = SparseKernelAUC(8, random_state=0).fit(X[:100], y[:100])
    >>> make_report("moons.html", model, X[100:], y[100:])  # doctest: +SKIP
    PosixPath('moons.html')
    """
    _check_free(Path(path), force)
    content = make_report_content(
        model,
        X_test,
        y_test,
        X_train=X_train,
        y_train=y_train,
        sample_weight=sample_weight,
        costs=costs,
        labels=labels,
        title=title,
    )
    return write_report(content, path, force=force)


def render_report(content: ReportContent) -> str:
    """Return a report as an HTML page.

    Parameters
    ----------
    content : ReportContent
        What `make_report_content` returned.

    Returns
    -------
    page : str
        The page, scripts and styles included.
    """
    return filled(
        "page.html",
        version=escaped(dict(content.versions)["skauc"]),
        title=escaped(content.title),
        style=asset("style.css"),
        summary=summary(content),
        links="\n".join(
            f'<li><a href="#{name}">{escaped(short)}</a></li>' for name, short, _, _ in SECTIONS
        ),
        sections="\n".join(
            f'<section id="{name}" aria-labelledby="{name}-title">\n'
            f'<h2 id="{name}-title">{escaped(title)}</h2>\n{body(content)}\n</section>'
            for name, _, title, body in SECTIONS
        ),
        footer=footer(content),
        content=_embedded(content),
        script=asset("charts.js") + asset("page.js"),
    )


def write_report(content: ReportContent, path, *, force=False) -> Path:
    """Write a report to a file, all of it or nothing.

    Parameters
    ----------
    content : ReportContent
        What `make_report_content` returned.
    path : str or path
        The file to write.
    force : bool, default=False
        Whether to replace a file that is there already.

    Returns
    -------
    path : Path
        The file.
    """
    path = Path(path)
    _check_free(path, force)
    page = render_report(content)
    # Written beside the target and moved onto it: a reader never sees half a page.
    handle, draft = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-", suffix=".html")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(page)
        os.chmod(draft, 0o666 & ~_umask())
        os.replace(draft, path)
    except BaseException:
        os.unlink(draft)
        raise
    return path


def _check_free(path: Path, force: bool) -> None:
    if path.is_dir() or not path.parent.is_dir():
        raise InvalidParameterError(
            f"`path` must be a file in a directory that is there; got {str(path)!r}. "
            "Make the directory first, and name a file in it."
        )
    if path.exists() and not force:
        raise FileExistsError(
            f"{str(path)!r} is there already. Choose another name, or pass force=True to replace "
            "it."
        )


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _embedded(content: ReportContent) -> str:
    """Return what the scripts need, as JSON that cannot end the element that it is in."""
    parts = ("data", "roc", "precision_recall", "thresholds", "histogram", "calibration", "sizes")
    everything = asdict(content)
    text = json.dumps(
        {part: everything[part] for part in parts}, separators=(",", ":"), allow_nan=False
    )
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
