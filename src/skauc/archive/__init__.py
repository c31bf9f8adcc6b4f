"""One atomic writer, and one file format for arrays with a JSON header.

An archive is a zip file that NumPy opens as npz: one ``.npy`` member per array, and
``header.json``. The comment at its end holds a SHA-256 checksum of every byte before it.
Archives are read as if an attacker had written them: each size is checked before memory is
allocated, nothing is unpickled, and nothing in the file is executed.
"""

from skauc.archive.atomic import write_atomically
from skauc.archive.checks import (
    DOUBLES,
    FLOATS,
    INTEGERS,
    brief_error,
    checked_array,
    checked_csr,
    is_integer,
    require,
)
from skauc.archive.container import DEFAULT_LIMITS, Archive, ArchiveError, ArchiveSizeError, Limits
from skauc.archive.reading import check_array_header, read_archive, read_header
from skauc.archive.writing import write_archive

__all__ = [
    "DEFAULT_LIMITS",
    "DOUBLES",
    "FLOATS",
    "INTEGERS",
    "Archive",
    "ArchiveError",
    "ArchiveSizeError",
    "Limits",
    "brief_error",
    "check_array_header",
    "checked_array",
    "checked_csr",
    "is_integer",
    "read_archive",
    "read_header",
    "require",
    "write_archive",
    "write_atomically",
]
