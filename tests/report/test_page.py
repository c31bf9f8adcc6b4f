"""The page in a real browser, without a screen."""

import json
import re
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score, confusion_matrix, precision_score, recall_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skauc import SparseKernelAUC
from skauc.report import make_report
from skauc.report.small_pages import write_page

webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
from selenium.webdriver.common.by import By  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402


@dataclass(frozen=True)
class Opened:
    """A page with the labels and scores behind it."""

    browser: object
    positive: np.ndarray
    scores: np.ndarray
    weights: np.ndarray | None = None

    def text(self, name):
        return self.browser.find_element(By.ID, name).text

    def number(self, name):
        return float(self.text(name).replace(",", "").rstrip("%"))

    def press(self, name):
        self.browser.find_element(By.ID, name).click()

    def type(self, name, value):
        field = self.browser.find_element(By.ID, name)
        field.send_keys(Keys.CONTROL, "a")
        field.send_keys(str(value))

    @property
    def flagged(self):
        return self.scores >= float(self.text("threshold"))

    def check_numbers(self):
        """Compare every number on the page with scikit-learn's, at the threshold as printed."""
        kwargs = {"sample_weight": self.weights}
        (tn, fp), (fn, tp) = confusion_matrix(self.positive, self.flagged, **kwargs)
        shown = [self.number(name) for name in ("tn", "fp", "fn", "tp")]
        assert shown == pytest.approx([tn, fp, fn, tp], abs=0.005 + 1e-9)
        recall = recall_score(self.positive, self.flagged, **kwargs)
        assert self.number("recall") == pytest.approx(100 * recall, abs=0.05 + 1e-9)
        balanced = balanced_accuracy_score(self.positive, self.flagged, **kwargs)
        assert self.number("balanced") == pytest.approx(100 * balanced, abs=0.05 + 1e-9)
        if self.flagged.any():
            precision = precision_score(self.positive, self.flagged, **kwargs)
            assert self.number("precision") == pytest.approx(100 * precision, abs=0.05 + 1e-9)
        else:
            assert self.text("precision") == "–"
        alarm, miss = (
            float(self.browser.find_element(By.ID, name).get_property("value"))
            for name in ("alarm-cost", "miss-cost")
        )
        assert self.number("cost") == pytest.approx(alarm * fp + miss * fn, abs=0.005 + 1e-9)


def show(browser, path, *, width=1200, scheme="light", media=""):
    """Open a page at a width and in a colour scheme."""
    features = [
        {"name": "prefers-color-scheme", "value": scheme},
        {"name": "prefers-reduced-motion", "value": "reduce"},
    ]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": media, "features": features})
    screen = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)
    browser.get(path.as_uri())


@pytest.fixture(scope="module")
def path(tumours, tmp_path_factory):
    name = tmp_path_factory.mktemp("report") / "report.html"
    return make_report(name, *tumours.test, **tumours.train)


@pytest.fixture
def page(browser, path, tumours):
    show(browser, path)
    scores = tumours.model.decision_function(tumours.X_test)
    return Opened(browser, tumours.y_test == "malignant", scores)


def test_it_loads_without_an_error_or_a_request(page, path):
    assert page.browser.get_log("browser") == []
    events = [
        json.loads(entry["message"])["message"] for entry in page.browser.get_log("performance")
    ]
    requests = {
        event["params"]["request"]["url"]
        for event in events
        if event["method"] == "Network.requestWillBeSent"
        and event["params"]["documentURL"] == path.as_uri()  # the browser's own pages ask for more
    }
    assert requests - {"data:,"} == {path.as_uri()}


def test_every_chart_is_drawn(page):
    charts = page.browser.find_elements(By.CSS_SELECTOR, ".chart")
    assert len(charts) == 7
    for chart in charts:
        assert chart.get_attribute("aria-label")
        assert chart.find_elements(By.CSS_SELECTOR, "svg path")
        assert "NaN" not in chart.get_attribute("innerHTML")


def test_it_opens_at_the_models_own_threshold(page, tumours):
    assert np.array_equal(page.flagged, tumours.model.predict(tumours.X_test) == "malignant")
    page.check_numbers()


