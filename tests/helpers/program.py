"""The ``skauc`` program, run in this process."""

import json
from dataclasses import dataclass

from typer.testing import CliRunner

from skauc.app.cli.app import app


@dataclass(frozen=True)
class Answer:
    """The result of a command."""

    code: int
    out: str
    err: str

    @property
    def json(self):
        return json.loads(self.out)


def run(*words, input=None) -> Answer:
    """Run a command; return its exit code and its text."""
    result = _invoke(words, input)
    return Answer(result.exit_code, result.stdout, result.stderr)


def run_binary(*words) -> tuple[int, bytes, str]:
    """Run a command; return its exit code, the bytes on standard output, and the messages."""
    result = _invoke(words, None)
    return result.exit_code, result.stdout_bytes, result.stderr


def _invoke(words, input):
    result = CliRunner().invoke(app, [str(word) for word in words], input=input)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result
