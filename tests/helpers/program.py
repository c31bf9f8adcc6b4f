"""The ``skauc`` program, run in this process."""

import json
from dataclasses import dataclass

from typer.testing import CliRunner

from skauc.app.cli.app import app


@dataclass(frozen=True)
class Answer:
    """What a command did."""

    code: int
    out: str
    err: str

    @property
    def json(self):
        return json.loads(self.out)


def run(*words, input=None) -> Answer:
    """Run the program in this process."""
    result = CliRunner().invoke(app, [str(word) for word in words], input=input)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return Answer(result.exit_code, result.stdout, result.stderr)