def test_it_tells_the_probability_that_predict_takes(browser, tumours, tmp_path):
    model = make_pipeline(StandardScaler(), LogisticRegression())
    model.fit(tumours.X_train, tumours.y_train)
    show(browser, make_report(tmp_path / "r.html", model, tumours.X_test, tumours.y_test))
    page = Opened(browser, tumours.y_test == "malignant", model.decision_function(tumours.X_test))
    probabilities = model.predict_proba(tumours.X_test)[:, 1]
    for keys in (Keys.ARROW_RIGHT * 7, Keys.ARROW_LEFT * 20, Keys.HOME, Keys.END):
        browser.find_element(By.ID, "slider").send_keys(keys)
        page.check_numbers()
        assert np.array_equal(probabilities >= float(page.text("probability")), page.flagged)
    assert f"(a probability of {page.text('probability')})" in page.text("sentence")
    assert browser.get_log("browser") == []


def test_rows_are_found_by_the_numbers_of_their_table(browser, tumours, tmp_path):
    numbers = 2 * np.arange(len(tumours.y_test)) + 11
    show(browser, make_report(tmp_path / "r.html", *tumours.test, row_numbers=numbers))
    page = Opened(browser, tumours.y_test == "malignant", None)
    assert page.text("row-explained").startswith("Row 11, label")
    page.type("row-number", 15)
    label = tumours.y_test[2]
    assert page.text("row-explained").startswith(f"Row 15, label “{label}”")
    page.type("row-number", 16)
    assert page.text("row-explained") == "There is no row 16 here. The next one is row 17."
    assert browser.get_log("browser") == []


def test_the_keyboard_moves_the_slider_and_every_number_follows(page):
    slider = page.browser.find_element(By.ID, "slider")
    seen = {page.text("threshold")}
    for key, presses in ((Keys.ARROW_RIGHT, 4), (Keys.ARROW_LEFT, 9), (Keys.PAGE_UP, 2)):
        slider.send_keys(key * presses)
        page.check_numbers()
        seen.add(page.text("threshold"))
    assert len(seen) == 4
    slider.send_keys(Keys.HOME)
    assert page.flagged.all()
    page.check_numbers()
    slider.send_keys(Keys.END)
    assert not page.flagged.any()
    page.check_numbers()
    assert "recall 0.0%" in slider.get_attribute("aria-valuetext")


def test_every_stop_of_the_slider_is_exact(page, tumours):
    """All stops at once, as the page computes them from what it embeds."""
    entries = page.browser.execute_script("""
        const slider = document.getElementById("slider");
        const ids = ["threshold", "tp", "fp", "fn", "tn"];
        return Array.from({ length: Number(slider.max) + 1 }, (_, value) => {
          slider.value = value;
          slider.dispatchEvent(new Event("input"));
          return ids.map((id) => document.getElementById(id).textContent);
        });
    """)
    assert len(entries) == len(np.unique(page.scores)) + 1
    for threshold, *counts in entries:
        matrix = confusion_matrix(page.positive, page.scores >= float(threshold))
        assert [int(count) for count in counts] == [
            matrix[1, 1],
            matrix[0, 1],
            matrix[1, 0],
            matrix[0, 0],
        ]


def test_buttons_find_the_best_there_is(page):
    candidates = [*np.unique(page.scores), np.inf]
    page.press("to-balanced")
    best = max(balanced_accuracy_score(page.positive, page.scores >= t) for t in candidates)
    assert balanced_accuracy_score(page.positive, page.flagged) == pytest.approx(best)
    page.type("alarm-cost", 3)
    page.type("miss-cost", 2.5)
    page.press("to-cheapest")
    page.check_numbers()
    costs = []
    for threshold in candidates:
        flagged = page.scores >= threshold
        costs.append(3 * np.sum(flagged & ~page.positive) + 2.5 * np.sum(~flagged & page.positive))
    assert page.number("cost") == min(costs)
    pressed = page.browser.find_element(By.ID, "to-cheapest").get_attribute("aria-pressed")
    assert pressed == "true"


