"""The paper's data sets: what a loaded one holds, and what is said when it cannot be loaded."""

import os
from pathlib import Path

import numpy as np
import pytest

from skauc.datasets import DATASET_NAMES, load_dataset
from skauc.exceptions import InvalidDataError, InvalidParameterError

BESIDE_REPOSITORY = Path(__file__).resolve().parents[3] / "shared" / "data"

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


@pytest.fixture
def data_folder(monkeypatch):
    """Point SKAUC_DATA at the data, or skip."""
    if "SKAUC_DATA" in os.environ:
        return
    if not BESIDE_REPOSITORY.is_dir():
        pytest.skip(f"no data: SKAUC_DATA is not set and {BESIDE_REPOSITORY} does not exist")
    monkeypatch.setenv("SKAUC_DATA", str(BESIDE_REPOSITORY))


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


@pytest.mark.parametrize("value", [None, ""])
def test_folder_not_named(monkeypatch, value):
    monkeypatch.delenv("SKAUC_DATA", raising=False)
    if value is not None:
        monkeypatch.setenv("SKAUC_DATA", value)
    with pytest.raises(
        FileNotFoundError, match=r"SKAUC_DATA is not set. Set it to the folder that holds the data"
    ):
        load_dataset("sonar")


def test_missing_file_is_named(monkeypatch, tmp_path):
    monkeypatch.setenv("SKAUC_DATA", str(tmp_path))
    with pytest.raises(FileNotFoundError, match=r"no file .*sonar.npz. Copy sonar.npz there, or"):
        load_dataset("sonar")


def test_changed_file_is_refused(monkeypatch, tmp_path):
    monkeypatch.setenv("SKAUC_DATA", str(tmp_path))
    np.savez(tmp_path / "sonar.npz", X_train=np.zeros((2, 1)), y_train=np.array([1, -1]))
    with pytest.raises(
        InvalidDataError, match=r"SHA-256 of .*sonar.npz must be dc2b14.*; got .* replace it"
    ):
        load_dataset("sonar")
