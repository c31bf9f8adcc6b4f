"""The paper's data sets: what a loaded one holds, and what is said when it cannot be loaded."""

import shutil

import numpy as np
import pytest

from reproduction.catalogue import CATALOGUE, DATASET_NAMES
from reproduction.data_sets import load_dataset
from skauc.exceptions import InvalidDataError, InvalidParameterError

# Shape of the training part; positives and negatives in the training part, then in the test part.
TABLE = {
    "sonar": ((208, 60), (97, 111), None),
    "glass": ((214, 9), (70, 144), None),
    "ionosphere": ((351, 34), (126, 225), None),
    "balance": ((625, 4), (49, 576), None),
    "australian": ((690, 14), (307, 383), None),
    "vehicle": ((846, 18), (199, 647), None),
    "fourclass": ((862, 2), (307, 555), None),
    "svmguide3": ((1243, 22), (296, 947), None),
    "a2a": ((2265, 123), (572, 1693), None),
    "magic04": ((19020, 10), (6688, 12332), None),
    "segment": ((210, 19), (30, 180), (300, 1800)),
    "satimage": ((4435, 36), (415, 4020), (211, 1789)),
    "ijcnn1": ((49990, 22), (4853, 45137), (8712, 82989)),
    "poker": ((25010, 10), (1206, 23804), (4873, 95126)),
}


def class_counts(y):
    assert set(np.unique(y)) == {-1, 1}
    return int(np.sum(y == 1)), int(np.sum(y == -1))


def test_names_are_those_of_the_table():
    assert tuple(TABLE) == DATASET_NAMES


@pytest.mark.parametrize("name", DATASET_NAMES)
@pytest.mark.usefixtures("data_folder")
def test_loaded_data_set_has_the_published_shape_and_classes(name):
    shape, train_counts, test_counts = TABLE[name]
    dataset = load_dataset(name)
    assert dataset.name == name
    assert dataset.X_train.shape == shape
    assert class_counts(dataset.y_train) == train_counts
    if test_counts is None:
        assert dataset.X_test is None
        assert dataset.y_test is None
    else:
        assert dataset.X_test.shape == (sum(test_counts), shape[1])
        assert class_counts(dataset.y_test) == test_counts


@pytest.mark.usefixtures("data_folder")
def test_arithmetic_is_safe():
    """Integers in the archive become float64, and labels can be negated."""
    segment = load_dataset("segment")
    vehicle = load_dataset("vehicle")
    assert {X.dtype for X in (vehicle.X_train, segment.X_train, segment.X_test)} == {
        np.dtype(np.float64)
    }
    assert {y.dtype for y in (vehicle.y_train, segment.y_test)} == {np.dtype(int)}
    assert np.isfinite(vehicle.X_train).all()


def test_unknown_name_lists_the_names():
    with pytest.raises(
        InvalidParameterError, match=r"`name` must be one of 'sonar', .*'poker'; got 'iris'"
    ):
        load_dataset("iris")


@pytest.fixture
def empty_cache(monkeypatch, tmp_path):
    """Point scikit-learn's data folder, and so the cache, at an empty one."""
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path / "home"))
    return tmp_path / "home" / "skauc"


@pytest.mark.parametrize("value", [None, ""])
def test_folder_not_named(monkeypatch, empty_cache, value):
    monkeypatch.delenv("SKAUC_DATA", raising=False)
    if value is not None:
        monkeypatch.setenv("SKAUC_DATA", value)
    with pytest.raises(
        FileNotFoundError, match=r"no file sonar.npz in .*home/skauc. Downloading is"
    ):
        load_dataset("sonar", download=False)


def test_missing_file_is_named(monkeypatch, empty_cache, tmp_path):
    monkeypatch.setenv("SKAUC_DATA", str(tmp_path))
    with pytest.raises(
        FileNotFoundError,
        match=r"no file sonar.npz in .* or .*skauc. .* Set SKAUC_DATA to a folder that holds",
    ):
        load_dataset("sonar", download=False)


def test_the_cache_is_looked_in(monkeypatch, empty_cache, data_folder):
    empty_cache.mkdir(parents=True)
    shutil.copy(data_folder / "sonar.npz", empty_cache)
    monkeypatch.delenv("SKAUC_DATA")
    assert load_dataset("sonar", download=False).X_train.shape == (208, 60)


def test_changed_file_is_refused(monkeypatch, tmp_path):
    monkeypatch.setenv("SKAUC_DATA", str(tmp_path))
    np.savez(tmp_path / "sonar.npz", X_train=np.zeros((2, 1)), y_train=np.array([1, -1]))
    with pytest.raises(
        InvalidDataError,
        match=r"SHA-256 of the arrays in .*sonar.npz must be 9fa615.*; got .* is not used",
    ):
        load_dataset("sonar")


def test_damaged_file_is_refused(monkeypatch, tmp_path, data_folder):
    whole = (data_folder / "sonar.npz").read_bytes()
    monkeypatch.setenv("SKAUC_DATA", str(tmp_path))
    for damaged in (whole[: len(whole) // 2], whole[:5000] + b"x" * 50 + whole[5050:], b""):
        (tmp_path / "sonar.npz").write_bytes(damaged)
        with pytest.raises(InvalidDataError, match=r"sonar.npz is not a whole NumPy archive: "):
            load_dataset("sonar")


@pytest.mark.usefixtures("data_folder")
@pytest.mark.parametrize("name", DATASET_NAMES)
def test_the_catalogue_says_what_is_loaded(name):
    info, dataset = CATALOGUE[name], load_dataset(name)
    assert (info.n_train, info.n_features) == dataset.X_train.shape
    assert info.n_positive == np.sum(dataset.y_train == 1)
    assert info.n_test == (0 if dataset.y_test is None else len(dataset.y_test))
    assert info.ratio == pytest.approx(np.mean(dataset.y_train < 0) / np.mean(dataset.y_train > 0))
    assert all(url.startswith("https://") for url in info.train_urls + info.test_urls)