def test_a_wanted_recall_and_a_wanted_precision(page):
    page.type("wanted-recall", 95)
    page.press("to-recall")
    page.check_numbers()
    assert recall_score(page.positive, page.flagged) >= 0.95
    one_less = page.scores > page.scores[page.flagged].min()
    assert recall_score(page.positive, one_less) < 0.95
    page.type("wanted-precision", f"93{Keys.ENTER}")
    page.check_numbers()
    assert precision_score(page.positive, page.flagged) >= 0.93
    lower = np.unique(page.scores[~page.flagged])
    assert all(precision_score(page.positive, page.scores >= t) < 0.93 for t in lower)


def test_dragging_across_a_chart_moves_the_threshold(page):
    chart = page.browser.find_element(By.ID, "distributions")
    before = page.number("threshold")
    webdriver.ActionChains(page.browser).move_to_element_with_offset(
        chart, chart.size["width"] // 4, 0
    ).click().perform()
    assert page.number("threshold") > before
    page.check_numbers()


def test_the_change_is_spoken(page):
    page.browser.find_element(By.ID, "slider").send_keys(Keys.ARROW_LEFT)
    from selenium.webdriver.support.wait import WebDriverWait

    spoken = page.browser.find_element(By.ID, "spoken")
    assert spoken.get_attribute("aria-live") == "polite"
    WebDriverWait(page.browser, 5).until(lambda _: spoken.get_attribute("textContent"))
    assert spoken.get_attribute("textContent") == page.text("sentence")


CONTRASTS = """
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const known = new Map();
  const parse = (colour) => {
    if (!known.has(colour)) {
      canvas.clearRect(0, 0, 1, 1);
      canvas.fillStyle = colour;
      canvas.fillRect(0, 0, 1, 1);
      known.set(colour, [...canvas.getImageData(0, 0, 1, 1).data]);
    }
    return known.get(colour);
  };
  const light = ([r, g, b]) => {
    const part = (c) => ((c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    return 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
  };
  const ground = (node) => {
    for (let at = node; at; at = at.parentElement) {
      const colour = getComputedStyle(at).backgroundColor;
      if (parse(colour)[3] > 200) return colour;
    }
    return getComputedStyle(document.body).backgroundColor;
  };
  const worst = {};
  for (const node of document.querySelectorAll("body *")) {
    const own = [...node.childNodes].some((child) => child.nodeType === 3 && child.data.trim());
    if (!own || ["SCRIPT", "NOSCRIPT", "STYLE"].includes(node.tagName)) continue;
    const isDrawn = node instanceof SVGElement;
    const style = getComputedStyle(node);
    const [a, b] = [light(parse(isDrawn ? style.fill : style.color)), light(parse(ground(node)))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) worst[node.tagName + "." + node.className + ": " + node.textContent] = ratio;
  }
  return worst;
"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_letters_stand_out_in_both_schemes(browser, path, scheme):
    show(browser, path, scheme=scheme)
    assert browser.execute_script(CONTRASTS) == {}
    paper = browser.execute_script("return getComputedStyle(document.body).backgroundColor")
    brightness = np.mean([int(part) for part in re.findall(r"\d+", paper)[:3]])
    assert brightness < 40 if scheme == "dark" else brightness > 215
    assert browser.get_log("browser") == []


def test_the_theme_can_be_chosen_and_is_kept(browser, path):
    show(browser, path)
    button = browser.find_element(By.ID, "theme")
    button.click()
    button.click()
    assert button.text == "Theme: dark"
    paper = "return getComputedStyle(document.body).backgroundColor"
    dark = browser.execute_script(paper)
    browser.refresh()
    assert browser.execute_script(paper) == dark
    browser.find_element(By.ID, "theme").click()
    assert browser.find_element(By.ID, "theme").text == "Theme: auto"
    assert browser.execute_script(paper) != dark


WIDER = """
const scrolls = (node) => node.closest(".scroll, nav, .visually-hidden, .skip");
return [...document.querySelectorAll("body *")]
  .filter((node) => !scrolls(node) && node.getBoundingClientRect().right > innerWidth + 1)
  .map((node) => node.tagName + "." + node.className.toString());
