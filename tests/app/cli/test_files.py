"""The files that commands write."""

from pathlib import Path

import pytest
from program import run

from skauc.app.cli.files import check_outputs
from skauc.exceptions import InvalidParameterError

QUICK = ("--effort", "quick", "--n-basis", 2, "--jobs", 1)


@pytest.mark.parametrize("other", ["out", "folder/../out", "link"])
def test_two_outputs_are_two_files(other, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("folder").mkdir()
    Path("link").symlink_to("out")
    for is_there in (False, True):
        with pytest.raises(InvalidParameterError, match=f"Two outputs go to the file {other}, "):
            check_outputs(Path("out"), Path(other), force=is_there)
        Path("out").write_text("")
    check_outputs(Path("out"), None, Path("other"), force=True)
    check_outputs(Path("/dev/null"), Path("/dev/null"), force=False)


def test_a_report_does_not_replace_the_model(tmp_path):
    """It is refused before the table is read."""
    words = ("fit", tmp_path / "no.csv", "--target", "y", "-o", tmp_path / "x", "--force")
    answer = run(*words, "--report", tmp_path / "x")
    assert answer.code == 2
    assert f"Two outputs go to the file {tmp_path / 'x'}, and one would replace" in answer.err


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("m.skauc", "exists already. Choose another name, or replace it with --force.\n"),
        ("r.html", "Choose another name, or pass --force to replace it. The model is in "),
    ],
)
def test_an_output_that_appears_during_the_fit(name, message, customers, tmp_path, monkeypatch):
    monkeypatch.setattr("skauc.app.cli.fit.check_outputs", lambda *paths, **options: None)
    (tmp_path / name).write_text("precious")
    outputs = ("-o", tmp_path / "m.skauc", "--report", tmp_path / "r.html")
    answer = run("fit", customers.train, "--target", "churned", *QUICK, *outputs)
    assert answer.code == 2
    assert message in answer.err
    assert (tmp_path / name).read_text() == "precious"
