"""Let Sphinx read docstrings that are written as plain text.

The docstrings of skauc have formulas such as ``|x - z|^2`` and ``coef_k`` in plain text, which are
easy to read in a terminal. reStructuredText takes bars and trailing underscores for markup. This
extension escapes them, and makes literal blocks of indented formulas.
"""

from __future__ import annotations

import re

SECTION = re.compile(r"^\s*-{3,}\s*$")
# Code in backquotes stays as it is.
CODE = re.compile(r"(``.+?``|`[^`]+`_?)")
TRAILING = re.compile(r"(?<=\w)_(?!\w)")
# Sections whose indented lines are definitions.
FIELDS = {
    *("Parameters", "Other Parameters", "Attributes", "Returns", "Yields", "Raises", "Warns"),
    *("See Also", "Methods", "Examples"),
}
# scikit-learn's documentation has these; their docstrings refer to its glossary.
ROUTING = re.compile(r"get_metadata_routing|set_\w+_request|set_callbacks|set_output")


def setup(app):
    """Connect the functions of this extension."""
    # Before numpydoc, which has 500.
    app.connect("autodoc-process-docstring", escape_docstring, priority=100)
    app.connect("autodoc-skip-member", skip_routing)
    return {"parallel_read_safe": True}


def skip_routing(app, what, name, obj, skip, options):
    """Leave out what scikit-learn adds to every estimator for metadata routing."""
    return True if ROUTING.fullmatch(name) else None


def escape_docstring(app, what, name, obj, options, lines):
    """Escape a docstring in place."""
    lines[:] = list(_escaped(lines))


def _escaped(lines):
    section, previous, last, is_formula = "", "", "", False
    for number, line in enumerate(lines):
        following = lines[number + 1] if number + 1 < len(lines) else ""
        if SECTION.match(following) and line.strip():
            section = line.strip()
        is_indented = line.startswith("    ")
        if line.strip() and not is_indented:
            is_formula = False
        if is_indented and not is_formula and not previous.strip() and section not in FIELDS:
            is_formula = True
            if not last.endswith("::"):
                yield from ("::", "")
        yield line if is_formula or section == "Examples" else _escape(line)
        previous, last = line, line.rstrip() or last


def _escape(line: str) -> str:
    if SECTION.match(line):
        return line
    # A name at the start of a line is that of a field; numpydoc escapes it.
    field = re.match(r"^[\w, *]+ : ", line)
    start = field.end() if field else 0
    parts = CODE.split(line[start:])
    parts[::2] = [TRAILING.sub(r"\\_", part).replace("|", r"\|") for part in parts[::2]]
    return line[:start] + "".join(parts)