"""


@pytest.mark.parametrize("width", [360, 768])
def test_nothing_is_wider_than_a_small_screen(browser, path, width):
    show(browser, path, width=width)
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    assert browser.execute_script(WIDER) == []
    browser.find_element(By.ID, "slider").send_keys(Keys.ARROW_LEFT)
    assert browser.get_log("browser") == []


@pytest.mark.parametrize("width", [360, 768])
def test_a_comparison_is_readable_on_a_small_screen(browser, tmp_path, width):
    interval = "0.8554 (0.8458 to 0.8644)"
    page = tmp_path / "compared.html"
    write_page(
        page,
        "compare_page.html",
        "A and B",
        sentence="Model A ranks better.",
        roc=[],
        precision_recall=[],
        names=("a-model-with-a-long-name.skauc", "another_model.skauc"),
        measures=[("average precision", interval, interval)],
        agreement=[("rank correlation of the scores", f"+{interval}, p = 6.8e-05")],
    )
    show(browser, page, width=width)
    assert browser.execute_script(WIDER) == []
    heads = browser.find_elements(By.CSS_SELECTOR, "tbody th")
    assert all(head.size["width"] > 100 and head.size["height"] < 60 for head in heads)
    assert len(heads) == 2


def test_every_field_has_a_name(page):
    unnamed = page.browser.execute_script("""
        return [...document.querySelectorAll("input, button, output, table, section, nav")]
          .filter((node) => !(node.labels?.length || node.textContent.trim()
            || node.getAttribute("aria-label") || node.getAttribute("aria-labelledby")
            || node.caption || node.id === "threshold"))
          .map((node) => node.outerHTML);
    """)
    assert unnamed == []
    assert page.browser.execute_script("return document.documentElement.lang") == "en"


def test_it_prints_in_dark_letters_without_controls(browser, path):
    show(browser, path, scheme="dark", media="print")
    assert not browser.find_element(By.TAG_NAME, "nav").is_displayed()
    assert not browser.find_element(By.ID, "slider").is_displayed()
    ink = browser.execute_script("return getComputedStyle(document.body).color")
    assert ink == "rgb(0, 0, 0)"
    show(browser, path, scheme="dark")
    assert browser.execute_cdp_cmd("Page.printToPDF", {})["data"].startswith("JVBERi")
    assert browser.get_log("browser") == []


def test_words_from_outside_do_nothing(browser, tmp_path):
    rng = np.random.default_rng(0)
    y = np.arange(300) % 3 == 0
    evil = "<script>window.hacked = 1</script>"
    X = pd.DataFrame({evil: rng.normal(size=300) + y, "</script>": rng.normal(size=300)})
    X["a_very_long_name_" * 5] = X["W" * 80] = rng.lognormal(sigma=9, size=300)
    labels = np.where(y, "<img src=x onerror='window.hacked = 2'>", "no")
    model = make_pipeline(StandardScaler(), SparseKernelAUC(8, refine=True, random_state=0))
    model.fit(X[:200], labels[:200])
    train = {"X_train": X[:200], "y_train": labels[:200]}
    path = make_report(tmp_path / "evil.html", model, X[200:], labels[200:], **train)
    show(browser, path, width=360)
    assert browser.execute_script("return window.hacked") is None
    assert browser.execute_script("return document.documentElement.scrollWidth") <= 360
    assert evil in browser.find_element(By.ID, "centres").text
    outside = """
        return [...document.querySelectorAll(".values td, .values th, .bars td, .bars th")]
          .filter((cell) => cell.getBoundingClientRect().right > innerWidth).length;
    """
    assert browser.execute_script(outside) == 0
    assert browser.get_log("browser") == []


def test_weighted_counts_agree_too(browser, tumours, tmp_path):
    weights = np.random.default_rng(0).choice([0.25, 1.0, 3.1], len(tumours.y_test))
    path = make_report(tmp_path / "weighted.html", *tumours.test, sample_weight=weights)
    show(browser, path)
    scores = tumours.model.decision_function(tumours.X_test)
    page = Opened(browser, tumours.y_test == "malignant", scores, weights)
    page.check_numbers()
    browser.find_element(By.ID, "slider").send_keys(Keys.ARROW_LEFT * 11)
    page.check_numbers()
