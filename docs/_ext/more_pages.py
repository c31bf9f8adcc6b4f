"""List pages that no table of contents names, so that every page can be reached.

A new page in one of these folders appears at the end of the folder's index, under "More".
"""

from __future__ import annotations

from pathlib import Path

# Index page, folder of its pages, both below docs.
INDEXES = {"guide/index": "guide", "results/README": "results"}


def setup(app):
    """Connect the function of this extension."""
    app.connect("source-read", add_more_pages)
    return {"parallel_read_safe": True}


def add_more_pages(app, docname, source):
    """Append a table of contents with the pages of the folder that are not listed."""
    if docname not in INDEXES:
        return
    folder = Path(app.srcdir) / INDEXES[docname]
    listed = {line.strip() for line in source[0].splitlines()}
    pages = [path.relative_to(folder).with_suffix("") for path in sorted(folder.rglob("*.md"))]
    names = [page.as_posix() for page in pages]
    index = docname.rpartition("/")[2]
    missing = [name for name in names if name not in listed and name != index]
    if missing:
        toctree = ["", "```{toctree}", ":maxdepth: 1", ":caption: More", "", *missing, "```", ""]
        source[0] += "\n".join(toctree)
