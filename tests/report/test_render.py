"""The page as text: complete, escaped, and written as a whole."""

import os
import sys
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest

import skauc
from skauc import SparseKernelAUC
from skauc.exceptions import InvalidParameterError, MissingPackageError
from skauc.report import make_report, make_report_content, render_report, write_report
from skauc.report.importance import Importance, ImportantColumn

EVIL = '<script>alert("1")</script>'


@pytest.fixture(scope="module")
def content(tumours):
    return make_report_content(*tumours.test, **tumours.train)


class Page(HTMLParser):
    """Collects what a test asks of a page."""

    VOID = frozenset({"meta", "link", "input", "br", "wbr"})

    def __init__(self, text):
        super().__init__()
        self.open, self.ids, self.urls, self.tags = [], [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        named = dict(attrs)
        self.ids += [named["id"]] if "id" in named else []
        self.urls += [named[name] for name in ("src", "href") if name in named]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_the_page_is_well_formed_and_refers_to_nothing_outside(content):
    text = render_report(content)
    page = Page(text)
    assert page.open == []
    assert len(page.ids) == len(set(page.ids))
    assert all(url == "data:," or url.startswith("#") for url in page.urls)
    assert {url[1:] for url in page.urls if url.startswith("#")} <= set(page.ids)
    assert "://" not in text.replace("http://www.w3.org/2000/svg", "")
    assert "{{" not in text
    assert "{%" not in text


def test_a_page_is_small(content):
    assert len(render_report(content)) < 250_000


def test_words_from_outside_are_escaped():
    rng = np.random.default_rng(0)
    y = np.arange(300) % 3 == 0
    X = pd.DataFrame(
        {
            EVIL: rng.normal(size=300) + y,
            "</script><b>": y * 1.0,
            "{{ title }}": rng.normal(size=300),
        }
    )
    labels = np.where(y, "<img src=x onerror=alert(2)>", "&amp;")
    model = SparseKernelAUC(8, refine=True, random_state=0).fit(X[:200], labels[:200])
    content = make_report_content(
        model, X[200:], labels[200:], X_train=X[:200], y_train=labels[:200], title=EVIL
    )
    text = render_report(content)
    page = Page(text)
    assert "img" not in page.tags
    assert page.tags.count("script") == 2
    assert "&lt;script&gt;alert(&#34;1&#34;)&lt;/script&gt;" in text
    assert "{{ title }}" in text


def test_missing_parts_are_a_sentence_each(tumours):
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    model = make_pipeline(StandardScaler(), LogisticRegression())
    model.fit(tumours.X_train, tumours.y_train)
    text = render_report(make_report_content(model, tumours.X_test, tumours.y_test))
    assert "LogisticRegression has no path of smaller models." in text
    assert "LogisticRegression has no centres." in text
    assert 'id="sizes"' not in text


def test_warnings_are_listed_with_what_to_do(content):
    from skauc.report.data_warnings import DataWarning

    warned = replace(content, warnings=(DataWarning("serious", "A title", "Seen.", "Do this."),))
    text = render_report(warned)
    assert "A title" in text
    assert "<strong>What to do:</strong> Do this." in text
    assert "No problems were found." in render_report(content)


def test_a_report_is_written_and_not_overwritten(content, tmp_path):
    path = tmp_path / "report.html"
    assert write_report(content, path) == path
    assert path.read_text(encoding="utf-8") == render_report(content)
    with pytest.raises(FileExistsError, match="pass force=True to replace"):
        write_report(content, path)
    other = replace(content, title="Another")
    write_report(other, str(path), force=True)
    assert "<h1>Another</h1>" in path.read_text(encoding="utf-8")
    assert [entry.name for entry in tmp_path.iterdir()] == ["report.html"]


def test_a_failed_write_leaves_nothing_behind(content, tmp_path, monkeypatch):
    def fail(*args):
        raise OSError("disk full")

    monkeypatch.setattr("skauc.archive.atomic.os.replace", fail)
    with pytest.raises(OSError, match="disk full"):
        write_report(content, tmp_path / "report.html")
    assert list(tmp_path.iterdir()) == []


def test_a_place_that_is_not_there_is_told_before_any_work(tumours, tmp_path):
    with pytest.raises(InvalidParameterError, match="must be a file in an existing directory"):
        make_report(tmp_path / "no" / "report.html", *tumours.test)
    with pytest.raises(InvalidParameterError, match="must be a file in an existing directory"):
        make_report(tmp_path, *tumours.test)
    (tmp_path / "there.html").write_text("mine")
    with pytest.raises(FileExistsError, match="exists already"):
        make_report(tmp_path / "there.html", "no model", None, None)


def test_one_call_makes_a_report(tumours, tmp_path):
    path = skauc.report.make_report(tmp_path / "r.html", *tumours.test, title="Tumours")
    assert "<title>Tumours</title>" in path.read_text(encoding="utf-8")
    assert path.stat().st_mode & 0o044


def test_missing_jinja2_gives_the_install_line(content, tumours, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    message = r"jinja2, which is not installed. .* pip install 'skauc\[report\]'"
    with pytest.raises(MissingPackageError, match=message):
        render_report(content)
    with pytest.raises(MissingPackageError, match=message):
        make_report(tmp_path / "r.html", "no model", None, None)


def test_the_umask_is_never_changed(content, tmp_path, monkeypatch):
    """Another thread could create a file with open permissions in the meantime."""
    monkeypatch.setattr(os, "umask", lambda mask: pytest.fail("the umask was set"))
    path = write_report(content, tmp_path / "report.html")
    path.chmod(0o600)
    write_report(content, path, force=True)
    assert path.stat().st_mode & 0o777 == 0o600


def test_importance_and_unused_columns_are_shown(content):
    columns = (
        ImportantColumn("first_column", 0.25, 0.2, 0.3),
        ImportantColumn("second", -0.00001, -0.01, 0.02),
    )
    importance = Importance(columns, ("id", "<b>"), n_untested=7, n_rows=2_000, n_repeats=5)
    text = render_report(replace(content, importance=importance))
    assert "first_<wbr>column" in text
    assert "0.2000 to 0.3000" in text
    assert '<td class="n">0.0000</td>' in text
    assert "−0.0100 to 0.0200" in text
    assert "Not used by the model (no score changes): “id”, “&lt;b&gt;”." in text
    assert "7 others were not" in text
    assert Page(text).open == []
    empty = replace(importance, columns=())
    assert "Not used by the model" in render_report(replace(content, importance=empty))
