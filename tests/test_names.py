"""Names: one meaning per word, so that a search for a name finds one place."""

import ast
from collections import defaultdict
from pathlib import Path

import skauc

SOURCE = Path(skauc.__file__).parent


def public_names(path):
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names = [node.name]
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            parts = (part for target in targets for part in ast.walk(target))
            names = [part.id for part in parts if isinstance(part, ast.Name)]
        else:
            continue
        yield from (name for name in names if not name.startswith("_"))


def test_no_public_name_is_defined_in_two_modules():
    homes = defaultdict(set)
    for path in SOURCE.rglob("*.py"):
        for name in public_names(path):
            homes[name].add(str(path.relative_to(SOURCE)))
    assert {name: where for name, where in homes.items() if len(where) > 1} == {}
