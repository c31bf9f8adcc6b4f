"""HTML: one self-contained page with a control per column."""

from __future__ import annotations

import re
from html import escape

import numpy as np

from skauc.export.javascript import literal, program_data, runtime
from skauc.export.program import Program
from skauc.export.static import read_part


def write_form(program: Program, name: str) -> str:
    """Return the page. It loads nothing and sends nothing."""
    assert program.test is not None
    scores = program.test.scores
    margin = 0.25 * float(np.ptp(scores)) or 1.0
    span = [float(scores.min()) - margin, float(scores.max()) + margin]
    data = literal({**program_data(program), "range": span})
    script = f"const program = {data};\n{runtime(program)}{read_part('page.js')}"
    parts = {
        "TITLE": escape(name.replace("_", " ")),
        "STYLE": _compact(read_part("page.css")),
        "SCRIPT": _compact(script),
    }
    return re.sub("@([A-Z]+)@", lambda match: parts[match[1]], read_part("page.html"))


def _compact(text: str) -> str:
    """Remove indentation and whole lines of comments."""
    lines = (line.strip() for line in text.splitlines())
    return "\n".join(line for line in lines if line and not line.startswith("//")) + "\n"
