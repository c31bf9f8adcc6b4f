"""The page in a real browser, at the width of a desk and of a phone."""

import json

import numpy as np
import pytest
from messy import make_messy
from sklearn.calibration import CalibratedClassifierCV
from sklearn.pipeline import make_pipeline

from skauc import SparseKernelAUC, TablePreprocessor, to_source
from skauc.explain import shapley_values


@pytest.fixture(scope="module")
def model():
    frame, y = make_messy(300)
    pipeline = make_pipeline(TablePreprocessor(), SparseKernelAUC(8, random_state=0))
    return CalibratedClassifierCV(pipeline, ensemble=False, cv=2).fit(frame, y)


@pytest.fixture
def page(model, browser, tmp_path):
    path = tmp_path / "customers.html"
    path.write_text(to_source(model, "html", name="customers", labels=("stays", "leaves")))
    assert path.stat().st_size < 40_000
    browser.get_log("performance")
    browser.get(path.as_uri())
    return browser


SET = """
const [name, value] = arguments;
const field = byId(`column-${program.columns.findIndex((column) => column.name === name)}`);
field.value = value;
field.dispatchEvent(new Event(field.tagName === "SELECT" ? "change" : "input"));
"""
READ = """
return {
  label: byId("label").textContent, figures: byId("figures").textContent,
  parts: [...document.querySelectorAll("output")].map((e) => e.textContent),
  names: program.columns.map((column) => column.name), row, score: score(row),
  contributions: contributions(row, background),
};
"""


def test_the_page_moves_with_its_controls(page, model):
    frame, _ = make_messy(300)
    settings = {
        "age": "61.5",
        "visits": "",
        "town": "Bern",
        "shop": "shop 3",
        "consent": "no",
        "born": "1981-02-03T00:00",
        "name": "Mrs Jones",
    }
    for name, value in settings.items():
        page.execute_script(SET, name, value)
    found = page.execute_script(READ)
    row = {**found["row"], "id": "u0", "constant": 1, "nothing": np.nan}
    table = frame[:2].astype(object)
    for place, values in enumerate((row, usual_row(page))):
        for name, value in values.items():
            table.loc[place, name] = value
    table = as_table(table, frame)
    opened = model.calibrated_classifiers_[0].estimator
    score = opened.decision_function(table[:1])[0]
    assert found["score"] == pytest.approx(score, abs=1e-9)
    chance = model.predict_proba(table[:1])[0, 1]
    percent = float(found["figures"].partition("probability ")[2].rstrip("%"))
    assert percent == pytest.approx(100 * chance, rel=1e-2)
    assert found["label"] == "predicted: " + ("leaves" if chance > 0.5 else "stays")
    explained = shapley_values(model, table[:1], table[1:])
    assert found["contributions"]["exact"]
    for name, value in found["contributions"]["values"].items():
        place = list(explained.feature_names).index(name)
        assert value == pytest.approx(explained.values[0, place], abs=1e-9)
    parts = zip(found["names"], found["parts"], strict=True)
    shown = {name: float(part.replace("−", "-")) for name, part in parts}
    assert shown == pytest.approx(found["contributions"]["values"], abs=1e-2)


def usual_row(page):
    return page.execute_script("return typicalRow()")


def as_table(table, like):
    """Give the columns their types again; dates are seconds in the page."""
    import pandas as pd

    for name in ("born", "seen"):
        table[name] = pd.to_datetime(table[name].astype(float), unit="s")
    table["born"] = table["born"].dt.strftime("%Y-%m-%d")
    for name in ("age", "income", "visits"):
        table[name] = table[name].astype(float)
    for name in ("member", "consent"):
        table[name] = table[name].map({0: False, 1: True}).astype(object)
    table["nothing"] = np.nan
    return table[list(like.columns)]


def test_nothing_is_loaded_and_a_phone_needs_no_sideways_scrolling(page):
    size = {"width": 360, "height": 740, "deviceScaleFactor": 2, "mobile": True}
    page.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    widths = page.execute_script("return [document.documentElement.scrollWidth, innerWidth]")
    page.execute_script("byId('example').click(); byId('compare').click()")
    parts = page.execute_script(READ)["parts"]
    page.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    assert widths == [360, 360]
    assert set(parts) == {"0"}
    events = (json.loads(entry["message"])["message"] for entry in page.get_log("performance"))
    sent = [each for each in events if each["method"] == "Network.requestWillBeSent"]
    urls = {each["params"]["request"]["url"] for each in sent}
    assert all(url.startswith(("file:", "data:")) for url in urls)
    assert page.get_log("browser") == []
