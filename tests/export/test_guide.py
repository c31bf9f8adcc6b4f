"""Every block of the guide to deployment is run, in its order, with a real model."""

import os
import re
import shutil
import subprocess
import sys
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import numpy as np
import pytest
from messy import make_messy
from program import run
from sklearn.calibration import CalibratedClassifierCV
from sklearn.pipeline import make_pipeline

from skauc import SparseKernelAUC, TablePreprocessor, load_model, save_model

GUIDE = Path(__file__).parents[2] / "docs" / "guide" / "deployment.md"
BLOCK = re.compile(r"^```(python|bash|c|html)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NAME = re.compile(r"(?:#|/\*|<!--) ([\w.]+\.\w+)")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with the model, after all commands of the guide."""
    folder = tmp_path_factory.mktemp("guide")
    frame, positive = make_messy(300)
    frame = frame.drop(columns="name")
    frame[250:].to_csv(folder / "later.csv", index=False)
    pipeline = make_pipeline(TablePreprocessor(), SparseKernelAUC(6, random_state=0))
    model = CalibratedClassifierCV(pipeline, ensemble=False, cv=2)
    model.fit(frame[:250], np.where(positive, "yes", "no")[:250])
    save_model(model, folder / "customers.skauc")
    for language, text in BLOCK.findall(GUIDE.read_text(encoding="utf-8")):
        if language == "bash":
            run_bash(folder, text)
        else:
            (folder / NAME.match(text)[1]).write_text(text)
    return folder


def run_bash(folder, text):
    """Run commands in this process if they are skauc's, else in a shell."""
    for line in text.splitlines():
        if line.startswith("skauc "):
            before = Path.cwd()
            os.chdir(folder)
            try:
                answer = run(*line.split()[1:])
            finally:
                os.chdir(before)
            assert answer.code == 0, answer.err
        elif shutil.which("gcc") is not None:
            ran = subprocess.run(line, shell=True, cwd=folder, capture_output=True, text=True)
            assert ran.returncode == 0, ran.stderr
            (folder / "device.txt").write_text(ran.stdout)


def test_the_service(folder, monkeypatch):
    testclient = pytest.importorskip("fastapi.testclient", reason="fastapi is not installed")
    monkeypatch.chdir(folder)
    spec = spec_from_file_location("service", folder / "service.py")
    service = module_from_spec(spec)
    spec.loader.exec_module(service)
    frame, _ = make_messy(300)
    row = frame.drop(columns="name").iloc[[260]]
    row = row.assign(seen=row["seen"].dt.strftime("%Y-%m-%d %H:%M:%S"))
    given = {name: None if value != value else value for name, value in row.iloc[0].items()}
    given = {
        name: getattr(value, "item", lambda value=value: value)() for name, value in given.items()
    }
    answer = testclient.TestClient(service.app).post("/score", json=given).json()
    chance = load_model(folder / "customers.skauc").predict_proba(row)[0, 1]
    assert answer["probability"] == pytest.approx(chance)


def test_duckdb(folder):
    command = [sys.executable, "in_duckdb.py"]
    ran = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    assert "churn_probability" in ran.stdout


@pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")
def test_the_microcontroller(folder):
    chance, label = (folder / "device.txt").read_text().split()
    assert 0 < float(chance) < 1
    assert label in ("yes", "no")


def test_the_static_pages(folder, browser):
    browser.get((folder / "play.html").as_uri())
    assert browser.execute_script("return selfTest()") == 0
    handler = partial(_Quiet, directory=folder)
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        browser.get(f"http://127.0.0.1:{server.server_port}/index.html")
        label, chance = browser.execute_script(
            "return document.getElementById('out').value"
        ).split()
        server.shutdown()
    assert label in ("yes", "no")
    assert 0 < float(chance) < 1
    browser.get_log("browser")


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *args):
        pass
