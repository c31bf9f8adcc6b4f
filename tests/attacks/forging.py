"""Changes to the members of a model file that an attacker would make: JSON, arrays and bombs."""

from __future__ import annotations

import io
import json
import struct

import numpy as np

from tests.attacks.byte_damage import REARRANGEMENTS, Members, make_archive
from tests.attacks.sealing import read_members

NUMBERS = (
    -1,
    0,
    1,
    2**21,
    2**31 - 1,
    2**31,
    2**40,
    2**63,
    10**400,
    -(2**63),
    0.5,
    1e308,
    -1e308,
    5e-324,
    float("nan"),
    float("inf"),
    float("-inf"),
)
WORDS = (
    "",
    "x",
    "\0",
    "x" * 100_000,
    "../../etc/passwd",
    "os.system",
    "builtins",
    "ObjectNode",
    "__class__",
    "__reduce__",
    "[/red]\x1b[2J",
    "\ud800",
    "1e999",
    "NaN",
    "cluster",
    "gpu",
)
SHAPES = (None, True, False, [], {}, [[]], [None], {"": 0}, [0] * 1000, {"__class__": "x"})
# Settings that would do harm if a loaded model kept them.
SETTINGS = {
    "n_jobs": (64, -1, 0, "x", 2**40),
    "checkpoint": ("/tmp/skauc-attack-checkpoint", "fit.npz", 3),
    "memory": ("/tmp/skauc-attack-memory",),
    "engine": ("cluster", "gpu", "steam", 1),
    "kernel": ("os.system", "precomputed", 1, None),
    "gamma": (float("nan"), float("inf"), 0, 0.0, -1.0, "scale", [], [float("nan")]),
    "buffer_size": (2**40, 0, -1),
    "n_basis": (2**40, 0, -1),
    "cache_size": (2**60, -1),
    "degree": (2**40, -1, 1.5),
    "n_features_in_": (2**21, 2**40, 0, -1, "4"),
    "verbose": (100,),
    "callback": ("os.system",),
}


def containers(tree) -> list[dict | list]:
    """Return all objects and lists of a JSON value that hold something."""
    found, waiting = [], [tree]
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict | list):
            found.extend([part] if part else [])
            waiting.extend(part.values() if isinstance(part, dict) else part)
    return found


def _hostile_value(rng: np.random.Generator):
    pool = (NUMBERS, WORDS, SHAPES)[rng.integers(3)]
    return pool[rng.integers(len(pool))]


def edit_value(tree, rng: np.random.Generator):
    """Replace values anywhere in the tree."""
    for _ in range(rng.integers(1, 4)):
        parts = containers(tree)
        if not parts:
            return tree
        part = parts[rng.integers(len(parts))]
        keys = sorted(part) if isinstance(part, dict) else range(len(part))
        part[keys[rng.integers(len(keys))]] = _hostile_value(rng)
    return tree


def edit_number(tree, rng: np.random.Generator):
    """Replace a number by another."""
    places = [
        (part, key)
        for part in containers(tree)
        for key, value in (part.items() if isinstance(part, dict) else enumerate(part))
        if isinstance(value, int | float)
    ]
    if places:
        part, key = places[rng.integers(len(places))]
        part[key] = NUMBERS[rng.integers(len(NUMBERS))]
    return tree


def edit_setting(tree, rng: np.random.Generator):
    """Set every setting of a name, or add it, with a value that would do harm."""
    name = sorted(SETTINGS)[rng.integers(len(SETTINGS))]
    value = SETTINGS[name][rng.integers(len(SETTINGS[name]))]
    places = [part for part in containers(tree) if isinstance(part, dict) and name in part]
    objects = [part for part in containers(tree) if isinstance(part, dict)]
    for part in places or [objects[rng.integers(len(objects))]] if objects else []:
        part[name] = value
    return tree


def rename_key(tree, rng: np.random.Generator):
    """Rename, remove or add a key."""
    objects = [part for part in containers(tree) if isinstance(part, dict)]
    if not objects:
        return tree
    part = objects[rng.integers(len(objects))]
    key = sorted(part)[rng.integers(len(part))]
    value = part.pop(key) if rng.random() < 0.8 else part[key]
    names = ("__class__", "__dict__", "__setstate__", "__init__", "", key.upper(), "fit", None)
    name = names[rng.integers(len(names))]
    if name is not None:
        part[name] = value
    return tree


def graft(tree, rng: np.random.Generator):
    """Put one part of the tree in the place of another, or nest it deeply."""
    parts = containers(tree)
    if not parts:
        return tree
    copied = json.loads(json.dumps(parts[rng.integers(len(parts))]))
    part = parts[rng.integers(len(parts))]
    keys = sorted(part) if isinstance(part, dict) else range(len(part))
    if rng.random() < 0.2:
        for _ in range(int(rng.choice([3, 500]))):
            copied = [copied]
    part[keys[rng.integers(len(keys))]] = copied
    return tree


EDITS = (edit_value, edit_number, edit_setting, edit_setting, rename_key, graft)


