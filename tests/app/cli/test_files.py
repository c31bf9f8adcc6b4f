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
            check_outputs(Path("out"), Path(other), inputs=(), force=is_there)
        Path("out").write_text("")
    check_outputs(Path("out"), None, Path("other"), inputs=(None, "-"), force=True)
    check_outputs(Path("/dev/null"), Path("/dev/null"), inputs=("/dev/null",), force=False)


def test_a_report_does_not_replace_the_model(tmp_path):
    """It is refused before the table is read."""
    words = ("fit", tmp_path / "no.csv", "--target", "y", "-o", tmp_path / "x", "--force")
    answer = run(*words, "--report", tmp_path / "x")
    assert answer.code == 2
    assert f"Two outputs go to the file {tmp_path / 'x'}, and one would replace" in answer.err


@pytest.mark.parametrize(
    "words",
    [
        ("fit", "t.csv", "--target", "y", "-o", "t.csv"),
        ("fit", "t.csv", "--target", "y", "--test", "t2.csv", "--report", "t2.csv"),
        ("predict", "m.skauc", "t.csv", "-o", "folder/../t.csv"),
        ("predict", "m.skauc", "t.csv", "-o", "link"),
        ("explain", "m.skauc", "t.csv", "--background", "t2.csv", "-o", "t2.csv"),
        ("compare", "m.skauc", "m2.skauc", "t.csv", "-o", "m2.skauc"),
        ("drift", "m.skauc", "t.csv", "-o", "t.csv"),
        ("report", "m.skauc", "t.csv", "--train", "t2.csv", "-o", "t2.csv"),
        ("export", "m.js"),
    ],
    ids=" ".join,
)
@pytest.mark.parametrize("force", [(), ("--force",)])
def test_no_output_replaces_an_input(words, force, tmp_path, monkeypatch):
    """--force is for old outputs, and is not recommended for what would be lost."""
    monkeypatch.chdir(tmp_path)
    Path("folder").mkdir()
    for name in ("t.csv", "t2.csv", "m.skauc", "m2.skauc", "m.js"):
        Path(name).write_text("precious")
    Path("link").symlink_to("m.skauc")
    words = (*words, "--to", "js") if words[0] == "export" else words
    answer = run(*words, *force)
    assert answer.code == 2
    assert " is a file that the command reads, and would replace it. Choose another" in answer.err
    assert "--force" not in answer.err


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
