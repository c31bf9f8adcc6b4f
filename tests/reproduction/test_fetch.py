"""Fetching from a real server: download, conversion, checksum, cache, and no network."""

import bz2
import functools
import threading
from dataclasses import replace
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest

from reproduction.catalogue import CATALOGUE, DatasetInfo, Layout, checksum_of
from reproduction.data_sets import find_or_fetch
from reproduction.fetch import fetch
from skauc.exceptions import InvalidDataError

CSV = b"0.5,2,M\n-1e-3,4,R\n7,-0.0,M\n"
X = np.array([[0.5, 2], [-1e-3, 4], [7, 0]])
Y = np.array([-1, 1, -1])
# The large ones take their time and have the layouts of others.
REWRITTEN = [name for name in CATALOGUE if name not in ("magic04", "ijcnn1", "poker")]


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *args):
        self.server.paths.append(self.path)


@pytest.fixture
def server(tmp_path):
    """A server of the files in ``folder``; ``paths`` are those that were asked for."""
    folder = tmp_path / "served"
    folder.mkdir()
    handler = functools.partial(Quiet, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.folder, server.paths = folder, []
        server.url = f"http://127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def cache(monkeypatch, tmp_path):
    monkeypatch.delenv("SKAUC_DATA", raising=False)
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path / "home"))
    return tmp_path / "home" / "skauc"


def info_of(url, checksum=None, layout=None, **changes):
    checksum = checksum or checksum_of({"X_train": X, "y_train": Y})
    info = DatasetInfo(
        "tiny", "here", "none", (url,), (), layout or Layout(), "R", 3, 0, 2, 1, checksum
    )
    return replace(info, **changes)


def test_fetched_converted_and_cached(server, cache):
    (server.folder / "tiny.data").write_bytes(CSV)
    info = info_of(f"{server.url}/tiny.data")
    for _ in range(2):
        dataset = find_or_fetch(info)
        np.testing.assert_array_equal(dataset.X_train, X)
        np.testing.assert_array_equal(dataset.y_train, Y)
        assert dataset.X_test is None
    assert server.paths == ["/tiny.data"]
    assert [path.name for path in cache.iterdir()] == ["tiny.npz"]


def test_a_changed_source_is_not_kept(server, cache):
    (server.folder / "tiny.data").write_bytes(CSV.replace(b"7", b"8"))
    with pytest.raises(
        InvalidDataError, match=r"tiny.data gave is not the data set 'tiny':.*discarded"
    ):
        find_or_fetch(info_of(f"{server.url}/tiny.data"))
    assert not cache.exists()


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"<html>Moved</html>\n", "must have rows of 3 values"),
        (b"1,2\n3,4\n", "must have rows of 3 values"),
        (b"1,two,R\n", "could not convert"),
        (b"\xff\xfe", "decode"),
        (b"", "must have rows of 3 values"),
    ],
)
def test_a_page_in_place_of_the_data(server, cache, content, why):
    (server.folder / "tiny.data").write_bytes(content)
    with pytest.raises(InvalidDataError, match=rf"not look like the source of 'tiny': .*({why})"):
        find_or_fetch(info_of(f"{server.url}/tiny.data"))
    assert not cache.exists()


def test_a_source_that_is_gone(server, cache):
    with pytest.raises(
        FileNotFoundError, match=r"no file tiny.npz in .*gone.data could not be downloaded: .*404"
    ):
        find_or_fetch(info_of(f"{server.url}/gone.data"))


def test_offline(server, cache):
    server.server_close()
    with pytest.raises(
        FileNotFoundError,
        match=r"could not be downloaded: .* Set SKAUC_DATA to a folder that holds tiny.npz, or run",
    ):
        find_or_fetch(info_of("http://127.0.0.1:9/tiny.data"))


def test_damaged_compression(server, cache):
    (server.folder / "tiny.bz2").write_bytes(bz2.compress(CSV)[:-9])
    with pytest.raises(FileNotFoundError, match=r"tiny.bz2 could not be downloaded: "):
        find_or_fetch(info_of(f"{server.url}/tiny.bz2"))


def test_official_test_part_is_cut_to_the_catalogues_rows(server, tmp_path):
    (server.folder / "a.bz2").write_bytes(bz2.compress(b"1 1:2 2:0.5\n-1 2:4\n-1 1:1\n"))
    (server.folder / "b.bz2").write_bytes(bz2.compress(b"-1 1:1\n1 2:3\n1 1:9\n"))
    arrays = {
        "X_train": np.array([[2, 0.5], [0, 4], [1, 0]]),
        "y_train": np.array([1, -1, -1]),
        "X_test": np.array([[1.0, 0], [0, 3]]),
        "y_test": np.array([-1, 1]),
    }
    info = info_of(
        f"{server.url}/a.bz2",
        checksum_of(arrays),
        Layout(is_libsvm=True),
        test_urls=(f"{server.url}/b.bz2",),
        n_test=2,
        positive=None,
    )
    with np.load(fetch(info, tmp_path)) as archive:
        assert {name: archive[name].tolist() for name in archive.files} == {
            name: values.tolist() for name, values in arrays.items()
        }


def test_zeros_of_either_sign_are_the_same():
    changed = X.copy()
    changed[2, 1] = -0.0
    checksum = checksum_of({"X_train": X, "y_train": Y, "X_test": None})
    assert checksum_of({"X_train": changed, "y_train": Y.astype(np.int8)}) == checksum
    assert checksum_of({"X_train": X + 1e-12, "y_train": Y}) != checksum
    assert checksum_of({"X_train": X.T, "y_train": Y}) != checksum


def rewrite(info, X, labels):
    """The lines of a source, as its collection writes them."""
    layout = info.layout
    lines = ["; a line before the rows"] * layout.header
    for row, label in zip(X, labels, strict=True):
        values = [repr(float(value)) for value in row]
        if layout.is_libsvm:
            pairs = (f"{i}:{v}" for i, v in enumerate(values, 1) if float(v))
            lines.append(f"{label} {' '.join(pairs)}")
            continue
        values = ["17"] * len(layout.dropped) + values
        values.insert(layout.label if layout.label >= 0 else len(values), str(label))
        lines.append((layout.delimiter or " ").join(values))
    return "\n".join(lines).encode() + b"\n"


@pytest.mark.parametrize("name", REWRITTEN)
def test_the_layouts_of_the_sources(name, server, tmp_path, data_folder):
    """The paper's data, written as the source has them, come back as the same arrays."""
    info = CATALOGUE[name]
    with np.load(data_folder / f"{name}.npz") as archive:
        arrays = dict(archive)
    urls = {}
    for part, files in (("train", info.train_urls), ("test", info.test_urls)):
        urls[part] = []
        if not files:
            continue
        signs = arrays[f"y_{part}"]
        given = {"australian": np.where(signs > 0, 1, 0)}.get(name, signs)
        labels = arrays.get(f"label_{part}", given)
        pieces = zip(
            np.array_split(arrays[f"X_{part}"], len(files)),
            np.array_split(labels, len(files)),
            strict=True,
        )
        for number, piece in enumerate(pieces):
            path = server.folder / f"{part}{number}"
            path.write_bytes(rewrite(info, *piece))
            urls[part].append(f"{server.url}/{path.name}")
    served = replace(info, train_urls=tuple(urls["train"]), test_urls=tuple(urls["test"]))
    with np.load(fetch(served, tmp_path)) as archive:
        assert checksum_of(dict(archive)) == info.checksum
