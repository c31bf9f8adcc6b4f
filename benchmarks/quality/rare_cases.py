"""The small parts of `rare_events`: the scale of C, rare values, wide rows, sizes and cliffs."""

from __future__ import annotations

import multiprocessing
import pickle
import time
from pathlib import Path

import numpy as np
from scipy import sparse

from benchmarks.quality.ablation import read

# -- tables -----------------------------------------------------------------------------------


def markdown(head: list[str], rows: list[list[str]]) -> str:
    """Return a table."""
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def means(lines: list[dict], key: str = "auc") -> dict[tuple[str, str], np.ndarray]:
    """Return the values of all seeds by case and name."""
    found: dict[tuple[str, str], list[float]] = {}
    for line in sorted(lines, key=lambda line: line["seed"]):
        found.setdefault((line["case"], line["name"]), []).append(line[key])
    return {place: np.array(values) for place, values in found.items()}


def _auc(model, X, y) -> float:
    from sklearn.metrics import roc_auc_score

    return float(roc_auc_score(y, model.decision_function(X)))


# -- the scale of C ---------------------------------------------------------------------------

CS = ("10", "3", "1", "0.3", "0.1", "0.03", "0.01")
DEFAULT_C, SEARCH = "auto", "search"
C_CASES = {
    case: ([*CS, DEFAULT_C, SEARCH], 5)
    for case in (
        "clusters, 20 of 4,000",
        "clusters, 60 of 40,000",
        "clusters, 2,000 of 4,000",
        "magic04, 40 of 6,040",
        "ijcnn1, 50 of 6,050",
    )
}
# Test rows of each class.
N_TESTED = 10_000


def clusters(n_positive: int, n_negative: int, rng: np.random.Generator):
    """Return rows of 6 features, of which three hold four clusters of positives."""
    middles = np.random.default_rng(0).normal(size=(4, 3)) * 3.0
    X = rng.normal(size=(n_positive + n_negative, 6))
    y = np.arange(len(X)) < n_positive
    which = rng.integers(0, 4, size=n_positive)
    X[y, :3] = middles[which] + 0.6 * rng.normal(size=(n_positive, 3))
    return X, y


def _split(case: str, seed: int):
    """Return training and test rows of a case of C."""
    rng = np.random.default_rng(seed)
    name, counts = case.split(", ", 1)
    n_positive, n_rows = (int(word.replace(",", "")) for word in counts.split(" of "))
    if name == "clusters":
        train = clusters(n_positive, n_rows - n_positive, rng)
        return *train, *clusters(N_TESTED, N_TESTED, rng)
    X, y = read(name)
    positive, negative = rng.permutation(np.flatnonzero(y)), rng.permutation(np.flatnonzero(~y))
    n_negative = n_rows - n_positive
    train = np.concatenate((positive[:n_positive], negative[:n_negative]))
    test = np.concatenate((positive[n_positive:][:N_TESTED], negative[n_negative:][:N_TESTED]))
    return X[train], y[train], X[test], y[test]


def of_regularisation(case: str, seed: int, name: str) -> dict:
    """Fit the defaults with one C, or search."""
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    from skauc import SparseKernelAUC, SparseKernelAUCCV

    X, y, X_test, y_test = _split(case, seed)
    if name == SEARCH:
        classifier = SparseKernelAUCCV(random_state=seed, n_jobs=1)
    else:
        C = name if name == DEFAULT_C else float(name)
        classifier = SparseKernelAUC(C=C, random_state=seed)
    model = make_pipeline(StandardScaler(), classifier).fit(X, y)
    return {"auc": _auc(model, X_test, y_test)}


def regularisation_table(lines: list[dict]) -> tuple[str, dict]:
    """Return the mean AUC per C, and how far the default is behind the best."""
    found, rows, summary = means(lines), [], {}
    for case in dict.fromkeys(line["case"] for line in lines):
        mean = [found[case, C].mean() for C in CS]
        best = CS[int(np.argmax(mean))]
        behind = found[case, best] - found[case, DEFAULT_C]
        summary[case] = {"best C": best, "behind": round(float(behind.mean()), 4)}
        search = found.get((case, SEARCH), np.array([np.nan])).mean()
        cells = [f"**{x:.4f}**" if best == C else f"{x:.4f}" for C, x in zip(CS, mean, strict=True)]
        error = behind.std(ddof=1) / np.sqrt(len(behind))
        default = f"{found[case, DEFAULT_C].mean():.4f}"
        rows.append([case, *cells, default, f"{behind.mean():.4f} ± {error:.4f}", f"{search:.4f}"])
    head = ["data", *(f"C={C}" for C in CS), "default", "best - default", "search"]
    return markdown(head, rows), summary


