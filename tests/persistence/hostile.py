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

from skauc import load_model
from skauc.exceptions import ModelFileError

MEMORY = 250 * 10**6
N_DAMAGED = 60
N_RESEALED = 80
VALUES = [None, -1, 10**12, 1e308, "", "x" * 1000, [], {}, [[]], True, "\0", "ObjectNode", "os"]


def damaged(content, rng):
    """Damage as it happens: bits, bytes, pieces."""
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


def resealed(content):
    """An attacker computes the checksum as we do."""
    body = content[:-64]
    return body + hashlib.sha256(body).hexdigest().encode()


def members_of(content):
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def packed(members, comment=b"", compression=zipfile.ZIP_DEFLATED):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", compression) as archive:
        for name, content in members.items():
            archive.writestr(zipfile.ZipInfo(name), content, compression, compresslevel=1)
        archive.comment = comment
    return file.getvalue()


def sealed(members):
    return resealed(packed(members, b"skauc sha256 " + b"0" * 64))


def npy(descr, shape, content=b""):
    text = f"{{'descr': {descr!r}, 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + content


def shell_of(members):
    """Return the members of the part that skops has stored."""
    return members_of(np.load(io.BytesIO(members["shell.npy"])).tobytes())


def with_shell(members, shell, compression=zipfile.ZIP_STORED):
    content = packed(shell, compression=compression)
    return {**members, "shell.npy": npy("|u1", f"({len(content)},)", content)}


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


def altered_json(text, rng):
    tree = json.loads(text)
    for _ in range(rng.randrange(1, 4)):
        node, other = rng.choice(nodes_of(tree)), rng.choice(nodes_of(tree))
        key = rng.choice(sorted(node) or ["x"])
        choices = [*VALUES, json.loads(json.dumps(other)), json.dumps(rng.choice(VALUES))]
        node[key] = rng.choice(choices)
    return json.dumps(tree).encode()


def altered(members, rng):
    """A sealed file in which some part is not what it was."""
    members, kind = dict(members), rng.randrange(6)
    name, other = rng.choice(sorted(members)), rng.choice(sorted(members))
    if kind == 0:
        members[name] = damaged(members[name], rng)
    elif kind == 1:
        members[name], members[other] = members[other], members[name]
    elif kind == 2:
        del members[name]
    elif kind == 3 or "shell.npy" not in members:
        members["header.json"] = altered_json(members["header.json"], rng)
    else:
        shell = shell_of(members)
        shell["schema.json"] = altered_json(shell["schema.json"], rng)
        members = with_shell(members, shell)
    return sealed(members)


def bombs(members):
    """Yield files made to take memory, time or control."""
    header = json.loads(members["header.json"])

    def with_header(**changes):
        return sealed({**members, "header.json": json.dumps({**header, **changes}).encode()})

    def with_text(text):
        return sealed({**members, "header.json": text})

    yield "inflates to 300 MB", sealed({**members, "x.npy": npy("|u1", "(0,)") + bytes(300 << 20)})
    yield "deep header", with_text(b'{"a":' + b"[" * 10**6)
    yield "wide header", with_text(b'{"a":[' + b"[]," * 690_000 + b"0]}")
    yield "header of 100 MB", with_text(b"{" + b" " * (100 << 20) + b"}")
    yield "no strings, many of them", sealed({**members, "x.npy": npy("<U0", "(1000000000,)")})
    yield "long and empty", sealed({**members, "x.npy": npy("<f8", "(1000000000, 0)")})
    yield "huge array", sealed({**members, "x.npy": npy("<f8", "(10000000000,)", bytes(8))})
    yield "deep array", sealed({**members, "x.npy": npy("<f8", "(" * 9000)})
    yield "a pickle", sealed({**members, "x.npy": npy("|O", "(1,)", b"cos\nsystem\n(S'id'\ntR.")})
    yield "many members", sealed({**members, **{f"x{i}.npy": b"" for i in range(30_000)}})
    yield "columns", with_header(columns=[{"name": 3, "kind": "numeric"}])
    yield "versions", with_header(versions={"scikit-learn": ["x"]})
    yield "training", with_header(training={"classes": 3, "n_features": 5})
    yield "summary", with_header(summary=[])
    yield "parts", with_header(parts={})
    if "shell.npy" in members:
        yield from shell_bombs(members)


