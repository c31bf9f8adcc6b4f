"""``skauc export``: the language, the files, and what is refused."""

import pytest
from program import run

from skauc import SparseKernelAUC, save_model, to_source


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("command") / "my model.skauc"
    model = SparseKernelAUC(2, random_state=0).fit([[0.0], [1.0], [2.0]], [0, 1, 0])
    save_model(model, path)
    return path


@pytest.mark.parametrize(
    ("options", "file", "content"),
    [
        (("--to", "c"), "my model.h", "my_model_real my_model_score(const my_model_row *row)"),
        (("--to", "sql", "--dialect", "sqlite", "--table", "a.b"), "my model.sql", 'FROM "a"."b"'),
        (("-o", "x.mjs"), "x.d.mts", "export declare function score(row: Row): number;"),
        (("-o", "x.html", "--name", "risk"), "x.html", "<title>risk</title>"),
    ],
)
def test_the_file_and_its_name(path, tmp_path, monkeypatch, options, file, content):
    monkeypatch.chdir(tmp_path)
    answer = run("export", path, *options)
    assert answer.code == 0, answer.err
    assert f"Wrote {file}, " in answer.out
    assert content in (tmp_path / file).read_text()


def test_files_are_not_replaced_unasked(path, tmp_path):
    """Nor are the types beside a module, and then nothing is written."""
    module, types = tmp_path / "m.js", tmp_path / "m.d.ts"
    types.write_text("mine")
    answer = run("export", path, "-o", module)
    assert answer.code == 2
    assert "m.d.ts exists already. Choose another name, or replace it with --force" in answer.err
    assert not module.exists()
    answer = run("export", path, "-o", module, "--force", "--json")
    assert answer.json["files"] == {str(each): each.stat().st_size for each in (module, types)}


def test_standard_output(path):
    answer = run("export", path, "--to", "c", "-o", "-", "--name", "m", "--precision", "float")
    model = SparseKernelAUC(2, random_state=0).fit([[0.0], [1.0], [2.0]], [0, 1, 0])
    assert answer.out == to_source(model, "c", name="m", precision="float")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--to", "pdf"), "--to must be one of onnx, c, sql, js, html; got 'pdf'."),
        (("--to", "onnx", "--table", "x"), "--table is not for --to onnx; got 'x'. Leave it out"),
        (("--to", "js", "--dialect", "duckdb"), "--dialect is not for --to js; got 'duckdb'."),
        (("--to", "sql", "--precision", "float"), "--precision is not for --to sql; got 'float'."),
        (("--to", "c", "--precision", "float64"), "must be one of 'double', 'float', 'int8'; got"),
    ],
)
def test_wrong_options(path, tmp_path, options, message):
    answer = run("export", path, *options, "-o", tmp_path / "out")
    assert answer.code == 2
    assert message in answer.err
    assert list(tmp_path.iterdir()) == []
