"""Run as a program: loads hostile files under a limit of memory and prints what came of them."""

import contextlib
import hashlib
import io
import json
import random
import resource
import struct
import sys
import time
import warnings
import zipfile
from collections import Counter
from pathlib import Path

import numpy as np
from skauc.persistence.archive import MAGIC, pack

from skauc import load_model
from skauc.exceptions import ModelFileError

MEMORY = 200 * 10**6
N_DAMAGED = 1000
N_RESEALED = 500


def damaged(content, rng):
    """Damage of a file as it happens: bits, bytes, pieces."""
    content = bytearray(content)
    kind = rng.randrange(5)
    at, to = sorted(rng.sample(range(len(content)), 2))
    if kind == 0:
        content[at] ^= 1 << rng.randrange(8)
    elif kind == 1:
        del content[at:]
    elif kind == 2:
        del content[at:to]
    elif kind == 3:
        content[at:at] = rng.randbytes(rng.randrange(1, 50))
    else:
        for _ in range(rng.randrange(1, 20)):
            content[rng.randrange(len(content))] ^= rng.randrange(1, 256)
    return bytes(content)


def resealed(body):
    """An enemy computes the checksum as we do."""
    return MAGIC + f"1 {hashlib.sha256(body).hexdigest()}\n".encode() + body


def members_of(content):
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def nodes_of(tree):
    found, waiting = [], [tree]
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict):
            found.append(part)
            waiting.extend(part.values())
        elif isinstance(part, list):
            waiting.extend(part)
    return found


VALUES = [
    None,
    -1,
    10**12,
    1e308,
    "",
    "x" * 1000,
    [],
    {},
    [[]],
    True,
    "\0",
    "ObjectNode",
    "builtins",
]


def altered(members, rng):
    """A sealed file in which some part is not what it was."""
    members = dict(members)
    kind = rng.randrange(5)
    name = rng.choice(sorted(members))
    if kind == 0:
        members[name] = damaged(members[name], rng)
    elif kind == 1:
        other = rng.choice(sorted(members))
        members[name], members[other] = members[other], members[name]
    elif kind == 2:
        del members[name]
    else:
        schema = json.loads(members["schema.json"])
        for _ in range(rng.randrange(1, 4)):
            node, other = rng.choice(nodes_of(schema)), rng.choice(nodes_of(schema))
            key = rng.choice(sorted(node) or ["x"])
            choices = [*VALUES, json.loads(json.dumps(other)), json.dumps(rng.choice(VALUES))]
            node[key] = rng.choice(choices)
        members["schema.json"] = json.dumps(schema).encode()
    return pack(1, members)


def altered_archive(content, rng):
    """A sealed file whose archive is damaged."""
    return resealed(damaged(content[content.index(b"\n") + 1 :], rng))


