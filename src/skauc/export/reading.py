"""Read a fitted pipeline as a `Program`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler

import skauc
from skauc.exceptions import InvalidParameterError
from skauc.export.program import (
    Affine,
    Codes,
    ColumnwiseStage,
    Dates,
    Expansion,
    FeatureBlock,
    Fill,
    InverseSinh,
    Label,
    Levels,
    Logarithm,
    MissingFlags,
    Operation,
    PiecewiseLinear,
    Program,
    Ranks,
    Sigmoid,
    SmoothClip,
    Steps,
    TableColumn,
    Values,
    Words,
    with_digest,
)
from skauc.kernels import RBF, Laplacian, Linear, Polynomial, as_dense
from skauc.model import Model
from skauc.preprocessing import ArcSinh as ArcSinhStep
from skauc.preprocessing import TablePreprocessor
from skauc.preprocessing.column_statistics import scaled
from skauc.preprocessing.parts import (
    BooleanPart,
    DatePart,
    LevelsPart,
    MissingPart,
    NumericPart,
    StepsPart,
    TargetPart,
    WordsPart,
    build_parts,
)
from skauc.preprocessing.spelling import rules_of_spelling
from skauc.preprocessing.steps import PERIODS
from skauc.scalings import CLIP_LIMIT, FARTHEST, ClipScaling, LogScaling, RankScaling, Scaling
from skauc.shaped_rbf import ShapedRBF
from skauc.unwrapping import UnwrappedModel, layers_of, unwrap_single


def read_program(model, labels: tuple | None = None) -> Program:
    """Return the program of a fitted model, without ranges of its columns and without a test."""
    opened = unwrap_single(
        model, "exported as source", "Use its own library or m2cgen for other models."
    )
    builder = _Builder()
    first, steps = _first_step(opened)
    if isinstance(first, TablePreprocessor):
        builder.add_table(first)
    else:
        builder.add_array(opened, model)
    for step in steps:
        builder.add_step(step)
    expansion = _expansion(opened.classifier._model)
    scaling = opened.classifier._model.scaling
    if scaling is not None and scaling.by_feature is not None:
        for operation in _by_feature(scaling.by_feature):
            builder.stage(operation)
    program = Program(
        columns=tuple(builder.columns),
        blocks=tuple(builder.blocks),
        stages=tuple(builder.stages),
        axes=None if scaling is None else scaling.axes,
        expansion=expansion,
        calibration=_calibration(opened.calibrator),
        label=_label(opened, model.classes_, labels),
        model=" > ".join(_names_of(model, opened)),
        version=skauc.__version__,
    )
    return with_digest(program)


def _names_of(model, opened: UnwrappedModel) -> Iterator[str]:
    """Yield the classes of the wrappers, the steps and the classifier."""
    wrappers = [layer for layer in layers_of(model) if not hasattr(layer, "steps")]
    yield from (type(layer).__name__ for layer in wrappers[:-1])
    yield from (type(step).__name__ for step in opened.steps)
    yield type(opened.classifier).__name__


def _first_step(opened: UnwrappedModel) -> tuple:
    """Return the preprocessor of a table or None, and all other steps."""
    if opened.steps and isinstance(opened.steps[0], TablePreprocessor):
        return opened.steps[0], opened.steps[1:]
    return None, opened.steps


@dataclass
class _Builder:
    """Columns, blocks and stages, in the order in which they are read."""

    columns: list[TableColumn] = field(default_factory=list)
    blocks: list[FeatureBlock] = field(default_factory=list)
    stages: list[ColumnwiseStage] = field(default_factory=list)

    def add_table(self, step: TablePreprocessor) -> None:
        """Add the columns and parts of a table."""
        parts = build_parts(step.parts_)
        levels: dict[str, tuple[str, ...]] = {}
        for part in parts:
            if isinstance(part, LevelsPart | TargetPart | WordsPart):
                each = part.words if isinstance(part, WordsPart) else part.levels
                named = zip(part.columns, each, strict=True)
                levels |= {name: tuple(map(str, known)) for name, known in named}
        for name, kind in step.columns_.items():
            known = levels.get(name, ())
            rules = rules_of_spelling(known, step.forms_.get(name)) if kind == "category" else ()
            self.columns.append(TableColumn(name, kind, known, rules=tuple(rules)))
        for part in parts:
            _PARTS[type(part)](self, part)

    def add_array(self, opened: UnwrappedModel, model) -> None:
        """Add the columns of an array of numbers. Only an imputer takes missing values."""
        names = opened.input_names(model)
        has_gaps = any(isinstance(step, SimpleImputer) for step in opened.steps)
        self.columns += [TableColumn(name, "numeric", may_be_missing=has_gaps) for name in names]
        self.blocks.append(Values(tuple(range(len(names)))))

    def add_step(self, step) -> None:
        """Add a transformer of all features."""
        read = _STEPS.get(type(step))
        if read is None:
            known = ", ".join(sorted(kind.__name__ for kind in _STEPS))
            raise InvalidParameterError(
                f"The step {type(step).__name__} cannot be exported as source. Use a "
                f"TablePreprocessor as the first step or one of {known}, or export to ONNX."
            )
        for operation in read(step):
            self.stage(operation)

    def stage(self, operation: Operation, width: int | None = None) -> None:
        """Add an operation on the last features, or on all of them, unless it changes nothing."""
        if isinstance(operation, Affine) and operation.is_identity:
            return
        stop = sum(block.width for block in self.blocks)
        self.stages.append(ColumnwiseStage(0 if width is None else stop - width, stop, operation))

    def places(self, names: list[str]) -> tuple[int, ...]:
        """Return the indices of columns."""
        known = [column.name for column in self.columns]
        return tuple(map(known.index, names))


# -- parts of a table -------------------------------------------------------------------------


def _numeric(builder: _Builder, part: NumericPart) -> None:
    _filled(builder, part)
    median, spread, mean, deviation = part.scaling
    for operation in (Affine(median, spread), InverseSinh(), Affine(mean, deviation)):
        builder.stage(operation, len(part.columns))


def _filled(builder: _Builder, part: NumericPart | BooleanPart) -> None:
    builder.blocks.append(Values(builder.places(part.columns)))
    builder.stage(Fill(part.fill), len(part.columns))


def _dates(builder: _Builder, part: DatePart) -> None:
    """Scale days in the block; the stages after it scale the phases, and tame and scale all."""
    median, spread, mean, deviation = part.scaling.copy()
    places, width = builder.places(part.columns), 0
    for place, fill, phases in zip(places, part.fill, part.phases, strict=True):
        periods = tuple(PERIODS[phase] for phase in phases)
        days = Dates(place, float(fill), float(median[width]), float(spread[width]), periods)
        median[width], spread[width] = 0.0, 1.0
        builder.blocks.append(days)
        width += days.width
    for operation in (Affine(median, spread), InverseSinh(), Affine(mean, deviation)):
        builder.stage(operation, width)


def _missing(builder: _Builder, part: MissingPart) -> None:
    builder.blocks.append(MissingFlags(builder.places(part.columns)))


def _steps(builder: _Builder, part: StepsPart) -> None:
    functions = zip(builder.places(part.columns), part.functions().values(), strict=True)
    builder.blocks += [
        Steps(place, steps.edges, steps.numbers, steps.missing) for place, steps in functions
    ]


def _levels(builder: _Builder, part: LevelsPart) -> None:
    named = zip(builder.places(part.columns), part.levels, strict=True)
    builder.blocks += [Levels(place, len(levels)) for place, levels in named]


def _codes(builder: _Builder, part: TargetPart) -> None:
    """Scale the codes once, instead of for each row."""
    places = builder.places(part.columns)
    for place, encodings, scaling in zip(places, part.encodings, part.scaling.T, strict=True):
        *values, other = scaled(np.append(encodings, part.mean), scaling).tolist()
        builder.blocks.append(Codes(place, np.array(values), other))


def _words(builder: _Builder, part: WordsPart) -> None:
    named = zip(builder.places(part.columns), part.words, strict=True)
    builder.blocks += [Words(place, len(words)) for place, words in named]


_PARTS: dict[type, Callable] = {
    NumericPart: _numeric,
    BooleanPart: _filled,
    DatePart: _dates,
    MissingPart: _missing,
    StepsPart: _steps,
    LevelsPart: _levels,
    TargetPart: _codes,
    WordsPart: _words,
}


# -- steps of scikit-learn --------------------------------------------------------------------


def _imputer(step: SimpleImputer) -> list[Operation]:
    fill = np.asarray(step.statistics_, dtype=object)
    is_plain = not step.add_indicator and step.missing_values != step.missing_values
    if not is_plain or not all(isinstance(each, float) and each == each for each in fill.tolist()):
        raise InvalidParameterError(
            "The step SimpleImputer cannot be exported as source unless it replaces NaN in every "
            f"column by a number; got {step!r}. Set missing_values=np.nan and add_indicator=False, "
            "leave out empty columns, or use a TablePreprocessor."
        )
    return [Fill(fill.astype(np.float64))]


def _centred(step: StandardScaler | RobustScaler) -> list[Operation]:
    shift = step.mean_ if isinstance(step, StandardScaler) else step.center_
    has_shift = step.with_mean if isinstance(step, StandardScaler) else step.with_centering
    n_features = step.n_features_in_
    scale = np.ones(n_features) if step.scale_ is None else step.scale_
    return [Affine(np.asarray(shift if has_shift else np.zeros(n_features)), np.asarray(scale))]


def _ranged(step: MinMaxScaler) -> list[Operation]:
    if step.clip:
        raise InvalidParameterError(
            "The step MinMaxScaler cannot be exported as source with clip=True. Set clip=False."
        )
    return [Affine(-step.min_ / step.scale_, 1.0 / step.scale_)]


_STEPS: dict[type, Callable] = {
    SimpleImputer: _imputer,
    StandardScaler: _centred,
    RobustScaler: _centred,
    MinMaxScaler: _ranged,
    MaxAbsScaler: lambda step: [Affine(np.zeros(len(step.scale_)), step.scale_)],
    ArcSinhStep: lambda step: [InverseSinh()],
}


# -- the model --------------------------------------------------------------------------------


def _by_feature(scaling: Scaling) -> list[Operation]:
    """Return the maps of ``scaling``."""
    if isinstance(scaling, ClipScaling):
        return [Affine(scaling.middle, scaling.width), SmoothClip(CLIP_LIMIT, FARTHEST)]
    if isinstance(scaling, LogScaling):
        logarithm = Logarithm(scaling.is_log, scaling.least, scaling.offset)
        return [logarithm, Affine(scaling.mean, scaling.deviation)]
    return _ranks(scaling)


def _ranks(ranks: RankScaling) -> list[Operation]:
    """Return the curves. Ranks are integers first and scaled after, which needs few digits."""
    standardised = _curves(ranks.knots, ranks.levels)
    steepest = max(curve.steepest * float(np.abs(curve.knots).max()) for curve in standardised)
    if ranks.word == "rank":
        n_half_steps = 2.0 * (len(ranks.knots) - 1)
        scaling = Affine(n_half_steps * ranks.mean, n_half_steps * ranks.deviation)
        curves = _curves(ranks.knots, ranks.half_steps.astype(np.int64))
        return [Ranks(curves, steepest), scaling]
    used, places = np.unique(ranks.half_steps, return_inverse=True)
    curves = _curves(ranks.knots, places.reshape(ranks.half_steps.shape))
    return [Ranks(curves, steepest, ranks.images[used]), Affine(ranks.mean, ranks.deviation)]


def _curves(knots: np.ndarray, levels: np.ndarray) -> tuple[PiecewiseLinear, ...]:
    return tuple(map(PiecewiseLinear.through, knots.T, levels.T))


def _expansion(model: Model) -> Expansion:
    """Return the score in the units that the kernel sees."""
    kernel, centres, coef, linear = model.kernel, as_dense(model.centres), model.coef, None
    if model.linear_coef is not None:
        linear = np.asarray(model.linear_coef, dtype=np.float64)
    if isinstance(kernel, Linear):  # centres of a linear kernel are one vector
        slopes = centres.T @ coef
        linear = slopes if linear is None else linear + slopes
        centres, coef = centres[:0], coef[:0]
    shape, weights, ratios = _shape(kernel, len(coef), centres.shape[1])
    offset = float(getattr(kernel, "coef0", 0.0))
    degree = int(getattr(kernel, "degree", 1))
    is_ridge = getattr(kernel, "is_ridge", np.zeros(0, bool))
    ridges = is_ridge if is_ridge.any() else None
    intercept = float(model.intercept)
    return Expansion(
        *(shape, centres, coef, weights, ratios, linear, intercept, offset, degree, ridges)
    )


def _shape(kernel, n_centres: int, n_features: int) -> tuple[str, np.ndarray, np.ndarray | None]:
    """Return the shape, the weights of the features, and the relative widths of the centres."""
    weights = np.ones(n_features)
    if isinstance(kernel, Linear):
        return "gaussian", weights, None
    if isinstance(kernel, RBF):
        weights = weights if kernel.scales is None else np.asarray(kernel.scales, float) ** 2
        largest = float(np.max(kernel.gamma))
        ratios = np.broadcast_to(kernel.gamma / largest, n_centres)
        return "gaussian", weights * largest, None if np.all(ratios == 1) else ratios
    if isinstance(kernel, ShapedRBF):
        return "local", kernel.metric, None
    if isinstance(kernel, Laplacian):
        return "laplacian", weights * kernel.gamma, None
    if isinstance(kernel, Polynomial):
        return "polynomial", weights * kernel.gamma, None
    raise InvalidParameterError(
        "A model whose `kernel` is a function cannot be exported as source. Use one of the kernels "
        "rbf, laplacian, polynomial and linear."
    )


def _calibration(calibrator) -> Sigmoid | PiecewiseLinear | None:
    """Return how scores become probabilities."""
    if calibrator is None:
        return None
    if hasattr(calibrator, "X_thresholds_"):
        curve = calibrator.X_thresholds_, calibrator.y_thresholds_
        return PiecewiseLinear.through(*(np.asarray(each, dtype=np.float64) for each in curve))
    if hasattr(calibrator, "beta_"):  # a softmax over -score and score
        return Sigmoid(-2.0 * float(calibrator.beta_), 0.0)
    return Sigmoid(float(calibrator.a_), float(calibrator.b_))


def _label(opened: UnwrappedModel, classes: np.ndarray, names: tuple | None) -> Label | None:
    """Return how labels are found. More than two classes are grades, which are not predicted."""
    if len(classes) != 2:
        return None
    default = 0.0 if opened.calibrator is None else 0.5
    threshold = default if opened.threshold is None else float(opened.threshold)
    plain = tuple(classes.tolist() if names is None else names)
    return Label(plain, threshold, opened.threshold is not None)
