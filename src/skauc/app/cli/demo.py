"""``skauc demo``: rare events in data that ship with scikit-learn, beside boosted trees."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from skauc.app.cli.options import AsJson
from skauc.app.cli.output import duration, number, print_json, print_table, tell
from skauc.app.cli.progress import watch

if TYPE_CHECKING:
    from skauc.app.workflow import DemoResult


def demo(
    n_basis: Annotated[int, typer.Option(min=1, help="Number of centres.")] = 64,
    n_positive: Annotated[
        int, typer.Option(min=10, max=80, help="Number of positive images to learn from.")
    ] = 25,
    seed: Annotated[
        int, typer.Option(min=0, max=2**32 - 1, help="Random seed of the split and the fits.")
    ] = 0,
    json: AsJson = False,
) -> None:
    """Find rare digits among handwritten ones, and compare with boosted trees.

    Each of the ten digits is the rare class once: about 3% of the training images. The images
    ship with scikit-learn.
    """
    from skauc.app.workflow import run_demo

    with watch("Fitting", 20) as callbacks:
        result = run_demo(n_basis, n_positive, seed, callbacks[0])
    if json:
        print_json(result.as_dict())
    else:
        _print_result(result)


def _print_result(result: DemoResult) -> None:
    first, second = result.contestants
    tell(
        f"Each digit in turn is the rare class: {result.n_positive} of about {result.n_train} "
        f"training images, {result.n_positive / result.n_train:.1%}."
    )
    tell(
        f"{first.name}(n_basis={result.n_basis}) and {second.name}() learn from the same images. "
        "All other parameters have their defaults."
    )
    tell(f"AUC on {result.n_test} test images, with its 95% interval:")
    tell()
    rows = [
        (str(digit), *(f"{a.auc:.4f} ({a.low:.4f} to {a.high:.4f})" for a in (ours, theirs)))
        for digit, (ours, theirs) in enumerate(zip(first.aucs, second.aucs, strict=True))
    ]
    rows += [
        ("mean AUC", number(first.mean_auc), number(second.mean_auc)),
        ("higher AUC", *(f"{wins} of 10" for wins in result.wins)),
        ("centres / trees", f"{first.n_parts:.0f}", f"{second.n_parts:.0f}"),
        ("numbers", *(f"{each.n_numbers:,.0f}" for each in (first, second))),
        ("bytes", *(f"{each.n_bytes:,.0f}" for each in (first, second))),
        ("time to fit", *(f"{each.seconds:.2f} s" for each in (first, second))),
    ]
    print_table(("rare digit", first.name, second.name), rows, right=(1, 2))
    tell()
    tell(
        "Numbers, bytes (pickled) and time (one core) are means per model. "
        f"The demo took {duration(result.seconds)}."
    )
    tell(
        "This is one split of one data set; --seed draws another. Images suit kernels: "
        "docs/results compares on tables."
    )
