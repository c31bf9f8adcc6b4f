"""The catalogue of the paper's data sets: sources, shapes and checksums.

A data set is identified by its numbers, not by its file: ``checksum`` is the SHA-256 of the arrays,
computed by `checksum_of`. A downloaded and converted set must have the same checksum as a stored
one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

_UCI = "https://archive.ics.uci.edu/ml/machine-learning-databases"
_LIBSVM = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/binary"
_UCI_TERMS = "UCI Machine Learning Repository: the terms are on the page of the data set"
_LIBSVM_TERMS = "LIBSVM data collection: the terms are those of the original source"

# Arrays of a data set and the types used for the checksum.
_ARRAYS = {"X_train": "<f8", "y_train": "<i8", "X_test": "<f8", "y_test": "<i8"}


@dataclass(frozen=True)
class Layout:
    """The text layout of a source file.

    ``delimiter`` separates values (None for white space), ``label`` is the label column,
    ``dropped`` are columns that are not features, and ``header`` is the number of lines before the
    first row. LIBSVM files use none of these.
    """

    delimiter: str | None = ","
    label: int = -1
    dropped: tuple[int, ...] = ()
    header: int = 0
    is_libsvm: bool = False


@dataclass(frozen=True)
class DatasetInfo:
    """Description of a data set.

    Attributes
    ----------
    name : str
        Name of the data set.
    source : str
        Collection it belongs to.
    licence : str
        Note on the terms of the collection.
    train_urls, test_urls : tuple of str
        Source files, in the order of their rows.
    layout : Layout
        Layout of the files.
    positive : str or None
        Label of the positive class; None for the rarer of two labels.
    n_train, n_test, n_features : int
        Numbers of training rows, test rows (0 without an official test file) and features.
    n_positive : int
        Number of positive training rows.
    checksum : str
        SHA-256 of the arrays.
    note : str
        Anything unusual.
    """

    name: str
    source: str
    licence: str
    train_urls: tuple[str, ...]
    test_urls: tuple[str, ...]
    layout: Layout
    positive: str | None
    n_train: int
    n_test: int
    n_features: int
    n_positive: int
    checksum: str
    note: str = ""

    @property
    def ratio(self) -> float:
        """Negatives per positive in the training rows."""
        return (self.n_train - self.n_positive) / self.n_positive


def checksum_of(arrays: Mapping[str, np.ndarray | None]) -> str:
    """Return the SHA-256 of the names, shapes and little-endian values of the arrays."""
    digest = hashlib.sha256()
    for name, kind in _ARRAYS.items():
        if arrays.get(name) is None:
            continue
        values = np.ascontiguousarray(arrays[name], dtype=kind)
        if kind == "<f8":
            values = values + 0.0  # -0.0 and 0.0 are the same number
        digest.update(f"{name} {values.shape} {kind}\n".encode())
        digest.update(values.tobytes())
    return digest.hexdigest()


def _uci(name: str, train: str | tuple[str, ...], layout=None, *, test=(), **known) -> DatasetInfo:
    train, test = ((part,) if isinstance(part, str) else part for part in (train, test))
    return DatasetInfo(
        name,
        "UCI",
        _UCI_TERMS,
        tuple(f"{_UCI}/{file}" for file in train),
        tuple(f"{_UCI}/{file}" for file in test),
        layout or Layout(),
        **({"n_test": 0} | known),
    )


def _libsvm(name: str, train: str, *, test: str | None = None, **known) -> DatasetInfo:
    return DatasetInfo(
        name,
        "LIBSVM",
        _LIBSVM_TERMS,
        (f"{_LIBSVM}/{train}",),
        () if test is None else (f"{_LIBSVM}/{test}",),
        Layout(is_libsvm=True),
        None,
        **({"n_test": 0} | known),
    )


_WHITE_SPACE = Layout(delimiter=None)

_ALL = (
    _uci(
        "sonar",
        "undocumented/connectionist-bench/sonar/sonar.all-data",
        positive="R",
        n_train=208,
        n_features=60,
        n_positive=97,
        checksum="9fa615c90157a15f9188743197e19acd41e549c5582ebf7ba4a59731d7d5eeb9",
        note="positive: rocks",
    ),
    _uci(
        "glass",
        "glass/glass.data",
        Layout(dropped=(0,)),
        positive="1",
        n_train=214,
        n_features=9,
        n_positive=70,
        checksum="f93cda4acb26a86c07868953bb410f55b36947db468983c14d433c872ae17be8",
        note="positive: class 1, float-processed building windows; the Id is left out",
    ),
    _uci(
        "ionosphere",
        "ionosphere/ionosphere.data",
        positive="b",
        n_train=351,
        n_features=34,
        n_positive=126,
        checksum="a3f85e09579f0d5e9c99865b6815f34a1c97a29d304cc745842b8589093894a1",
        note="positive: bad returns",
    ),
    _uci(
        "balance",
        "balance-scale/balance-scale.data",
        Layout(label=0),
        positive="B",
        n_train=625,
        n_features=4,
        n_positive=49,
        checksum="069fb17455534a91030662e367f6de58e64f5037935ec6cc51fdea38512d2069",
        note="positive: balanced, that is x0 x1 = x2 x3",
    ),
    _uci(
        "australian",
        "statlog/australian/australian.dat",
        _WHITE_SPACE,
        positive="1",
        n_train=690,
        n_features=14,
        n_positive=307,
        checksum="86bbc4a371052150863805e508e71f7772ec788833fe5e6f54a2320d778d5f8b",
        note="positive: class 1",
    ),
    _uci(
        "vehicle",
        tuple(f"statlog/vehicle/xa{letter}.dat" for letter in "abcdefghi"),
        _WHITE_SPACE,
        positive="van",
        n_train=846,
        n_features=18,
        n_positive=199,
        checksum="3f94b0022c6fab69cdfb43e138850637aac331140e6ef19ba263c4fdeb1d66a4",
        note='positive: van; "vechile" in the paper',
    ),
    _libsvm(
        "fourclass",
        "fourclass",
        n_train=862,
        n_features=2,
        n_positive=307,
        checksum="b4b5199acba710f44fa433438d6acfc80262d21dc3e198ba877e93915f53a24f",
        note="the unscaled version; the paper does not say which it used",
    ),
    _libsvm(
        "svmguide3",
        "svmguide3",
        n_train=1243,
        n_features=22,
        n_positive=296,
        checksum="f3282e55542666bda35a9fd157948a1cac63d73740f7d0f633efff6bf07b63b2",
        note="the training file; column 22 is 0 in every row",
    ),
    _libsvm(
        "a2a",
        "a2a",
        n_train=2265,
        n_features=123,
        n_positive=572,
        checksum="98d364f4da880a4684fe53d85b3aff216dbc88015d2eaedd4215985cbade02d4",
        note="the training file; columns 120 to 123 are 0 in every row",
    ),
    _uci(
        "magic04",
        "magic/magic04.data",
        positive="h",
        n_train=19020,
        n_features=10,
        n_positive=6688,
        checksum="02da35a8544f9aa3882b13aa5cde23b5cdefccef0e362f082efbc037d0260ad8",
        note="positive: hadrons",
    ),
    _uci(
        "segment",
        "image/segmentation.data",
        Layout(label=0, header=5),
        test="image/segmentation.test",
        positive="CEMENT",
        n_train=210,
        n_test=2100,
        n_features=19,
        n_positive=30,
        checksum="22cf272c6f0ec8fafe60187cbd10c5a1591d07c71ffb98608b8f491ccda6f52d",
        note="positive: cement; the paper does not name its class, and the ratio is 6 for all",
    ),
    _uci(
        "satimage",
        "statlog/satimage/sat.trn",
        _WHITE_SPACE,
        test="statlog/satimage/sat.tst",
        positive="4",
        n_train=4435,
        n_test=2000,
        n_features=36,
        n_positive=415,
        checksum="4c7154bff60e776b019ba7e8cfa9498fe09cbfafc762c508f99086ce599fac15",
        note="positive: class 4, damp grey soil",
    ),
    _libsvm(
        "ijcnn1",
        "ijcnn1.bz2",
        test="ijcnn1.t.bz2",
        n_train=49990,
        n_test=91701,
        n_features=22,
        n_positive=4853,
        checksum="406da88b899ad14298b0072dca26ffb81d7a2b9db6194ffb7a3f8623c11e7497",
        note="the challenge winner's features",
    ),
    _uci(
        "poker",
        "poker/poker-hand-training-true.data",
        test="poker/poker-hand-testing.data",
        positive="2",
        n_train=25010,
        n_test=99999,
        n_features=10,
        n_positive=1206,
        checksum="afd6cd51abf85519c8caed720f09a97d1cdf33ea4bca181e365639698ce46fef",
        note="positive: two pairs; tested on the first 99,999 of the 1,000,000 rows",
    ),
)

CATALOGUE: Mapping[str, DatasetInfo] = {info.name: info for info in _ALL}
DATASET_NAMES = tuple(CATALOGUE)
