import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skauc import SparseKernelAUC, SparseKernelAUCCV
from skauc.doc_links import DOCS_URL


@pytest.mark.parametrize("estimator", [SparseKernelAUC, SparseKernelAUCCV])
def test_the_diagram_links_to_our_documentation(estimator):
    link = f"{DOCS_URL}/api/skauc.{estimator.__name__}.html"
    assert link in estimator()._repr_html_()
    assert link in make_pipeline(StandardScaler(), estimator())._repr_html_()


def test_a_class_of_someone_else_has_no_link_to_us():
    class Mine(SparseKernelAUC):
        pass

    Mine.__module__ = "elsewhere"
    assert DOCS_URL not in Mine()._repr_html_()