# -- a feature that is nearly always zero -------------------------------------------------------

ZERO_CASES = {"99% zeros": (["rank", "normal", "ranks of the non-zeros", "no scaling"], 5)}


def nearly_zero(n_rows: int, rng: np.random.Generator):
    """Return two features; the small non-zero values of the first make a row positive.

    Large values and zeros are as common among positives as their share says.
    """
    x = np.where(rng.random(n_rows) < 0.01, np.exp(3.0 * rng.normal(size=n_rows)), 0.0)
    is_small = (x > 0) & (x < 1.0)
    y = rng.random(n_rows) < np.where(is_small, 0.7, 0.002)
    return np.column_stack((x, rng.normal(size=n_rows))), y


def of_zeros(case: str, seed: int, name: str) -> dict:
    """Fit the defaults with one scaling, or to ranks that were taken among the non-zeros."""
    from sklearn.preprocessing import StandardScaler

    from skauc import SparseKernelAUC

    rng = np.random.default_rng(seed)
    (X, y), (X_test, y_test) = nearly_zero(20_000, rng), nearly_zero(100_000, rng)
    if name == "ranks of the non-zeros":
        known = np.sort(X[X[:, 0] > 0, 0])

        def ranked(X):
            share = np.searchsorted(known, X[:, 0]) / len(known)
            return np.column_stack((np.where(X[:, 0] > 0, share, -1.0), X[:, 1]))

        X, X_test = ranked(X), ranked(X_test)
    scaler = StandardScaler().fit(X)
    scaling = name if name in ("rank", "normal") else None
    model = SparseKernelAUC(scaling=scaling, random_state=seed).fit(scaler.transform(X), y)
    return {"auc": _auc(model, scaler.transform(X_test), y_test)}


def zeros_table(lines: list[dict]) -> tuple[str, dict]:
    """Return the mean AUC per scaling."""
    found = {name: values for (_, name), values in means(lines).items()}
    error = {name: x.std(ddof=1) / np.sqrt(len(x)) for name, x in found.items()}
    rows = [[name, f"{x.mean():.4f} ± {error[name]:.4f}"] for name, x in found.items()]
    gap = found["ranks of the non-zeros"].mean() - found["rank"].mean()
    return markdown(["scaling", "AUC"], rows), {"rank behind": round(float(gap), 4)}


# -- wide rows --------------------------------------------------------------------------------

_FITS = ["search", "logistic regression"]
WIDE_CASES = {
    "CSR 500 x 30,000": (_FITS, 1),
    "CSR 5,000 x 100,000": (_FITS, 1),
    "dense 400 x 3,000": (["linear term", "logistic regression"], 5),
}


def words(n_rows: int, n_features: int, rng: np.random.Generator):
    """Return CSR rows like counts of words; 200 words are more frequent in the positives."""
    y = rng.random(n_rows) < 0.1
    frequency = 1.0 / (10.0 + np.arange(n_features))
    frequency = frequency / frequency.sum()
    chosen = np.random.default_rng(0).choice(2000, 200, replace=False)
    frequent = frequency.copy()
    frequent[chosen] *= 1.6
    frequent /= frequent.sum()
    parts = [rng.choice(n_features, size=100, p=frequent if label else frequency) for label in y]
    rows = np.repeat(np.arange(n_rows), 100)
    X = sparse.csr_matrix((np.ones(len(rows)), (rows, np.concatenate(parts))), (n_rows, n_features))
    X.data = np.log1p(X.data)
    return X, y


def _wide(case: str, rng: np.random.Generator, scale: float = 1.0):
    kind, shape = case.split(" ", 1)
    n_rows, n_features = (int(word.replace(",", "")) for word in shape.split(" x "))
    if kind == "CSR":
        return words(int(scale * n_rows), n_features, rng)
    X = rng.normal(size=(int(scale * n_rows), n_features))
    slopes = np.random.default_rng(0).normal(size=n_features) * (np.arange(n_features) < 50)
    score = X @ slopes + rng.normal(size=len(X))
    return X, score > 0


