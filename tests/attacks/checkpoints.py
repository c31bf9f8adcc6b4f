"""Attack: resume a fit from a checkpoint that is damaged or belongs to another fit.

The fit must end with the model of an undisturbed fit, or with a clear error that names the file.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_classification

from skauc import Selection, SparseKernelAUC
from tests.attacks.byte_damage import DAMAGE, REARRANGEMENTS, make_archive, split_archive
from tests.attacks.judging import demand, is_clear, quiet_or_clear, random_for

NAME = "checkpoints"
SETTINGS = (
    {"selection": Selection(n_candidates=30)},
    {"linear_term": True, "gamma": [0.02, 0.2], "C": 3.0},
    {
        "selection": Selection("greedy", n_candidates=30, retrain="doubling"),
        "kernel": "polynomial",
        "degree": 2,
    },
    {"scaling": "rank", "kernel": "laplacian"},
    {"early_stopping": True},
    {"refine": True},
    {"refine": 3, "linear_term": True, "C": 0.5},
)
CUTS = (2, 5, 10)
OTHER_PARAMETERS = (
    {"C": 0.9},
    {"gamma": 0.3},
    {"n_basis": 11},
    {"random_state": 1},
    {"tol": 1e-5},
    {"selection": Selection(n_candidates=33, retrain="geometric")},
    {"selection": Selection(n_candidates=30, retrain="geometric", max_iter=50)},
    {"selection": Selection(n_candidates=30, retrain="always")},
    {"selection": "random"},
)


class CutOffError(Exception):
    """The end of a process, say."""


class CutOff:
    """A callback that ends a fit after a number of centres."""

    def __init__(self, n_centres: int):
        self.n_left = n_centres

    def __call__(self, model, n_done, n_tasks):
        self._count()

    def setup(self, estimator, context):
        """Do nothing."""

    def on_fit_task_begin(self, estimator, context):
        """Do nothing."""

    def on_fit_task_end(self, estimator, context, *, fitted_estimator=None):
        """Count the centres."""
        if context.parent is not None:
            self._count()

    def teardown(self, estimator, context):
        """Do nothing."""

    def _count(self):
        self.n_left -= 1
        if self.n_left == 0:
            raise CutOffError


class Attack:
    """One resumed fit per case."""

    def __init__(self, folder: Path, seed: int):
        self.kind, self._seed, self._path = "", seed, folder / "fit.checkpoint"
        self._X, self._y = make_classification(
            120, 4, weights=[0.6], class_sep=0.5, flip_y=0.2, random_state=seed
        )
        self._weights = np.random.default_rng(seed).integers(1, 4, 120).astype(float)
        self._contents: dict[tuple[int, int, bool], bytes] = {}
        self._models: dict[tuple[int, bool], SparseKernelAUC] = {}
        self._content(0, 5, False)  # compile

    def run(self, case: int) -> str:
        """Damage a checkpoint, or use it for another fit."""
        rng = random_for(NAME, self._seed, case)
        setting = case % len(SETTINGS)
        is_sparse = setting in (0, 1) and rng.random() < 0.2
        content = self._content(setting, int(rng.choice(CUTS)), is_sparse)
        if rng.random() < 0.1:
            return self._undamaged(content, setting, is_sparse)
        acts = (self._damaged, self._damaged, self._rearranged, self._other_fit)
        return acts[rng.integers(len(acts))](content, setting, is_sparse, rng)

    def _model(self, setting: int) -> SparseKernelAUC:
        selection = Selection(n_candidates=30, retrain="geometric")
        parameters = {"selection": selection, **SETTINGS[setting]}
        return SparseKernelAUC(16, random_state=0, **parameters)

    def _rows(self, is_sparse: bool):
        if not is_sparse:
            return self._X
        return sparse.csr_array(np.where(np.abs(self._X) > 0.5, self._X, 0.0))

    def _content(self, setting: int, cut: int, is_sparse: bool) -> bytes:
        """Return the checkpoint of a fit that was cut off."""
        key = (setting, cut, is_sparse)
        if key not in self._contents:
            self._contents[key] = self._new_content(*key)
        return self._contents[key]

    def _new_content(self, setting: int, cut: int, is_sparse: bool) -> bytes:
        """Cut a fit off, and see that it goes on from an undamaged checkpoint."""
        self._path.unlink(missing_ok=True)
        model = self._model(setting).set_params(checkpoint=self._path)
        try:
            clone(model).set_callbacks(CutOff(cut)).fit(self._rows(is_sparse), self._y)
        except CutOffError:
            content = self._path.read_bytes()
        else:  # a model that needs no more centres
            return self._content(setting, cut - 1, is_sparse)
        resumed = model.fit(self._rows(is_sparse), self._y)
        self._demand_same(resumed, self._expected(setting, is_sparse), "an undamaged checkpoint")
        return content

    def _expected(self, setting: int, is_sparse: bool) -> SparseKernelAUC:
        """Return the model of an undisturbed fit."""
        key = (setting, is_sparse)
        if key not in self._models:
            self._models[key] = self._model(setting).fit(self._rows(is_sparse), self._y)
        return self._models[key]

    def _undamaged(self, content: bytes, setting: int, is_sparse: bool) -> str:
        self.kind = f"{SETTINGS[setting]}, undamaged"
        outcome = self._resumed(content, setting, is_sparse)
        demand("refused" not in outcome, f"an undamaged checkpoint is {outcome}")
        demand(not self._path.exists(), "the checkpoint of a finished fit is still there")
        return outcome

    def _damaged(self, content: bytes, setting: int, is_sparse: bool, rng) -> str:
        damage = DAMAGE[rng.integers(len(DAMAGE))]
        self.kind = f"{SETTINGS[setting]}, {damage.__name__}"
        return self._resumed(damage(content, rng), setting, is_sparse)

    def _rearranged(self, content: bytes, setting: int, is_sparse: bool, rng) -> str:
        rearrange = REARRANGEMENTS[rng.integers(len(REARRANGEMENTS))]
        self.kind = f"{SETTINGS[setting]}, {rearrange.__name__}"
        start, members = split_archive(content)
        members = rearrange(members, rng)
        return self._resumed(start + make_archive(members, rng), setting, is_sparse)

    def _resumed(self, content: bytes, setting: int, is_sparse: bool) -> str:
        self._path.write_bytes(content)
        model = self._model(setting).set_params(checkpoint=self._path)
        expected = self._expected(setting, is_sparse)
        return self._fitted(model, expected, self._rows(is_sparse), self._y, None)

    def _other_fit(self, content: bytes, setting: int, is_sparse: bool, rng) -> str:
        """Resume with other rows, labels, weights or parameters."""
        self._path.write_bytes(content)
        model, rows, y, weights = self._model(setting), self._rows(is_sparse), self._y, None
        what = ("rows", "order", "labels", "weights", "parameters", "a cell")[rng.integers(6)]
        self.kind = f"{SETTINGS[setting]}, other {what}"
        if what == "rows":
            rows = rows[::-1] * 1.0
        elif what == "order":
            order = rng.permutation(len(y))
            rows, y = rows[order], y[order]
        elif what == "labels":
            y = y.copy()
            y[rng.integers(len(y), size=rng.integers(1, 9))] ^= 1
        elif what == "weights":
            weights = self._weights
        elif what == "parameters":
            model.set_params(**OTHER_PARAMETERS[rng.integers(len(OTHER_PARAMETERS))])
        else:
            rows = rows.toarray() if sparse.issparse(rows) else rows.copy()
            rows[rng.integers(len(y)), rng.integers(4)] += 1e-3
            rows = sparse.csr_array(rows) if is_sparse else rows
        expected = clone(model).fit(rows, y, sample_weight=weights)
        model.set_params(checkpoint=self._path)
        return self._fitted(model, expected, rows, y, weights)

    def _fitted(self, model, expected, rows, y, weights) -> str:
        try:
            with quiet_or_clear():
                model.fit(rows, y, sample_weight=weights)
        except Exception as error:
            if not is_clear(error):
                raise
            demand(self._path.name in str(error), f"the error does not name the file: {error}")
            return f"refused with {type(error).__name__}"
        self._demand_same(model, expected, "the checkpoint")
        return "the model of an undisturbed fit"

    def _demand_same(self, model, expected, what: str) -> None:
        rows = self._X
        if sparse.issparse(expected.basis_vectors_):
            rows = sparse.csr_array(rows)
        demand(
            np.array_equal(model.basis_indices_, expected.basis_indices_),
            f"{what} gives other centres than an undisturbed fit",
        )
        scores, others = model.decision_function(rows), expected.decision_function(rows)
        worst = float(np.max(np.abs(scores - others)))
        demand(worst <= 1e-9 * np.ptp(others), f"{what} gives scores that differ by {worst}")
        sizes = [[record.n_basis for record in each.path_] for each in (model, expected)]
        demand(sizes[0] == sizes[1], f"{what} gives the path {sizes[0]}, not {sizes[1]}")
