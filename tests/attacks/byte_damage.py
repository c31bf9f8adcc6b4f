"""Damage to files as disks, networks and editors do it; no checksum is mended."""

from __future__ import annotations

import io
import warnings
import zipfile

import numpy as np


def flip_a_bit(content: bytes, rng: np.random.Generator) -> bytes:
    """Flip one bit."""
    damaged = bytearray(content)
    damaged[rng.integers(len(content))] ^= 1 << int(rng.integers(8))
    return bytes(damaged)


def change_bytes(content: bytes, rng: np.random.Generator) -> bytes:
    """Set a few bytes to other values."""
    damaged = bytearray(content)
    for place in rng.integers(len(content), size=rng.integers(1, 20)):
        damaged[place] ^= int(rng.integers(1, 256))
    return bytes(damaged)


def truncate(content: bytes, rng: np.random.Generator) -> bytes:
    """Cut off the end."""
    return content[: rng.integers(len(content))]


def cut_out(content: bytes, rng: np.random.Generator) -> bytes:
    """Remove a piece."""
    start, end = sorted(rng.integers(len(content), size=2))
    return content[:start] + content[end:]


def insert(content: bytes, rng: np.random.Generator) -> bytes:
    """Insert random bytes."""
    place = int(rng.integers(len(content) + 1))
    return content[:place] + rng.bytes(int(rng.integers(1, 60))) + content[place:]


def zero_out(content: bytes, rng: np.random.Generator) -> bytes:
    """Set a block to zeros, as after a loss of power."""
    start = int(rng.integers(len(content)))
    length = min(int(rng.integers(1, 4096)), len(content) - start)
    return content[:start] + bytes(length) + content[start + length :]


def append(content: bytes, rng: np.random.Generator) -> bytes:
    """Append random bytes."""
    return content + rng.bytes(int(rng.integers(1, 5000)))


def prepend(content: bytes, rng: np.random.Generator) -> bytes:
    """Put bytes in front, which zip readers tend to accept."""
    return rng.bytes(int(rng.integers(1, 500))) + content


def repeat(content: bytes, rng: np.random.Generator) -> bytes:
    """Write the file twice."""
    return content + content


def replace(content: bytes, rng: np.random.Generator) -> bytes:
    """Return something else altogether."""
    others = (b"", b"\0" * 1000, b"PK\x05\x06" + bytes(18), b"skauc-model 1 \n", rng.bytes(500))
    return others[rng.integers(len(others))]


DAMAGE = (
    flip_a_bit,
    change_bytes,
    truncate,
    cut_out,
    insert,
    zero_out,
    append,
    prepend,
    repeat,
    replace,
)


# -- archives ---------------------------------------------------------------------------------


def split_archive(content: bytes) -> tuple[bytes, list[tuple[str, bytes]]]:
    """Return what stands before a zip archive, and its members."""
    start = content.index(b"PK\x03\x04")
    with zipfile.ZipFile(io.BytesIO(content[start:])) as archive:
        return content[:start], [(info.filename, archive.read(info)) for info in archive.infolist()]


def make_archive(members: list[tuple[str, bytes]], rng: np.random.Generator | None = None) -> bytes:
    """Return a zip archive; names may occur twice."""
    is_stored = rng is not None and rng.random() < 0.5
    method = zipfile.ZIP_STORED if is_stored else zipfile.ZIP_DEFLATED
    buffer = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(buffer, "w", method) as archive:
        warnings.simplefilter("ignore")  # two members of one name
        for name, member in members:
            archive.writestr(zipfile.ZipInfo(name), member, method)
    return buffer.getvalue()


Members = list[tuple[str, bytes]]


def swap_members(members: Members, rng: np.random.Generator) -> Members:
    """Exchange the contents of two members."""
    first, second = rng.integers(len(members), size=2)
    members = list(members)
    (name, content), (other, other_content) = members[first], members[second]
    members[first], members[second] = (name, other_content), (other, content)
    return members


def rename_member(members: Members, rng: np.random.Generator) -> Members:
    """Give a member another name."""
    place = int(rng.integers(len(members)))
    name, content = members[place]
    names = ("", "x", name.upper(), f"../{name}", f"/{name}", f"{name}/", "a" * 5000, name + "\0")
    renamed = (names[rng.integers(len(names))], content)
    return [*members[:place], renamed, *members[place + 1 :]]


def repeat_member(members: Members, rng: np.random.Generator) -> Members:
    """Add a member of the same name with another content."""
    name, content = members[rng.integers(len(members))]
    other = members[rng.integers(len(members))][1]
    return [*members, (name, (content, other, b"")[rng.integers(3)])]


def remove_member(members: Members, rng: np.random.Generator) -> Members:
    """Leave a member out."""
    place = int(rng.integers(len(members)))
    return [*members[:place], *members[place + 1 :]]


def add_members(members: Members, rng: np.random.Generator) -> Members:
    """Add members that nobody asked for."""
    n_added = int(rng.choice([1, 3, 2000]))
    extra = rng.bytes(int(rng.integers(200)))
    return [*members, *((f"{number}.npy", extra) for number in range(n_added))]


def shuffle_members(members: Members, rng: np.random.Generator) -> Members:
    """Change the order of the members."""
    return [members[place] for place in rng.permutation(len(members))]


def damage_member(members: Members, rng: np.random.Generator) -> Members:
    """Damage the content of a member; the archive is sound."""
    place = int(rng.integers(len(members)))
    name, content = members[place]
    damaged = DAMAGE[rng.integers(len(DAMAGE))](content or b"\0", rng)
    return [*members[:place], (name, damaged), *members[place + 1 :]]


REARRANGEMENTS = (
    swap_members,
    rename_member,
    repeat_member,
    remove_member,
    add_members,
    shuffle_members,
    damage_member,
    damage_member,
)
