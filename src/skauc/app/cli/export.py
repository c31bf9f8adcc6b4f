"""``skauc export``: a model as an ONNX graph, for any runtime."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from skauc.app.cli.files import check_output, whole_file
from skauc.app.cli.models import open_file
from skauc.app.cli.options import AsJson, Force, ModelPath
from skauc.app.cli.output import print_json
from skauc.app.cli.progress import watch


def export(
    model: ModelPath,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="The file; by default MODEL's name in .onnx."),
    ] = None,
    precision: Annotated[
        str | None, typer.Option(help="float32 or float64, of the numbers that go in and out.")
    ] = None,
    force: Force = False,
    json: AsJson = False,
) -> None:
    """Write a model as an ONNX file.

    It has one input a column; the label and the probabilities come out.
    """
    output = Path(model.with_suffix(".onnx").name) if output is None else output
    check_output(output, force)
    opened = open_file(model)
    from skauc.onnx import to_onnx

    with watch("Converting"):
        graph = to_onnx(opened.model, precision=precision)
    content = graph.SerializeToString()
    with whole_file(output) as file:
        file.write(content)
    inputs = [given.name for given in graph.graph.input]
    outputs = [given.name for given in graph.graph.output]
    if json:
        written = {"output": str(output), "bytes": len(content)}
        print_json(written | {"inputs": inputs, "outputs": outputs})
    else:
        typer.echo(f"Wrote {output}, {len(content):,} bytes")
        typer.echo(f"in:  {', '.join(inputs)}")
        typer.echo(f"out: {', '.join(outputs)}")