def forge_json(members: Members, rng: np.random.Generator) -> Members:
    """Edit a JSON member."""
    places = [place for place, (name, _) in enumerate(members) if name.endswith(".json")]
    place = places[rng.integers(len(places))]
    name, content = members[place]
    tree = EDITS[rng.integers(len(EDITS))](json.loads(content), rng)
    text = json.dumps(tree).encode()
    if rng.random() < 0.05:  # a key twice: readers take the one or the other
        text = b'{"format": 1, "estimator": null, ' + text[1:]
    return [*members[:place], (name, text), *members[place + 1 :]]


# -- arrays -----------------------------------------------------------------------------------


def _npy(array: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, array, allow_pickle=True)
    return buffer.getvalue()


def _npy_with_header(descr: str, shape: str, content: bytes) -> bytes:
    header = f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}".encode()
    header += b" " * (-(len(header) + 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + content


LIES = (
    ("'<f8'", "(10000000000,)"),
    ("'<U0'", "(1000000000,)"),
    ("'<f8'", "(0, 1000000000000)"),
    ("'<f8'", "(-1,)"),
    ("'<f8'", "(1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1)"),
    ("'|O'", "(1,)"),
    ("'|V8'", "(1,)"),
    ("'<M8[s]'", "(1,)"),
    ("'<U1000000000'", "(1,)"),
    ("[('a', '<f8', (100000,))]", "(100000,)"),
    ("'<f8'", "(" * 3000),
    ("__import__('os').system('true')", "(1,)"),
    ("'<c16'", "(2,)"),
)


def _edited_array(array: np.ndarray, rng: np.random.Generator) -> bytes:
    act = rng.integers(9)
    if act == 0:
        descr, shape = LIES[rng.integers(len(LIES))]
        return _npy_with_header(descr, shape, array.tobytes())
    if act == 1:
        types = ["<U9", ">U3", "|S4"]
        types += ["<f4", ">f8", "<i4", ">i8", "|b1", "<f2"] if array.dtype.kind in "biuf" else []
        return _npy(array.astype(rng.choice(types)))
    if act == 2:
        return _npy(array[None] if rng.random() < 0.5 else array.ravel()[:-1])
    if act == 3:
        return _npy(np.zeros((0,) * max(array.ndim, 1), array.dtype))
    if act == 4:
        return _npy(np.array([{"an": "object"}], dtype=object))
    if act == 5:
        return _npy(np.repeat(np.atleast_1d(array), 2, axis=0))
    array = np.array(array)
    if array.size == 0 or array.dtype.kind not in "biuf":
        return _npy(array)
    pool = [0, 1, -1, 2**31 - 1, -(2**31), 2**62]
    if array.dtype.kind == "f":
        pool = [np.nan, np.inf, -np.inf, 0.0, -1.0, 1e308, -1e308, 5e-324, 1e155]
    with np.errstate(all="ignore"):
        value = np.array(pool[rng.integers(len(pool))]).astype(array.dtype)
    if rng.random() < 0.5:
        array[...] = value
    else:
        array.reshape(-1)[rng.integers(array.size)] = value
    return _npy(array)


def forge_array(members: Members, rng: np.random.Generator) -> Members:
    """Change an array, or what its header says about it."""
    places = [place for place, (name, _) in enumerate(members) if name.endswith(".npy")]
    if not places:
        return forge_json(members, rng)
    place = places[rng.integers(len(places))]
    name, content = members[place]
    array = np.lib.format.read_array(io.BytesIO(content), allow_pickle=False)
    if array.dtype == np.uint8 and array.tobytes().startswith(b"PK") and rng.random() < 0.9:
        content = _npy(np.frombuffer(_forged_inside(array.tobytes(), rng), np.uint8))
    else:
        with np.errstate(all="ignore"):
            content = _edited_array(array, rng)
    return [*members[:place], (name, content), *members[place + 1 :]]


def _forged_inside(archive: bytes, rng: np.random.Generator) -> bytes:
    """Change an archive that is stored as an array: steps of other libraries."""
    members = read_members(archive)
    changes = (forge_json, forge_json, *REARRANGEMENTS)
    return make_archive(changes[rng.integers(len(changes))](members, rng))


# -- bombs ------------------------------------------------------------------------------------


def bomb(members: Members, rng: np.random.Generator) -> Members:
    """Return a small file that takes much memory or time to read without care."""
    kind = rng.integers(7)
    if kind == 0:
        return [*members, ("bomb.npy", _npy(np.zeros(30_000_000)))]
    if kind == 1:
        return [*members, *((f"bomb{number}.npy", b"") for number in range(30_000))]
    place = next(place for place, (name, _) in enumerate(members) if name.endswith(".json"))
    name, text = members[place]
    texts = (
        b"[" * 100_000,
        b"[" + b"[]," * 690_000 + b"[]]",
        b'{"x": ' + b" " * (100 << 20) + text + b"}",
        b'{"x": [' + b'{"":0},' * 290_000 + b"0]}",
        b'{"x": ' + b"9" * 1_000_000 + b"}",
    )
    return [*members[:place], (name, texts[kind - 2]), *members[place + 1 :]]
