"""``skauc export``: write a model as an ONNX graph."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from skauc.app.cli.files import check_outputs, file_to_write, messages_beside
from skauc.app.cli.models import open_file
from skauc.app.cli.options import AsJson, Force, ModelPath
from skauc.app.cli.output import print_json, tell
from skauc.app.cli.progress import watch


def export(
    model: ModelPath,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="The ONNX file; - for standard output. The default is the name of MODEL with "
            "the suffix .onnx.",
        ),
    ] = None,
    precision: Annotated[
        str | None, typer.Option(help="float32 or float64, the type of the inputs and outputs.")
    ] = None,
    force: Force = False,
    json: AsJson = False,
) -> None:
    """Write a model as an ONNX file.

    The graph has one input per column. Its outputs are the label and the probabilities.
    """
    output = Path(model.with_suffix(".onnx").name) if output is None else output
    check_outputs(output, force=force, json=json)
    opened = open_file(model)
    from skauc.archive import write_atomically
    from skauc.onnx import to_onnx

    with watch("Converting"):
        graph = to_onnx(opened.model, precision=precision)
    content = graph.SerializeToString()
    with file_to_write(output) as path, write_atomically(path) as file:
        file.write(content)
    inputs = [given.name for given in graph.graph.input]
    outputs = [given.name for given in graph.graph.output]
    if json:
        written = {"output": str(output), "bytes": len(content)}
        print_json(written | {"inputs": inputs, "outputs": outputs})
        return
    with messages_beside(output):
        tell(f"Wrote {output}, {len(content):,} bytes")
        tell(f"in:  {', '.join(inputs)}")
        tell(f"out: {', '.join(outputs)}")
