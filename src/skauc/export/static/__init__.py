"""Files that are copied into exported programs."""

from importlib.resources import files


def read_part(name: str) -> str:
    """Return a file of this folder."""
    return files("skauc.export.static").joinpath(name).read_text(encoding="utf-8")
