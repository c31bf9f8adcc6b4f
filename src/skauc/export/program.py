"""A fitted pipeline as plain tables, from which every language is written.

A program reads the columns of a table, turns them into features, and scores the features:

1. `TableColumn`: what the user's table holds.
2. Blocks (`Values`, `Dates`, `MissingFlags`, `Steps`, `Levels`, `Codes`, `Words`): columns to
   features.
3. Stages (`Fill`, `Affine`, `InverseSinh`, `SmoothClip`, `Logarithm`, `Ranks`): features to
   features, each on its own.
4. ``axes``: an optional rotation of all features.
5. `Expansion`: the score. `Sigmoid` or `PiecewiseLinear`: the probability. ``threshold``: the
   label.

A new preprocessing step is a block or a stage here, one case in `reading.py`, and one function in
each language. A new kernel is a ``shape`` of the expansion.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, replace
from typing import ClassVar, TypeAlias

import numpy as np

from skauc.explain.ridges import MOST_JOINT_COLUMNS
from skauc.preprocessing.steps import DAY


@dataclass(frozen=True)
class TableColumn:
    """A column of the user's table.

    Attributes
    ----------
    name : str
        The name.
    kind : str
        "numeric", "boolean", "date", "category" or "text".
    levels : tuple of str
        The levels of a category in the order of their code points, or the words of a text.
    may_be_missing : bool
        Whether the model takes a missing value.
    low, high : float
        A usual range of numbers and dates.
    typical : float or str or None
        A usual value.
    rules : tuple of str
        How levels are written, where the cells of a table may be written otherwise.
    """

    name: str
    kind: str
    levels: tuple[str, ...] = ()
    may_be_missing: bool = True
    low: float = -3.0
    high: float = 3.0
    typical: float | str | None = 0.0
    rules: tuple[str, ...] = ()

    @property
    def is_text(self) -> bool:
        """Whether the values are strings."""
        return self.kind in ("category", "text")

    @property
    def is_whole(self) -> bool:
        """Whether the usual values are integers."""
        numbers = (self.low, self.high, self.typical)
        return all(float(number).is_integer() for number in numbers)  # type: ignore[arg-type]


# -- blocks: columns to features --------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Values:
    """The numbers of columns, NaN if missing; truth values are 0 and 1."""

    word: ClassVar[str] = "values"
    columns: tuple[int, ...]

    @property
    def width(self) -> int:
        """Number of features."""
        return len(self.columns)


@dataclass(frozen=True, eq=False)
class Dates:
    """Scaled days, and the sine and cosine of phases, of one column of seconds since 1970.

    Days are scaled here, because float32 cannot hold them before.
    """

    word: ClassVar[str] = "dates"
    column: int
    fill: float
    shift: float
    scale: float
    periods: tuple[float, ...]

    @property
    def width(self) -> int:
        """Number of features."""
        return 1 + 2 * len(self.periods)


@dataclass(frozen=True, eq=False)
class MissingFlags:
    """1 if the value of a column is missing, else 0."""

    word: ClassVar[str] = "missing"
    columns: tuple[int, ...]

    @property
    def width(self) -> int:
        """Number of features."""
        return len(self.columns)


@dataclass(frozen=True, eq=False)
class Steps:
    """A number for each interval (.., e_1], ..., (e_k, ..) of a column, and one for a gap."""

    word: ClassVar[str] = "steps"
    column: int
    edges: np.ndarray
    values: np.ndarray
    missing: float
    width: int = 1


@dataclass(frozen=True, eq=False)
class Levels:
    """One feature per level of a category: 1 if the value is that level, else 0."""

    word: ClassVar[str] = "levels"
    column: int
    width: int


@dataclass(frozen=True, eq=False)
class Codes:
    """One number for each level of a category, and one for every other value."""

    word: ClassVar[str] = "codes"
    column: int
    values: np.ndarray
    other: float
    width: int = 1


@dataclass(frozen=True, eq=False)
class Words:
    """One feature per word: 1 if the text has it, else 0."""

    word: ClassVar[str] = "words"
    column: int
    width: int


FeatureBlock: TypeAlias = Values | Dates | MissingFlags | Steps | Levels | Codes | Words


# -- stages: features to features -------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Fill:
    """Replace missing values."""

    word: ClassVar[str] = "fill"
    values: np.ndarray


@dataclass(frozen=True, eq=False)
class Affine:
    """(x - shift) / scale."""

    word: ClassVar[str] = "affine"
    shift: np.ndarray
    scale: np.ndarray

    @property
    def is_identity(self) -> bool:
        """Whether all features stay as they are."""
        return not self.shift.any() and bool((self.scale == 1.0).all())


@dataclass(frozen=True, eq=False)
class InverseSinh:
    """arcsinh(x)."""

    word: ClassVar[str] = "arcsinh"


@dataclass(frozen=True, eq=False)
class SmoothClip:
    """x / sqrt(1 + (x / limit)^2), after x is clipped to ``farthest``."""

    word: ClassVar[str] = "clip"
    limit: float
    farthest: float


@dataclass(frozen=True, eq=False)
class Logarithm:
    """log(max(x, least) + offset) of the features that are chosen."""

    word: ClassVar[str] = "log"
    chosen: np.ndarray
    least: np.ndarray
    offset: np.ndarray


@dataclass(frozen=True, eq=False)
class PiecewiseLinear:
    """A piecewise linear function, constant before the first and after the last knot."""

    word: ClassVar[str] = "curve"
    knots: np.ndarray
    levels: np.ndarray

    @classmethod
    def through(cls, knots: np.ndarray, levels: np.ndarray) -> PiecewiseLinear:
        """Return the curve without repeated knots."""
        kept = np.append(np.diff(knots) > 0, True)
        return cls(knots[kept], levels[kept])

    @property
    def steepest(self) -> float:
        """The largest slope."""
        return float(np.max(np.abs(np.diff(self.levels) / np.diff(self.knots)), initial=0.0))


@dataclass(frozen=True, eq=False)
class Ranks:
    """One curve per feature, between ranks at its knots, or between the images of these ranks.

    The levels of ``curves`` are integers. If there are ``images``, they are places in this table.
    ``steepest`` is the largest change of a standardised image by a relative change of a value.
    """

    word: ClassVar[str] = "ranks"
    curves: tuple[PiecewiseLinear, ...]
    steepest: float
    images: np.ndarray | None = None

    @property
    def plain(self) -> tuple[PiecewiseLinear, ...]:
        """The curves with images for levels."""
        if self.images is None:
            return self.curves
        return tuple(PiecewiseLinear(c.knots, self.images[c.levels]) for c in self.curves)


Operation: TypeAlias = Fill | Affine | InverseSinh | SmoothClip | Logarithm | Ranks


@dataclass(frozen=True, eq=False)
class ColumnwiseStage:
    """An operation on the features from ``start`` up to ``stop``."""

    start: int
    stop: int
    operation: Operation


# -- the score, the probability and the label ---------------------------------------------------


@dataclass(frozen=True, eq=False)
class Expansion:
    """linear.z + sum_m coef_m k(z, c_m) + intercept.

    The kernel is exp(-e) for the shapes "gaussian", e = ratio_m sum_j weight_j (z_j - c_mj)^2, and
    "laplacian", e = ratio_m sum_j weight_j |z_j - c_mj|. For the shape "polynomial" it is
    (sum_j weight_j z_j c_mj + offset)^degree. Centres of the shape "local" have weights of their
    own, e = sum_j (weight_mj (z_j - c_mj))^2, and those that are ``ridges`` have
    e = (sum_j weight_mj (z_j - c_mj))^2.
    """

    shape: str
    centres: np.ndarray
    coef: np.ndarray
    weights: np.ndarray
    ratios: np.ndarray | None
    linear: np.ndarray | None
    intercept: float
    offset: float = 0.0
    degree: int = 1
    ridges: np.ndarray | None = None


@dataclass(frozen=True)
class Sigmoid:
    """The probability 1 / (1 + exp(slope * score + offset))."""

    word: ClassVar[str] = "sigmoid"
    slope: float
    offset: float

    @property
    def steepest(self) -> float:
        """The largest change of the probability per change of the score."""
        return abs(self.slope) / 4.0


@dataclass(frozen=True)
class Label:
    """Labels 0 and 1, and the threshold of the probability or, if there is none, the score.

    A value above the threshold gives label 1. So does the threshold itself if ``is_included``.
    """

    names: tuple
    threshold: float
    is_included: bool


@dataclass(frozen=True, eq=False)
class SelfTest:
    """Rows in the order of the columns, with None for a missing value, and their scores."""

    rows: tuple[tuple, ...]
    scores: np.ndarray


@dataclass(frozen=True, eq=False)
class Program:
    """A fitted pipeline.

    ``label`` is None for a model of more than two grades. ``digest`` is a SHA-256 of all numbers
    and strings of the model, before they are rounded for a language.
    """

    columns: tuple[TableColumn, ...]
    blocks: tuple[FeatureBlock, ...]
    stages: tuple[ColumnwiseStage, ...]
    axes: np.ndarray | None
    expansion: Expansion
    calibration: Sigmoid | PiecewiseLinear | None
    label: Label | None
    model: str
    version: str
    digest: str = ""
    test: SelfTest | None = None

    @property
    def n_features(self) -> int:
        """Number of features."""
        return sum(block.width for block in self.blocks)

    @property
    def starts(self) -> list[int]:
        """The first feature of each block."""
        return np.cumsum([0, *(block.width for block in self.blocks)])[:-1].tolist()

    @property
    def has_exact_shares(self) -> bool:
        """Whether exported programs compute exact Shapley values of the columns."""
        expansion = self.expansion
        if self.axes is not None or (expansion.shape == "polynomial" and len(expansion.coef)):
            return False
        if expansion.ridges is None:
            return True
        columns = np.array(self.columns_of_features())
        used = (columns[weights != 0] for weights in expansion.weights[expansion.ridges])
        return all(len(np.unique(each)) <= MOST_JOINT_COLUMNS for each in used)

    def columns_of_features(self) -> list[int]:
        """Return the column that each feature is made of."""
        return [place for block in self.blocks for place, _ in _endings(block, self.columns)]

    def feature_names(self) -> list[str]:
        """Return a readable name of each feature before the rotation."""
        return [
            f"{self.columns[place].name}{ending}"
            for block in self.blocks
            for place, ending in _endings(block, self.columns)
        ]

    def spelling_notes(self) -> list[str]:
        """Return sentences on columns whose levels are written in one of several ways."""
        return [
            f"{column.name}: {rule}. Other spellings are unknown levels."
            for column in self.columns
            for rule in column.rules
        ]

    def provenance(self) -> list[tuple[str, str]]:
        """Return where the program comes from, as names and values."""
        expansion = self.expansion
        return [
            ("exported by", f"skauc {self.version}"),
            ("model", self.model),
            ("SHA-256", self.digest),
            ("columns", str(len(self.columns))),
            ("features", str(self.n_features)),
            ("centres", str(len(expansion.coef))),
        ]


def with_digest(program: Program) -> Program:
    """Return the program with its digest, which does not depend on the version of skauc."""
    content = asdict(replace(program, version="", digest=""))
    text = json.dumps(content, sort_keys=True, default=_plain)
    return replace(program, digest=hashlib.sha256(text.encode()).hexdigest())


def _endings(block: FeatureBlock, columns: tuple[TableColumn, ...]) -> list[tuple[int, str]]:
    """Return the column of each feature of a block, and what distinguishes the feature."""
    if isinstance(block, Values | MissingFlags):
        ending = "" if isinstance(block, Values) else " is missing"
        return [(place, ending) for place in block.columns]
    if isinstance(block, Dates):
        days = (f"{period / DAY:g} days" for period in block.periods)
        phases = [f", {part} of {each}" for each in days for part in ("sine", "cosine")]
        return [(block.column, ending) for ending in (" in days", *phases)]
    if isinstance(block, Codes | Steps):
        return [(block.column, " by code" if isinstance(block, Codes) else " by interval")]
    sign = "=" if isinstance(block, Levels) else "has"
    return [(block.column, f" {sign} {level}") for level in columns[block.column].levels]


def _plain(value):
    return value.tolist() if hasattr(value, "tolist") else str(value)
