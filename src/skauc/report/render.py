"""Render a report as one self-contained HTML file."""

from __future__ import annotations

from dataclasses import asdict
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from skauc.archive import write_atomically
from skauc.exceptions import InvalidParameterError, MissingPackageError
from skauc.report.content import ReportContent, make_report_content
from skauc.report.formatting import (
    breakable,
    few,
    format_number,
    format_step,
    more_columns,
    percent,
    signed,
)
from skauc.report.missing import Missing

if TYPE_CHECKING:
    from jinja2 import Environment

# Columns that are shown before the reader asks for more.
N_SHOWN = 12
# Parts of the content that the scripts of the page use.
_EMBEDDED = (
    "data",
    "part",
    "roc",
    "precision_recall",
    "thresholds",
    "histogram",
    "calibration",
    "sizes",
    "lookup",
)
_BANDS_NOTE = (
    "Bands are pointwise 95% limits from 1,000 draws of a smoothed Bayesian bootstrap within each "
    "class. They have a positive width where the test rows have no errors. They do not hold for "
    "the whole curve at once."
)


class Section(NamedTuple):
    """A section of the page: its anchor, its name in the navigation, its title, its template."""

    id: str
    short: str
    title: str
    template: str


SECTIONS = (
    Section("warnings", "Warnings", "Data checks", "warnings.html"),
    Section("threshold-part", "Threshold", "Choose a threshold", "threshold.html"),
    Section("curves", "Curves", "Ranking quality", "curves.html"),
    Section("calibration-part", "Probabilities", "Probabilities", "calibration.html"),
    Section("sizes-part", "Size", "Size of the model", "sizes.html"),
    Section("importance", "Importance", "Importance of the columns", "importance.html"),
    Section("effects", "Effects", "Effects of the leading columns", "shapes.html"),
    Section("rows-part", "Rows", "Single rows explained", "explained.html"),
    Section("slices", "Slices", "Parts of the table", "slices.html"),
    Section("far", "Domain", "Rows unlike the training rows", "far.html"),
    Section("centres", "Typical rows", "Typical rows of each class", "centres.html"),
    Section("details", "Methods", "Model and methods", "details.html"),
)