def shell_bombs(members):
    shell = shell_of(members)
    schema = json.loads(shell["schema.json"])

    def with_schema(tree):
        text = tree if isinstance(tree, bytes) else json.dumps(tree, indent=2).encode()
        return sealed(with_shell(members, {**shell, "schema.json": text}))

    def node(name, module="builtins", loader=None, number=1, **more):
        loader = loader or f"{name.title()}Node"
        kinds = {"__class__": name, "__module__": module, "__loader__": loader}
        return {**kinds, "__id__": number, "protocol": schema["protocol"], **more}

    yield "compressed shell", sealed(with_shell(members, shell, zipfile.ZIP_DEFLATED))
    yield "deep schema", with_schema(b"[" * 10**6)
    yield "wide schema", with_schema(b"[" + b"[]," * 690_000 + b"[]]")
    yield "no shell", sealed({**members, "shell.npy": npy("|u1", "(3,)", b"abc")})
    yield "shell of floats", sealed({**members, "shell.npy": npy("<f8", "(1,)", bytes(8))})
    branch = node("list", number=1, content=[])
    for number in range(2, 40):
        inner = node("list", number=number - 1, content=[])
        branch = node("list", number=number, content=[branch, inner])
    yield "shared branches", with_schema(branch)
    large = {**shell, "7.npy": npy("<f8", "(125000,)", bytes(10**6))}
    array = {"name": "ndarray", "module": "numpy", "loader": "NdArrayNode"}
    arrays = [node(**array, number=n, type="numpy", file="7.npy") for n in range(2, 3000)]
    text = json.dumps(node("list", content=arrays), indent=2).encode()
    yield "one array many times", sealed(with_shell(members, {**large, "schema.json": text}))
    count = {**shell, "7.npy": npy("<i8", "()", struct.pack("<q", 10**9))}
    void = node("void", "numpy", "NdArrayNode", type="numpy", file="7.npy")
    text = json.dumps(void, indent=2).encode()
    yield "an array made void", sealed(with_shell(members, {**count, "schema.json": text}))
    attributes = node("dict", content={"__class__": node("str", loader="JsonNode", content="1")})
    yield (
        "hidden attributes",
        with_schema(node("Pipeline", "sklearn.pipeline", "ObjectNode", content=attributes)),
    )
    for loader, module, name in (
        ("FunctionNode", "os", "system"),
        ("FunctionNode", "builtins", "eval"),
        ("TypeNode", "subprocess", "Popen"),
        ("ObjectNode", "skauc.persistence.hack", "Popen"),
        ("ObjectNode", "__main__", "Trap"),
        ("ObjectNode", "sklearn.base", "clone"),
        ("ObjectNode", "sklearn.base", "BaseEstimator.mro"),
        ("ObjectNode", "sklearn.nowhere", "StandardScaler"),
        ("FunctionNode", "numpy", "fromfile"),
        ("OperatorFuncNode", "operator", "methodcaller"),
        ("MethodNode", "builtins", "method"),
        ("PartialNode", "functools", "partial"),
        ("ConstructorFromReduceNode", "skauc.persistence.foreign", "Part"),
        ("SparseMatrixNode", "scipy.sparse._csr", "csr_matrix"),
        ("CachedNode", "builtins", "list"),
        ("ObjectNode", "skauc.persistence.foreign", "Part"),
    ):
        yield f"{loader} of {module}.{name}", with_schema(node(name, module, loader, content=None))


class Trap:
    """What a file must never bring to life."""

    def __setstate__(self, state):
        print("the trap was sprung")

    def __new__(cls, *args):
        print("the trap was sprung")
        return super().__new__(cls)


def peak():
    """Return the most memory that was resident since the last reset, in bytes."""
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
    target.write_bytes(sealed(members))
    go_on(load_model(target))  # a file that is packed anew is sound
    size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    files = list(bombs(members))
    resource.setrlimit(resource.RLIMIT_AS, (size + MEMORY + 2 * 10**9, resource.RLIM_INFINITY))
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

    rng, largest = random.Random(0), {}
    for name, file in files:
        reset_peak()
        before = peak()
        attempt(name, file)
        largest[name] = peak() - before
    for _ in range(N_DAMAGED):
        attempt("damaged", damaged(content, rng))
    for _ in range(N_RESEALED):
        attempt("altered", altered(members, rng))
        attempt("altered archive", resealed(damaged(content, rng)))
    print(json.dumps({"outcomes": outcomes, "slowest": slowest, "memory": largest}))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(*sys.argv[1:])
