"""Configuration of the documentation site. CONTRIBUTING.md has the command that builds it."""

from __future__ import annotations

import os
import socket
import sys
import warnings
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "docs" / "_ext"), str(ROOT / "src")]
# Examples run in processes of their own. They find the package of this checkout, too.
os.environ["PYTHONPATH"] = os.pathsep.join(
    [str(ROOT / "src"), *filter(None, [os.environ.get("PYTHONPATH")])]
)
os.environ.setdefault("OMP_NUM_THREADS", "1")

import skauc  # noqa: E402

project, author = "skauc", "The skauc developers"
copyright = "2026, the skauc developers"
version = release = skauc.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.intersphinx",
    "numpydoc",
    "myst_parser",
    "sphinx_design",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
    "more_pages",
    "plain_docstrings",
]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["_build", "_templates"]
# The tables of the reproduction begin with a second-level heading.
suppress_warnings = ["myst.header"]
templates_path = ["_templates"]
# Indented blocks are formulas. Python code is always marked as such.
highlight_language = "none"
# The theme reads notes on headings from the file name of a page; Markdown links point to them.
myst_heading_anchors = 4
myst_enable_extensions = ["attrs_inline", "colon_fence", "deflist"]

autosummary_generate = True
autodoc_typehints = "none"
toc_object_entries_show_parents = "hide"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False


def is_online() -> bool:
    """Whether other projects' documentation can be reached, so that links to it can be made."""
    try:
        socket.create_connection(("docs.python.org", 443), timeout=2).close()
    except OSError:
        return False
    return True


# Without a network the names of other projects are printed without links.
intersphinx_mapping = (
    {
        "python": ("https://docs.python.org/3", None),
        "numpy": ("https://numpy.org/doc/stable", None),
        "scipy": ("https://docs.scipy.org/doc/scipy", None),
        "sklearn": ("https://scikit-learn.org/stable", None),
        "pandas": ("https://pandas.pydata.org/docs", None),
        "matplotlib": ("https://matplotlib.org/stable", None),
    }
    if is_online()
    else {}
)

copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"[\\/]plot_",
    "abort_on_example_error": True,
    "backreferences_dir": "api/backreferences",
    "doc_module": ("skauc",),
    "reference_url": {"skauc": None},
    "within_subsection_order": "gallery_order.InReadingOrder",
    "download_all_examples": False,
    "show_signature": False,
    "min_reported_time": 1,
    "write_computation_times": False,
    "parallel": 2,
}
# sphinx-gallery starts its processes before the first warning filter of an example.
warnings.filterwarnings("ignore", message=".*non-interactive.*")

html_theme = "pydata_sphinx_theme"
html_title = "skauc"
html_context = {"default_mode": "auto"}
html_static_path = ["_static", "figures"]
html_css_files = ["skauc.css"]
html_favicon = "_static/logo.svg"
html_show_sourcelink = False
html_theme_options = {
    "logo": {"image_light": "_static/logo.svg", "image_dark": "_static/logo.svg", "text": "skauc"},
    "show_prev_next": False,
    "show_toc_level": 2,
    "secondary_sidebar_items": {"**": ["page-toc"], "index": []},
    "header_links_before_dropdown": 7,
    "navigation_with_keys": False,
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_sidebars = {"index": [], "get_started": [], "changelog": []}
