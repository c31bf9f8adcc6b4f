"""Arrays and a header come back as they were, and hostile files are refused before they cost."""

import hashlib
import io
import json
import random
import struct
import tracemalloc
import zipfile

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from skauc.archive import Limits, read_archive, read_header, write_archive
from skauc.archive.container import COMMENT, ArchiveError

HEADER = {"kind": "test", "values": [1, 2.5, None, "é"]}
ARRAYS = {
    "floats": np.random.default_rng(0).normal(size=(20, 3)),
    "fortran": np.asfortranarray(np.arange(12.0).reshape(3, 4)),
    "singles": np.float32([1.5, np.nan, np.inf]),
    "integers": np.array([[1, -(2**62)]]),
    "bytes": np.arange(256, dtype=np.uint8),
    "bools": np.array([True, False]),
    "words": np.array(["no", "yé😀s"]),
    "empty": np.zeros((0, 3)),
    "scalar": np.array(3.0),
    "big_endian": np.arange(3, dtype=">i4"),
}


def archive(header=HEADER, arrays=ARRAYS):
    file = io.BytesIO()
    write_archive(file, header, arrays)
    return file.getvalue()


def sealed(members, compression=zipfile.ZIP_DEFLATED):
    """An attacker computes the checksum as we do."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", compression) as made:
        for name, content in members:
            made.writestr(zipfile.ZipInfo(name), content, compression)
        made.comment = COMMENT + b"0" * 64
    return resealed(file.getvalue())


def resealed(content):
    body = content[:-64]
    return body + hashlib.sha256(body).hexdigest().encode()


def npy(descr, shape, content=b""):
    text = f"{{'descr': {descr!r}, 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + content


def with_array(content):
    return sealed([("header.json", b"{}"), ("x.npy", content)])


def read(content, **limits):
    return read_archive(io.BytesIO(content), Limits(**limits))


def test_everything_comes_back(tmp_path):
    path = tmp_path / "file"
    write_archive(path, HEADER, ARRAYS)
    header, arrays = read_archive(path)
    assert header == HEADER == read_header(path)
    assert list(arrays) == list(ARRAYS)
    for name, array in ARRAYS.items():
        assert_array_equal(arrays[name], array)
        assert arrays[name].dtype == array.dtype.newbyteorder("=")
        assert arrays[name].flags.writeable
    assert arrays["fortran"].flags.f_contiguous


def test_numpy_opens_it(tmp_path):
    path = tmp_path / "file"
    write_archive(path, HEADER, ARRAYS)
    with np.load(path, allow_pickle=False) as opened:
        assert_array_equal(opened["floats"], ARRAYS["floats"])


def test_the_same_content_gives_the_same_bytes():
    assert archive() == archive()


@pytest.mark.parametrize("compress", [True, False])
def test_zeros_are_not_taken_for_a_bomb(compress):
    file = io.BytesIO()
    write_archive(file, {}, {"zeros": np.zeros(6 << 20)}, compress=compress)
    assert read_archive(file).arrays["zeros"].shape == (6 << 20,)


def test_a_long_header_is_not_taken_for_a_bomb():
    header = {"names": ["x"] * 700_000}
    assert read(archive(header)).header == header


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.array([object()]), "'x' cannot be stored: its type is 'object'"),
        (np.zeros(2, "f8,i4"), "its type is"),
        (np.zeros(2, complex), "its type is 'complex128'"),
        (np.zeros(2, np.longdouble), "its type is 'float128'"),
        (np.zeros((1,) * 9), "its shape is"),
    ],
)
def test_arrays_that_cannot_be_stored(array, message):
    with pytest.raises(ArchiveError, match=message):
        archive(arrays={"x": array})


def test_names_and_headers_that_cannot_be_stored():
    with pytest.raises(ArchiveError, match=r"cannot have the name '\.\./x'"):
        archive(arrays={"../x": np.zeros(2)})
    with pytest.raises(ValueError, match="JSON compliant"):
        archive(header={"x": float("nan")})


BAD = {
    "empty": (b"", "is not an archive of skauc, or its end is missing"),
    "zip": (b"PK\x05\x06" + bytes(18), "is not an archive of skauc"),
    "no header": (sealed([]), "no member 'header.json'"),
    "foreign member": (sealed([("header.json", b"{}"), ("evil.py", b"")]), "'evil.py' is not an"),
    "path": (sealed([("header.json", b"{}"), ("../x.npy", b"")]), "is not an array"),
    "list": (sealed([("header.json", b"[]")]), "its header is not a JSON object"),
    "nan": (sealed([("header.json", b'{"x": NaN}')]), "its header holds the number NaN"),
    "deep": (sealed([("header.json", b"[" * 10**5)]), "cannot be parsed"),
    "bzip": (sealed([("header.json", b"{}")], zipfile.ZIP_BZIP2), "compression .* not supported"),
    "pickle": (with_array(npy("|O", (1,), bytes(8))), "'x' cannot be read: its type is 'object'"),
    "U0": (with_array(npy("<U0", (10**9,))), "its type is '<U0'"),
    "huge": (with_array(npy("<f8", (10**12,), bytes(8))), "has the shape .* but 8 bytes"),
    "negative": (with_array(npy("<f8", (-1,), bytes(8))), "its shape is"),
    "long and empty": (with_array(npy("<f8", (10**9, 0))), "has the shape"),
    "version": (with_array(b"\x93NUMPY\x03\x00" + bytes(9)), "unknown format"),
    "bool": (with_array(npy("|b1", (1,), b"\x07")), "values that its type does not have"),
    "character": (with_array(npy("<U1", (1,), b"\xff" * 4)), "values that its type does not have"),
}


@pytest.mark.parametrize("name", BAD)
def test_hostile_files(name):
    content, message = BAD[name]
    with pytest.raises(ArchiveError, match=message):
        read(content)


def large_array():
    file = io.BytesIO()
    np.lib.format.write_array(file, np.zeros(12 << 20))
    return sealed([("header.json", b"{}"), ("x.npy", file.getvalue())]), len(file.getvalue())


def large_array_that_claims_to_be_small():
    content, size = large_array()
    return resealed(content.replace(struct.pack("<L", size), struct.pack("<L", 100)))


def many_members(number):
    return sealed([("header.json", b"{}")] + [(f"{i}.npy", b"") for i in range(number)])


BOMBS = {
    "array": lambda: large_array()[0],
    "header": lambda: sealed([("header.json", b'{"x":[' + b"[]," * (1 << 20) + b"0]}")]),
    "members": lambda: many_members(60_000),
    "some members": lambda: many_members(15_000),
    "lie": large_array_that_claims_to_be_small,
}


@pytest.mark.parametrize("name", BOMBS)
def test_bombs_are_refused_before_they_take_memory(name):
    content = BOMBS[name]()
    tracemalloc.start()
    try:
        with pytest.raises(ArchiveError):
            read(content)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 40 << 20


def test_limits_can_be_set():
    with pytest.raises(ArchiveError, match=r"expands to \d+ bytes; at most 1000 may be read"):
        read(archive(), max_bytes=1000)
    with pytest.raises(ArchiveError, match="has 11 members; at most 3"):
        read(archive(), max_members=3)


def test_every_flipped_bit_and_every_cut_is_noticed():
    content = archive(arrays={"x": np.arange(4.0)})
    for at in range(len(content)):
        flipped = bytearray(content)
        flipped[at] ^= 1 << (at % 8)
        with pytest.raises(ArchiveError):
            read(bytes(flipped))
        with pytest.raises(ArchiveError):
            read(content[:at])


def test_damage_under_a_new_checksum_raises_one_kind_of_error():
    content, rng = archive(), random.Random(0)
    for _ in range(2000):
        damaged = bytearray(content)
        for _ in range(rng.randrange(1, 4)):
            damaged[rng.randrange(len(content) - 99)] = rng.randrange(256)
        try:
            header, arrays = read(resealed(bytes(damaged)))
        except ArchiveError:
            continue
        json.dumps(header)
        assert all(array.dtype.kind in "biufU" for array in arrays.values())
