"""HTML pages of single commands: explanations, comparisons, drift. They have no scripts."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

import skauc
from skauc.archive import write_atomically
from skauc.report.render import make_environment, read_static


def write_page(path: Path, template: str, title: str, **variables: Any) -> None:
    """Render a template that extends ``plain.html``, and write it to a file."""
    from markupsafe import Markup

    page = make_environment().get_template(template)
    text = page.render(
        title=title,
        style=Markup(read_static("style.css")),
        made=datetime.now().astimezone().isoformat(timespec="minutes").replace("T", " "),
        version=skauc.__version__,
        **variables,
    )
    with write_atomically(path) as file:
        file.write(text.encode())
