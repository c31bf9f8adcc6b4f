"""The README and the site: every block of code runs, every name has a page, every file is there.

`tests/export/test_guide.py` runs the page on deployment. `pytest --doctest-modules` runs the
examples of the docstrings, and the build of the site runs the gallery.
"""

import ast
import re
import shlex
import textwrap
from importlib import import_module
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from messy import make_messy
from program import run

import skauc

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
BLOCK = re.compile(r"^( *)```(python|bash)\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
RUN_ELSEWHERE = {"docs/guide/deployment.md"}
PAGES = sorted(
    str(path.relative_to(ROOT))
    for path in (ROOT / "README.md", *DOCS.glob("*.md"), *DOCS.glob("guide/*.md"))
    if BLOCK.search(path.read_text(encoding="utf-8"))
)
# Commands that install, release, start a cluster or take long. They are run by hand.
NOT_RUN = (
    *("pip install", "python3 -m venv", ".venv/bin/", "git ", "openssl ", "chmod ", "-keyout"),
    *("dask ", "SKAUC_GPU_DEVICE=", "python -m benchmarks", "python -m reproduction"),
    *("python tools/", "python -m sphinx", "python -c", "head ", "import sys;", "from messy"),
    *("frame", "pre-commit", "pytest"),
)
# The same code with less of a machine.
REPLACED = {
    "n_workers=4,": "n_workers=1, processes=False, dashboard_address=None,",
    'SparseKernelAUC(64, random_state=0, checkpoint="fit.npz")': "SparseKernelAUC(2, refine=False)",
}
# Blocks that need what a test machine lacks, by a line of them, with the reason.
NOT_RUN_PYTHON = {
    'engine="gpu"': "no GPU; tests/engines/test_gpu.py",
    "tls_ca_file": "tests/engines/test_cluster_tls.py",
}


def blocks(page):
    """The language and the text of each block of a page."""
    text = (ROOT / page).read_text(encoding="utf-8")
    return [(kind, textwrap.dedent(body)) for _, kind, body in BLOCK.findall(text)]


def prepare(page, folder):
    """Write the files that a page takes for granted, and return the names that it has."""
    frame, positive = make_messy(160)
    customers = frame.drop(columns="name").assign(churned=positive)
    customers.to_csv(folder / "customers.csv", index=False)
    customers.to_csv(folder / "new_claims.csv", index=False)
    customers.to_csv(folder / "new_customers.csv", index=False)
    customers.rename(columns={"churned": "fraud"}).to_csv(folder / "claims.csv", index=False)
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(400, 20)), rng.random(400) < 0.3
    if page == "docs/guide/cluster.md":
        (folder / "rows").mkdir()
        columns = [f"x{number}" for number in range(20)]
        frame = pd.DataFrame(X, columns=columns).assign(label=y)
        frame.to_parquet(folder / "rows" / "part.parquet")
    if page == "docs/guide/speed.md":
        model = skauc.SparseKernelAUC(4, random_state=0).fit(X, y)
        X.astype(np.float32).tofile(folder / "rows.float32")
        return {"np": np, "model": model, "row": X[0], "y": y, "SparseKernelAUC": type(model)}
    return {}


def run_shell(text):
    """Run the commands of skauc in this process; all others must be known."""
    for line in text.replace("\\\n", " ").splitlines():
        if line.startswith("skauc "):
            words = shlex.split(line.partition(" | ")[0], comments=True)[1:]
            if words[0] == "fit" and "--effort" not in words:
                words += ["--effort", "quick"]
            answer = run(*words)
            assert answer.code == 0, f"{line}\n{answer.err}"
        else:
            command = line.strip()
            assert not command or command.startswith(NOT_RUN), f"not run: {command}"


@pytest.mark.parametrize("page", [page for page in PAGES if page not in RUN_ELSEWHERE])
def test_every_block_runs(page, tmp_path, monkeypatch):
    plotting = pytest.importorskip("matplotlib.pyplot")
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "__main__", **prepare(page, tmp_path)}
    # What another page runs as well is run there.
    known = [text for other in PAGES[: PAGES.index(page)] for _, text in blocks(other)]
    for kind, text in blocks(page):
        if text in known or any(word in text for word in NOT_RUN_PYTHON):
            continue
        if kind == "bash":
            run_shell(text)
        else:
            for old, new in REPLACED.items():
                text = text.replace(old, new)
            exec(compile(ast.parse(text), page, "exec"), names)
    plotting.close("all")
    if "client" in names:
        names["client"].shutdown()


def public_names():
    """The full name of every public object, once."""
    found = {f"skauc.{name}" for name in skauc._HOMES}
    objects = {id(getattr(skauc, name)) for name in skauc._HOMES}
    for package in (*skauc._SUBPACKAGES, "exceptions"):
        module = import_module(f"skauc.{package}")
        own = [n for n, value in vars(module).items() if isinstance(value, type)]
        names = getattr(module, "__all__", own)
        found |= {
            f"skauc.{package}.{name}"
            for name in names
            if id(getattr(module, name)) not in objects
            and getattr(module, name).__module__.startswith("skauc")
        }
    return found


def test_every_public_name_is_in_the_reference():
    lines = (DOCS / "api" / "index.md").read_text(encoding="utf-8").splitlines()
    listed = [f"skauc.{line.strip()}" for line in lines if re.fullmatch(r" {3}[A-Za-z_.]+", line)]
    assert len(listed) == len(set(listed))
    assert set(listed) == public_names()


def test_links_of_markdown_pages_lead_to_files():
    """The build checks links between pages; this also covers pages that are read on GitHub."""
    pages = [*ROOT.glob("*.md"), *DOCS.rglob("*.md")]
    broken = []
    for page in pages:
        if "_build" in page.parts:
            continue
        text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
        for target in re.findall(r"\]\(([^)#\s]+)", text):
            is_made = "gallery/" in target
            if not target.startswith("http") and not is_made:
                broken += [(page.name, target)] * (not (page.parent / target).exists())
            if is_made and "images" not in target:
                name = Path(target).name.removesuffix(".md")
                broken += [(page.name, target)] * (
                    name != "index" and not (ROOT / "examples" / f"{name}.py").exists()
                )
    assert broken == []


def test_every_image_of_the_gallery_has_an_example():
    text = "".join(path.read_text(encoding="utf-8") for path in DOCS.glob("guide/*.md"))
    used = set(re.findall(r"sphx_glr_(plot_\w+)_\d{3}\.png", text))
    assert used
    assert [name for name in used if not (ROOT / "examples" / f"{name}.py").exists()] == []


def test_files_and_names_in_the_architecture_exist():
    """Files are below src/skauc, the repository or the folder of the file before; names in them."""
    text = (DOCS / "architecture.md").read_text(encoding="utf-8")
    wrong, folders = [], [ROOT / "src" / "skauc", ROOT]
    for path, names in re.findall(r"`([\w./]+\.(?:py|js|html))(?:: ([\w., ]+))?`", text):
        if path == "app/cli/NAME.py":
            continue
        files = [folder / path for folder in folders if (folder / path).exists()]
        files = files or list((ROOT / "src" / "skauc").rglob(path))
        code = "".join(file.read_text(encoding="utf-8") for file in files)
        parts = re.findall(r"\w+", names) or [""]
        wrong += [(path, name) for name in parts if not files or name not in code]
    assert wrong == []
