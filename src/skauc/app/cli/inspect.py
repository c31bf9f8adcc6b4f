"""``skauc inspect``: the parts of a model file."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from skauc.app.cli.models import open_file
from skauc.app.cli.options import AsJson, ModelPath
from skauc.app.cli.output import brief, print_json, print_table, tell

if TYPE_CHECKING:
    from skauc.app.workflow import ModelParts

MOST_COLUMNS = 8


def inspect(
    model: ModelPath,
    centres: Annotated[
        int, typer.Option(min=0, help="Number of centres to show, largest coefficients first.")
    ] = 10,
    json: AsJson = False,
) -> None:
    """Show the parts of a model.

    Prints its origin, columns, settings, length scales and centres. The centres are in the units
    of the table. A coefficient is what its centre adds to the score of a row just like it. The
    settings of an average are those of the model with the largest weight.
    """
    opened = open_file(model)
    from skauc.app.workflow import describe_model

    parts = describe_model(opened.model)
    if json:
        print_json(_as_dict(model, opened.manifest, parts))
        return
    print_table(("", ""), _origin(model, opened.manifest, parts))
    tell()
    _print_columns(opened.manifest["columns"])
    _print_relevance(parts)
    _print_centres(parts, centres)


def _as_dict(path: Path, manifest: dict, parts: ModelParts) -> dict:
    names = list(parts.centres)
    return {
        "file": {"name": str(path), "bytes": path.stat().st_size},
        **manifest,
        "model": {
            "estimator": parts.estimator,
            "n_basis": parts.n_basis,
            "n_numbers": parts.n_numbers,
            "average": parts.average,
            "parameters": parts.parameters,
            "columns": [
                {"name": each.name, "relevance": each.relevance, "linear": each.linear}
                for each in parts.columns
            ],
            "features": [
                {"name": name, "length_scale": float(scale), "linear_coef": float(coef)}
                for name, scale, coef in zip(
                    parts.features, parts.length_scales, parts.linear_coef, strict=True
                )
            ],
            "units": parts.units,
            "centres": [
                {
                    "coef": float(coef),
                    "values": {name: _plain(parts.centres[name][i]) for name in names},
                }
                for i, coef in enumerate(parts.coef)
            ],
        },
    }


def _plain(value):
    """Return a value as JSON can hold it; a missing one is null."""
    if value is None or value != value or (isinstance(value, float) and not math.isfinite(value)):
        return None
    return value if isinstance(value, bool | int | float | str) else str(value)


def _origin(path: Path, manifest: dict, parts: ModelParts) -> list[tuple[str, str]]:
    """Return the lines on the file, the training and the settings."""
    summary, versions = manifest["summary"], manifest["versions"]
    rows = [("file", f"{path}, {path.stat().st_size:,} bytes")]
    if {"table", "made", "labels", "target", "train_rows", "train_positives"} <= summary.keys():
        rows.append(("fitted to", f"{summary['table']} on {summary['made']}"))
        negative, positive = summary["labels"]
        counts = "{train_positives:,} of {train_rows:,} rows".format(**summary)
        words = f"{summary['target']} = {positive}, {counts} (the other label is {negative})"
        rows.append(("positive", words))
    if summary.get("test_auc") is not None:
        low, high = summary["test_auc_interval"]
        tested = f"{summary['test_auc']:.4f} ({low:.4f} to {high:.4f})"
        rows.append(("test AUC", f"{tested} on {summary['test_rows']:,} rows"))
    if summary.get("interrupted"):
        rows.append(("note", "the training was interrupted"))
    rows.append(("made by", ", ".join(f"{name} {word}" for name, word in versions.items())))
    rows.append(("estimator", parts.estimator))
    rows.append(("size", f"{parts.n_basis} centres, {parts.n_numbers:,} numbers"))
    settings = (f"{name}={_joined(value)}" for name, value in parts.parameters.items())
    if parts.average is not None:
        rows.append(("model", parts.average))
    rows.append(("settings", ", ".join(settings)))
    return rows


def _joined(value) -> str:
    """Return a value without commas: several Cs or widths are one setting."""
    return "/".join(map(brief, value)) if isinstance(value, list) else brief(value)


def _print_columns(columns: list[dict]) -> None:
    kinds: dict[str, list[str]] = {}
    for column in columns:
        kinds.setdefault(column["kind"], []).append(column["name"])
    print_table(("kind", "columns"), [(kind, ", ".join(names)) for kind, names in kinds.items()])


def _print_relevance(parts: ModelParts) -> None:
    """Print the most relevant columns, if length scales or a linear part tell them apart."""
    has_scales, has_linear = (parts.length_scales != 1).any(), (parts.linear_coef != 0).any()
    if not (has_scales or has_linear):
        return
    by = "relevance" if has_scales else "linear"
    order = sorted(parts.columns, key=lambda each: -getattr(each, by))
    rows = [
        (each.name, f"{each.relevance:.3g}", f"{each.linear:.3g}") for each in order[:MOST_COLUMNS]
    ]
    tell()
    print_table(("column", "relevance", "linear"), rows, right=range(1, 3))
    if len(order) > MOST_COLUMNS:
        tell(f"and {len(order) - MOST_COLUMNS} more columns (--json has all, and their features)")


def _print_centres(parts: ModelParts, most: int) -> None:
    if most == 0 or parts.n_basis == 0:
        return
    order = sorted(range(parts.n_basis), key=lambda i: -abs(parts.coef[i]))[:most]
    names = list(parts.centres)[:MOST_COLUMNS]
    rows = [
        (f"{parts.coef[i]:+.3g}", *(_shown(parts.centres[name][i]) for name in names))
        for i in order
    ]
    tell()
    tell(f"{len(order)} of {parts.n_basis} centres, in the {parts.units}:")
    print_table(("coefficient", *names), rows, right=(0,))
    if len(parts.centres) > MOST_COLUMNS:
        tell(f"and {len(parts.centres) - MOST_COLUMNS} more columns (--json has all)")


def _shown(value) -> str:
    plain = _plain(value)
    if plain is None or plain == "":
        return "-"
    return brief(plain).removesuffix(" 00:00:00")[:30]