def _wide_fit(case: str, seed: int, name: str, queue) -> None:
    """Fit in a process of its own, so that its greatest memory is that of the fit."""
    from sklearn.linear_model import LogisticRegression
    from threadpoolctl import threadpool_limits

    from skauc import SparseKernelAUC, SparseKernelAUCCV

    rng = np.random.default_rng(seed)
    (X, y), (X_test, y_test) = _wide(case, rng), _wide(case, rng, 2.0)
    model = {
        "search": SparseKernelAUCCV(n_jobs=2, random_state=seed),
        "linear term": SparseKernelAUC(linear_term=True, random_state=seed),
        "logistic regression": LogisticRegression(max_iter=1000),
    }[name]
    if name != "search":  # functions are compiled by a first fit, which is not timed
        model.fit(X, y)
    with threadpool_limits(2):
        started, used = time.perf_counter(), time.process_time()
        model.fit(X, y)
        seconds, used = time.perf_counter() - started, time.process_time() - used
    found = {"auc": _auc(model, X_test, y_test), "seconds": seconds, "processor": used}
    queue.put({**found, "megabytes": _most_memory()})


def _most_memory() -> int:
    """Return the largest resident size of this process in megabytes."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) // 1000


def of_wide(case: str, seed: int, name: str) -> dict:
    """Return AUC, time and memory of a fit."""
    context = multiprocessing.get_context("spawn")
    queue = context.Queue()
    process = context.Process(target=_wide_fit, args=(case, seed, name, queue))
    process.start()
    process.join()
    if process.exitcode:
        raise RuntimeError(f"The process of {case}, {name} ended with {process.exitcode}.")
    return queue.get()


def wide_table(lines: list[dict]) -> tuple[str, dict]:
    """Return AUC, time and memory."""
    rows = [
        [
            line["case"],
            line["name"],
            f"{line['auc']:.4f}",
            f"{line['seconds']:.2f}",
            f"{line['processor']:.2f}",
            str(line["megabytes"]),
        ]
        for line in lines
    ]
    seconds = means(lines, "seconds")
    summary = {
        f"{case}, {name}": round(float(np.median(x)), 2) for (case, name), x in seconds.items()
    }
    return markdown(["rows", "fit", "AUC", "seconds", "processor seconds", "MB"], rows), summary


# -- the size of a model, and one more row ------------------------------------------------------

SIZE_CASES = {"400 centres x 800 features": (["refined", "not refined"], 1)}
ROWS_CASES = {"10,000 and 10,001 rows": (["10000", "10001"], 5)}


def of_size(case: str, seed: int, name: str) -> dict:
    """Return the size of the pickle."""
    from skauc import SparseKernelAUC

    rng = np.random.default_rng(seed)
    X = rng.normal(size=(3000, 800))
    y = X[:, :20].sum(axis=1) + rng.normal(size=3000) > 3
    refine = 2 if name == "refined" else False
    model = SparseKernelAUC(n_basis=400, refine=refine, random_state=seed).fit(X, y)
    return {"centres": model.n_basis_, "megabytes": len(pickle.dumps(model)) / 1e6}


def size_table(lines: list[dict]) -> tuple[str, dict]:
    """Return the size of the pickle."""
    rows = [[x["case"], x["name"], str(x["centres"]), f"{x['megabytes']:.1f}"] for x in lines]
    summary = {line["name"]: line["megabytes"] for line in lines}
    return markdown(["model", "fit", "centres", "MB"], rows), summary


def of_rows(case: str, seed: int, name: str) -> dict:
    """Fit an unrefined model to a number of rows on which columns become float32."""
    from skauc import Selection, SparseKernelAUC

    rng = np.random.default_rng(seed)
    X, y = clusters(500, 9501, rng)
    order = rng.permutation(len(y))[: int(name)]
    X_test, y_test = clusters(N_TESTED, N_TESTED, rng)
    model = SparseKernelAUC(refine=False, selection=Selection(n_rows=None), random_state=seed)
    model.fit(X[order], y[order])
    return {"auc": _auc(model, X_test, y_test), "centres": model.n_basis_}


def rows_table(lines: list[dict]) -> tuple[str, dict]:
    """Return the number of centres and the AUC on both sides of the border."""
    centres, auc = means(lines, "centres"), means(lines)
    rows = [
        [name, ", ".join(map(str, centres[case, name])), ", ".join(f"{x:.4f}" for x in values)]
        for (case, name), values in auc.items()
    ]
    gap = np.abs(np.subtract(*auc.values()))
    return markdown(["rows", "centres", "AUC"], rows), {
        "greatest difference": round(float(gap.max()), 5)
    }
