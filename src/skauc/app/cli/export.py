"""``skauc export``: write a model as an ONNX graph, as source code or as a page."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import typer

from skauc.app.cli.files import check_outputs, file_to_write, is_standard_output, messages_beside
from skauc.app.cli.models import OpenedFile, open_file
from skauc.app.cli.options import AsJson, Force, ModelPath
from skauc.app.cli.output import print_json, tell
from skauc.app.cli.progress import watch
from skauc.exceptions import InvalidParameterError

# The suffix of each kind of file.
SUFFIXES = {"onnx": ".onnx", "c": ".h", "sql": ".sql", "js": ".js", "html": ".html"}
_LANGUAGES = {suffix: language for language, suffix in SUFFIXES.items()} | {".mjs": "js"}
# The languages that use an option.
_USERS = {
    "name": ("c", "sql", "js", "html"),
    "precision": ("onnx", "c"),
    "dialect": ("sql",),
    "table": ("sql",),
}
_TYPES = {".js": ".d.ts", ".mjs": ".d.mts"}


def export(
    model: ModelPath,
    to: Annotated[
        str | None,
        typer.Option(
            metavar="LANGUAGE",
            help="onnx, c, sql, js or html. The default follows from the suffix of the output, or "
            "is onnx.",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="The file; - for standard output. The default is the name of MODEL with the "
            "suffix .onnx, .h, .sql, .js or .html.",
        ),
    ] = None,
    name: Annotated[
        str | None,
        typer.Option(
            help="Functions, views and their columns begin with this name. The default is the "
            "name of MODEL."
        ),
    ] = None,
    precision: Annotated[
        str | None,
        typer.Option(
            help="For onnx float32 or float64, the type of the inputs and outputs. For c double, "
            "float or int8."
        ),
    ] = None,
    dialect: Annotated[
        str | None, typer.Option(help="For sql: duckdb, sqlite, postgresql or bigquery.")
    ] = None,
    table: Annotated[str | None, typer.Option(help="For sql: the table of the rows.")] = None,
    force: Force = False,
    json: AsJson = False,
) -> None:
    """Write a model as an ONNX graph, a C header, a SQL view, a JavaScript module or a page.

    With js, the types are written to a .d.ts file beside the module.
    """
    language = _language(to, output)
    output = Path(model.with_suffix(SUFFIXES[language]).name) if output is None else output
    types = _types_beside(output) if language == "js" else None
    _check_used(language, name=name, precision=precision, dialect=dialect, table=table)
    is_graph = language == "onnx"
    check_outputs(output, types, inputs=(model,), force=force, json=json, is_binary=is_graph)
    opened = open_file(model)
    if is_graph:
        _export_graph(opened, output, precision, json)
        return
    name = _name_of(model) if name is None else name
    options = {"name": name, "precision": precision, "dialect": dialect, "table": table}
    written = {output: _source(opened, language, options)}
    if types is not None:
        written[types] = _source(opened, "d.ts", {"name": name})
    for path, content in written.items():
        _write(path, content)
    if json:
        sizes = {str(path): len(content) for path, content in written.items()}
        print_json({"output": str(output), "bytes": sizes[str(output)], "files": sizes})
        return
    with messages_beside(output):
        for path, content in written.items():
            tell(f"Wrote {path}, {len(content):,} bytes")


def _language(to: str | None, output: Path | None) -> str:
    if to in SUFFIXES:
        return to
    if to is not None:
        raise InvalidParameterError(f"--to must be one of {', '.join(SUFFIXES)}; got {to!r}.")
    return _LANGUAGES.get("" if output is None else output.suffix, "onnx")


def _name_of(model: Path) -> str:
    """Return the name of a file as a name of C and SQL."""
    name = re.sub(r"\W+", "_", model.stem, flags=re.ASCII).strip("_")[:40]
    return name if name[:1].isalpha() else "model"


def _types_beside(output: Path) -> Path | None:
    """Return the file of the types of a module."""
    if is_standard_output(output) or output.suffix not in _TYPES:
        return None
    return output.with_suffix(_TYPES[output.suffix])


def _check_used(language: str, **options: str | None) -> None:
    for option, value in options.items():
        if value is not None and language not in _USERS[option]:
            raise InvalidParameterError(
                f"--{option} is not for --to {language}; got {value!r}. Leave it out, or choose "
                "another language."
            )


def _source(opened: OpenedFile, language: str, options: dict) -> bytes:
    from skauc.export import to_source

    with watch("Writing"):
        source = to_source(opened.model, language, labels=opened.facts.labels, **options)
    return source.encode()


def _write(path: Path, content: bytes) -> None:
    from skauc.archive import write_atomically

    with file_to_write(path) as place, write_atomically(place) as file:
        file.write(content)


def _export_graph(opened: OpenedFile, output: Path, precision: str | None, json: bool) -> None:
    from skauc.onnx import to_onnx

    with watch("Converting"):
        graph = to_onnx(opened.model, precision=precision)
    content = graph.SerializeToString()
    _write(output, content)
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