def make_report(
    path,
    model,
    X_test,
    y_test,
    *,
    X_train=None,
    y_train=None,
    sample_weight=None,
    row_numbers=None,
    train_row_numbers=None,
    costs=None,
    labels=None,
    title=None,
    force=False,
) -> Path:
    """Write a report on a fitted model to an HTML file.

    The report needs jinja2: ``pip install 'skauc[report]'``.

    Parameters
    ----------
    path : str or path-like
        The file to write.
    model : estimator
        A fitted binary classifier; see `make_report_content`.
    X_test, y_test : array-like
        Rows that the model was not fitted to, and their labels.
    X_train, y_train : array-like, default=None
        Rows that the model was fitted to, and their labels.
    sample_weight : array-like of shape (n_samples,), default=None
        Weight of each test row.
    row_numbers : array-like of shape (n_samples,), default=None
        Number of each test row in the table that it comes from; see `make_report_content`.
    train_row_numbers : array-like of shape (n_samples,), default=None
        The same for the training rows.
    costs : tuple of two floats, default=None
        Initial costs of a false alarm and of a miss.
    labels : tuple of two, default=None
        Names of the negative and the positive class. If None, the labels of the model.
    title : str, default=None
        Title of the page.
    force : bool, default=False
        Whether to replace an existing file.

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
    make_environment()  # fail before the computation if jinja2 is not installed
    _check_free(Path(path), force)
    content = make_report_content(
        model,
        X_test,
        y_test,
        X_train=X_train,
        y_train=y_train,
        sample_weight=sample_weight,
        row_numbers=row_numbers,
        train_row_numbers=train_row_numbers,
        costs=costs,
        labels=labels,
        title=title,
    )
    return write_report(content, path, force=force)


def render_report(content: ReportContent) -> str:
    """Render a report as an HTML page.

    Parameters
    ----------
    content : ReportContent
        The result of `make_report_content`.

    Returns
    -------
    page : str
        The page, with its scripts and styles.
    """
    return make_environment().get_template("page.html").render(_variables(content))


def write_report(content: ReportContent, path, *, force=False) -> Path:
    """Write a report to a file. The file is complete or not there.

    Parameters
    ----------
    content : ReportContent
        The result of `make_report_content`.
    path : str or path-like
        The file to write.
    force : bool, default=False
        Whether to replace an existing file.

    Returns
    -------
    path : Path
        The file.
    """
    path = Path(path)
    _check_free(path, force)
    page = render_report(content)
    with write_atomically(path) as file:
        file.write(page.encode())
    return path


def _check_free(path: Path, force: bool) -> None:
    if path.is_dir() or not path.parent.is_dir():
        raise InvalidParameterError(
            f"`path` must be a file in an existing directory; got {str(path)!r}."
        )
    if path.exists() and not force:
        raise FileExistsError(
            f"{str(path)!r} exists already. Choose another name, or pass force=True to replace it."
        )


def make_environment() -> Environment:
    """Return the templates. Every value that is not marked as safe is escaped."""
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined
    except ImportError as error:
        raise MissingPackageError(
            "Reports need jinja2, which is not installed. "
            "Install it with: pip install 'skauc[report]'"
        ) from error
    environment = Environment(
        loader=PackageLoader("skauc.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.policies["json.dumps_kwargs"] = {"separators": (",", ":"), "allow_nan": False}
    environment.filters |= {
        "breakable": breakable,
        "few": few,
        "fixed": lambda value: f"{value:.3f}".replace("-", "−"),
        "number": format_number,
        "percent": percent,
        "signed": signed,
        "step": format_step,
    }
    environment.tests["missing"] = lambda part: isinstance(part, Missing)
    environment.globals |= {"more_columns": more_columns, "zip": zip}
    return environment


def _variables(content: ReportContent) -> dict[str, Any]:
    """Return what the templates show, beside the content itself."""
    from markupsafe import Markup

    everything = asdict(content)
    return {
        "content": content,
        "versions": dict(content.versions),
        "sections": SECTIONS,
        "bins": _bins(content),
        "groups": _groups(content),
        "settings": _settings(content),
        "bands_note": _BANDS_NOTE,
        "n_shown": N_SHOWN,
        "embedded": {part: everything[part] for part in _EMBEDDED},
        "style": Markup(read_static("style.css")),
        "script": Markup("".join(map(read_static, ("charts.js", "page.js", "rows.js")))),
    }


def read_static(name: str) -> str:
    """Return a style sheet or a script."""
    return files("skauc.report").joinpath("static", name).read_text(encoding="utf-8")


def _bins(content: ReportContent) -> list[tuple]:
    bins = content.histogram
    ends = zip(bins.edges, bins.edges[1:], strict=False)
    names = (f"{format_number(low)} to {format_number(high)}" for low, high in ends)
    return list(zip(names, bins.positives, bins.negatives, strict=True))


def _groups(content: ReportContent) -> list[tuple]:
    shown = content.calibration
    if isinstance(shown, Missing):
        return []
    groups = zip(shown.predicted, shown.observed, shown.low, shown.high, shown.n_rows, strict=True)
    return [
        (
            f"{percent(predicted)}%",
            f"{percent(observed)}%",
            f"{percent(low)}–{percent(high)}%",
            n_rows,
        )
        for predicted, observed, low, high, n_rows in groups
    ]


def _settings(content: ReportContent) -> list[tuple[str, str]]:
    model = content.model
    steps = " → ".join(model.steps) if model.steps else "none"
    settings = [("model", model.name), ("preprocessing", steps), *model.parameters]
    if model.n_numbers is not None:
        settings.append(("stored numbers", f"{model.n_numbers:,}"))
    return settings