def bombs(members):
    """Yield files made to take memory, time or control."""
    schema = json.loads(members["schema.json"])

    def with_schema(text):
        return pack(1, {**members, "schema.json": text})

    def with_node(**node):
        return with_schema(json.dumps({**node, "protocol": schema["protocol"]}).encode())

    packed = pack(1, {**members, "99.npy": bytes(300 << 20)})
    yield "inflates to 300 MB", packed
    lying = packed[packed.index(b"\n") + 1 :].replace(
        struct.pack("<L", 300 << 20), struct.pack("<L", 100)
    )
    yield "says it is small", resealed(lying)
    yield "deep schema", with_schema(b"[" * 10**6 + b"]" * 10**6)
    yield "wide schema", with_schema(b"[" + b"[]," * 690_000 + b"[]]")
    yield "many objects", with_schema(b"[" + b'{"":0},' * 290_000 + b"0]")
    yield "schema of 100 MB", with_schema(b" " * (100 << 20))
    yield "deep manifest", pack(1, {**members, "manifest.json": b"[" * 10**5})
    for shape in ("(10000000000,)", "(-1,)", "(1, 2, 3, 4, 5)"):
        header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}\n".encode()
        content = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header
        yield f"array of {shape}", pack(1, {**members, "1.npy": content})
    deep = b"(" * 9000
    content = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(deep)) + deep
    yield "array with a deep header", pack(1, {**members, "1.npy": content})
    array = {"__class__": "ndarray", "__module__": "numpy", "__loader__": "NdArrayNode"}
    repeated = [{**array, "type": "numpy", "file": "1.npy"}] * 15_000
    large = b"\x93NUMPY\x01\x00" + struct.pack("<H", 64)
    large += b"{'descr':'<f8','fortran_order':False,'shape':(125000,)}".ljust(64) + bytes(10**6)
    node = {"__class__": "list", "__module__": "builtins", "__loader__": "ListNode"}
    text = json.dumps({**node, "content": repeated, "protocol": schema["protocol"]}).encode()
    yield "one array many times", pack(1, {**members, "schema.json": text, "1.npy": large})
    void = {**array, "__class__": "void", "type": "numpy", "file": "1.npy"}
    yield "an array made void", with_node(**void)
    branch = {**node, "content": [], "__id__": 1}
    for number in range(2, 40):
        inner = {**node, "content": [], "__id__": number - 1}
        branch = {**node, "content": [branch, inner], "__id__": number}
    yield "shared branches", with_node(**branch)
    for loader, module, name in (
        ("FunctionNode", "os", "system"),
        ("FunctionNode", "builtins", "eval"),
        ("TypeNode", "subprocess", "Popen"),
        ("ObjectNode", "skauc.persistence.hack", "Popen"),
        ("ObjectNode", "__main__", "Trap"),
        ("ObjectNode", "sklearn.base", "clone"),
        ("ObjectNode", "sklearn.base", "BaseEstimator.mro"),
        ("ObjectNode", "sklearn.utils.estimator_checks", "BaseEstimator"),
        ("ObjectNode", "sklearn.nowhere", "StandardScaler"),
        ("FunctionNode", "numpy", "fromfile"),
        ("OperatorFuncNode", "operator", "methodcaller"),
        ("MethodNode", "builtins", "method"),
        ("PartialNode", "functools", "partial"),
        ("ConstructorFromReduceNode", "skauc.persistence.state", "StoredEstimator"),
        ("SparseMatrixNode", "scipy.sparse._csr", "csr_matrix"),
        ("CachedNode", "builtins", "list"),
    ):
        yield (
            f"{loader} of {module}.{name}",
            with_node(__loader__=loader, __module__=module, __class__=name, content={}),
        )
    many = io.BytesIO()
    with zipfile.ZipFile(many, "w") as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(30_000):
            archive.writestr(zipfile.ZipInfo("1.npy"), b"")
    yield "many members", resealed(many.getvalue())


class Trap:
    """What a file must never bring to life."""

    def __setstate__(self, state):
        print("the trap was sprung")

    def __new__(cls, *args):
        print("the trap was sprung")
        return super().__new__(cls)


def peak():
    """The most memory that was resident since the last reset, in bytes."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))


def reset_peak():
    Path("/proc/self/clear_refs").write_text("5")


def go_on(model):
    """Score and learn; compiled code must not be led out of its arrays."""
    if not hasattr(model, "partial_fit"):
        return
    rows = np.zeros((30, model.n_features_in_))
    with contextlib.suppress(Exception):  # parameters may be anything; they are refused here
        model.decision_function(rows)
        model.partial_fit(rows + np.arange(30)[:, None], model.classes_[np.arange(30) % 2])


def main(source, folder):
    content = Path(source).read_bytes()
    members = members_of(content)
    target = Path(folder) / "hostile.skauc"
    go_on(load_model(source))
    files = list(bombs(members))
    size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (size + MEMORY, size + MEMORY))
    outcomes, slowest = {}, 0.0

    def attempt(kind, file):
        nonlocal slowest
        target.write_bytes(file)
        started = time.perf_counter()
        try:
            go_on(load_model(target))
            outcome = "loaded"
        except ModelFileError as error:
            is_clear = "\n" not in str(error) and "MemoryError" not in str(error)
            outcome = "refused" if is_clear else f"unclear: {error}"
        except BaseException as error:
            outcome = f"{type(error).__name__}: {error}"
        slowest = max(slowest, time.perf_counter() - started)
        outcomes.setdefault(kind, Counter())[outcome] += 1

    reset_peak()
    before = peak()
    rng = random.Random(0)
    for name, file in files:
        attempt(name, file)
    for _ in range(N_DAMAGED):
        attempt("damaged", damaged(content, rng))
    for _ in range(N_RESEALED):
        attempt("altered", altered(members, rng))
        attempt("altered archive", altered_archive(content, rng))
    answer = {"outcomes": outcomes, "slowest": slowest, "memory": peak() - before}
    print(json.dumps(answer))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(*sys.argv[1:])
