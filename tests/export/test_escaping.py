"""Names and categories with any characters: the exported code is run, not only read."""

import pandas as pd
import pytest
from exported import GCC, NODE, run_c, run_duckdb, run_js, run_sqlite
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.pipeline import make_pipeline

from skauc import SparseKernelAUC, TablePreprocessor, to_source

NASTY = (
    *("select", "GROUP", 'a"b', "it's", "back\\slash", "two\nlines", "\r\n", "`tick`", "t", "row"),
    *("</script><script>document.title='x'</script>", "<!--", "*/ int x; /*", "// x \\", "??/"),
    *(
        "-- x",
        "; DROP TABLE rows;",
        "${x}",
        "%s%n",
        "\u2028",
        "ÅngströmΣ",
        "日本",
        "🦉",
        "0",
        "int",
    ),
    *(
        "__proto__",
        "constructor",
        "model_row",
        "\\",
        '"',
        "'",
        "?",
        "\x7f",
        "\u202e",
        "@SCRIPT@",
        "NAME",
    ),
)
TEXTS = st.one_of(
    st.sampled_from(NASTY),
    st.text(
        st.one_of(
            st.sampled_from("\"'\\`\n\r\t<>/*?-;${}%"),
            st.characters(exclude_categories=["Cs"], exclude_characters="\0"),
        ),
        min_size=1,
        max_size=12,
    ),
)
NAMES = st.lists(TEXTS, min_size=3, max_size=3, unique_by=str.casefold)
LEVELS = st.lists(TEXTS, min_size=3, max_size=3, unique=True)


def make_model(names, levels):
    """A model of a category, a category by codes and a number, with these names and levels."""
    town, shop, size = names
    n_rows = 60
    frame = pd.DataFrame(
        {
            town: [levels[i % 3] for i in range(n_rows)],
            shop: [levels[i // 2 % 3] if i % 5 else None for i in range(n_rows)],
            size: [i % 7 + i / 100 for i in range(n_rows)],
        }
    )
    y = [int(i % 3 == 0 or i % 7 == 2) for i in range(n_rows)]
    step = TablePreprocessor(category=[town, shop], numeric=[size])
    return make_pipeline(step, SparseKernelAUC(3, random_state=0)).fit(frame, y), frame


@settings(max_examples=3, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(names=NAMES, levels=LEVELS)
@example(names=[*NASTY[10:13]], levels=[*NASTY[2:5]])
@example(names=[*NASTY[:3]], levels=[*NASTY[10:13]])
@example(names=["NAME", "@SCRIPT@", "int"], levels=["NAME", 'a"b', "`tick`"])
@example(names=["__proto__", "two\nlines", "\\"], levels=["-- x", "??/", "'"])
def test_any_characters(names, levels, tmp_path_factory, installed_browser):
    model, frame = make_model(names, levels)
    scores = model.decision_function(frame)
    folder, labels = tmp_path_factory.mktemp("escaped"), tuple(levels[:2])
    values, columns = model[0].column_values(frame), model[0].columns_
    expected = [labels[int(score > 0)] for score in scores]
    for dialect, run in (("duckdb", run_duckdb), ("sqlite", run_sqlite)):
        script = to_source(model, "sql", dialect=dialect, labels=labels)
        found, _, predicted, failed = run(script, values, columns)
        assert_allclose(found, scores, atol=1e-9)
        assert (predicted, failed) == (expected, 0)
    if GCC is not None:
        header = to_source(model, "c", labels=labels)
        found, _, _, failed = run_c(folder, {"model": header}, columns, values)["model"]
        assert_allclose(found, scores, atol=1e-9)
        assert failed == 0
    if NODE is not None:
        answers, failed = run_js(folder, to_source(model, "js", labels=labels), values)
        found, _, predicted = zip(*answers, strict=True)
        assert_allclose(found, scores, atol=1e-9)
        assert (list(predicted), failed) == (expected, 0)
    if installed_browser is not None:
        check_page(
            installed_browser, folder, to_source(model, "html", labels=labels), names, levels
        )


def check_page(browser, folder, page, names, levels):
    path = folder / "page.html"
    path.write_text(page)
    browser.get(path.as_uri())
    shown = browser.execute_script(
        "return [document.title, selfTest(), [...document.querySelectorAll('.column > label')]"
        ".map((e) => e.textContent), [...document.querySelector('select').options]"
        ".map((e) => e.textContent).slice(0, 3)]"
    )
    assert shown == ["model", 0, names, sorted(levels)]
    problems = [entry["message"] for entry in browser.get_log("browser")]
    assert problems == []


@pytest.mark.parametrize("text", NASTY)
def test_bigquery_strings_and_names_have_no_special_characters(text):
    """BigQuery was not run. Its literals are ASCII on one line, with all else escaped."""
    from skauc.export.dialects import DIALECTS

    spelling = DIALECTS["bigquery"]
    for written, mark in ((spelling.string(text), "'"), (spelling.name(text), "`")):
        inner = written[1:-1]
        assert written[0] == written[-1] == mark
        assert mark not in inner
        assert inner.isascii()
        assert inner.isprintable()
        assert inner.encode().decode("unicode_escape") == text
