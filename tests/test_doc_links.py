from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import skauc
from skauc import SparseKernelAUC
from skauc.base import RankingClassifier, docs_url

ESTIMATORS = [
    kind
    for kind in (getattr(skauc, name) for name in skauc.__all__)
    if isinstance(kind, type) and issubclass(kind, RankingClassifier)
]


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_the_diagram_links_to_a_section_that_is_there(estimator, monkeypatch):
    monkeypatch.delenv("SKAUC_DOCS_URL", raising=False)
    link = estimator()._get_doc_link()
    assert f'href="{link}"' in estimator()._repr_html_()
    assert link in make_pipeline(StandardScaler(), estimator())._repr_html_()
    found = urlsplit(link)
    lines = Path(url2pathname(found.path)).read_text(encoding="utf-8").lower().splitlines()
    assert f"### {found.fragment}" in lines


def test_the_documentation_may_be_elsewhere(monkeypatch):
    monkeypatch.setenv("SKAUC_DOCS_URL", "https://docs.example.org/skauc/")
    link = "https://docs.example.org/skauc/methods.html#sparsekernelauc"
    assert SparseKernelAUC()._get_doc_link() == link


def test_a_class_of_someone_else_has_no_link_to_us():
    class Mine(SparseKernelAUC):
        pass

    Mine.__module__ = "elsewhere"
    assert docs_url() not in Mine()._repr_html_()


def test_a_centre_is_never_called_by_another_name():
    """Tables of the paper's results, which have the paper's words, are left out."""
    root = Path(__file__).parents[1]
    pages = [*root.glob("src/**/*.py"), *root.glob("docs/*.md"), *root.glob("docs/guide/*.md")]
    texts = {
        page: page.read_text(encoding="utf-8").lower() for page in [*pages, root / "README.md"]
    }
    assert [str(page) for page, text in texts.items() if "basis function" in text] == []
