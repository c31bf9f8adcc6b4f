"""The parts of the page, in the order in which they are read."""

from __future__ import annotations

from skauc.report.content import ReportContent, Score
from skauc.report.markup import (
    breakable,
    colour_key,
    escaped,
    few,
    figure,
    filled,
    folded,
    number,
    percent,
    table,
)
from skauc.report.missing import Missing

_SHOWN_FEATURES = 12
_BANDS = (
    "Bands are 95% limits at each point, not for the curve as a whole, from 1,000 draws of the "
    "gaps between the scores of each class (a smoothed Bayesian bootstrap with the number of rows "
    "of each class fixed); they hold their width where no error was seen."
)


def summary(content: ReportContent) -> str:
    """Say in one sentence how good the ranking is, then the figures, then the rows."""
    first = content.scores[0]
    data = content.data
    cards = "\n".join(_score_card(score) for score in content.scores)
    trained = (
        ""
        if data.n_train is None
        else _fact("training rows", f"{data.n_train:,} ({data.n_train_positive:,} positive)")
    )
    size = "" if content.model.n_basis is None else _fact("centres", f"{content.model.n_basis:,}")
    return (
        f'<p class="lead">Take one “{escaped(data.positive_label)}” and one '
        f"“{escaped(data.negative_label)}” row at random: {escaped(content.model.name)} gives the "
        f"first the higher score in <strong>{first.value:.1%}</strong> of cases (95% interval "
        f"{100 * first.low:.1f} to {first.high:.1%}).</p>"
        f'<div class="figures">{cards}</div>'
        f'<dl class="facts">'
        + _fact("test rows", f"{data.n_test:,} ({data.n_test_positive:,} positive)")
        + trained
        + _fact("features", f"{data.n_features:,}")
        + size
        + "</dl>"
    )


def _fact(name: str, value: str) -> str:
    return f"<div><dt>{escaped(name)}</dt><dd>{escaped(value)}</dd></div>"


def _score_card(score: Score) -> str:
    limits = '<div class="limits">&nbsp;</div>'
    if score.low is not None:
        limits = f'<div class="limits">95% interval {score.low:.3f} to {score.high:.3f}</div>'
    low = score.value if score.low is None else score.low
    high = score.value if score.high is None else score.high
    return (
        f'<div class="card"><span class="name">{escaped(score.name)}</span>'
        f'<span class="value" id="score-{score.key}">{score.value:.3f}</span>'
        f'<div class="span" aria-hidden="true"><i style="left:{low:.2%};width:{high - low:.2%}">'
        f'</i><b style="left:{score.value:.2%}"></b></div>{limits}<p>{escaped(score.meaning)}</p>'
        "</div>"
    )


def warnings(content: ReportContent) -> str:
    """List what to look into first, or say that nothing was found."""
    note = f'<p class="note" style="margin-top:1rem">{escaped(content.looked_at)}</p>'
    if not content.warnings:
        return f'<div class="fine"><p>Nothing stands out.</p></div>{note}'
    return (
        "".join(
            f'<div class="warning {warning.level}"><p class="level">{warning.level}</p>'
            f"<h3>{escaped(warning.title)}</h3><p>{escaped(warning.detail)}</p>"
            f"<p><strong>What to do:</strong> {escaped(warning.advice)}</p></div>"
            for warning in content.warnings
        )
        + note
    )


def threshold(content: ReportContent) -> str:
    """Let the reader set the threshold and see what follows."""
    return (
        '<p class="note">Scores rank; a threshold decides. A row is flagged if its score is at '
        "least the threshold. Move the slider, press an arrow key on it, or drag across any curve; "
        "everything follows. Thresholds are exact as printed.</p>"
        f'{_control(content)}<div class="grid">{_matrix(content)}{_distributions(content)}'
        + figure(
            "tradeoff",
            "Recall and precision",
            "Recall and precision against the threshold. Recall falls as the threshold rises.",
            "What share of positives is found, and what share of the flagged rows is positive.",
            key=colour_key(("pos", "recall"), ("neg", "precision")),
        )
        + figure(
            "costs",
            "Cost",
            "Total cost against the threshold, the least cost marked.",
            "The total over the test rows; the ring marks the least.",
        )
        + "</div>"
    )


def _distributions(content: ReportContent) -> str:
    bars = content.histogram
    data = content.data
    ends = zip(bars.edges, bars.edges[1:], strict=False)
    names = (f"{number(low)} to {number(high)}" for low, high in ends)
    rows = zip(names, bars.positives, bars.negatives, strict=True)
    head = "score", "share of positives", "share of negatives"
    return figure(
        "distributions",
        "Scores by class",
        "Histogram of the scores of both classes with the threshold as a line.",
        "Each class adds up to 100%, however rare it is. Scores beyond the ends are in the last "
        "bars.",
        key=colour_key(("pos", data.positive_label), ("neg", data.negative_label)),
        numbers=folded("Numbers of this figure", table(head, rows, "Scores by class")),
    )


def _matrix(content: ReportContent) -> str:
    data = content.data
    return filled(
        "matrix.html", positive=escaped(data.positive_label), negative=escaped(data.negative_label)
    )


def _control(content: ReportContent) -> str:
    entries = content.thresholds
    n_shown, n_distinct = len(entries.thresholds), entries.n_distinct
    notes = ["A threshold chosen on these rows looks a little better on them than on others."]
    if n_shown < n_distinct:
        notes.append(
            f"The slider stops at {n_shown:,} of {n_distinct:,} distinct thresholds; those of "
            "least cost, whatever the costs, are all among them."
        )
    if content.data.is_weighted:
        notes.append("Counts are sums of sample weights.")
    own = '<button type="button" id="to-own" aria-pressed="false">The model’s own</button>'
    return filled(
        "control.html",
        last=n_shown - 1,
        own="" if entries.own is None else own,
        alarm_cost=f"{entries.false_alarm_cost:g}",
        miss_cost=f"{entries.miss_cost:g}",
        notes=" ".join(notes),
    )


def curves(content: ReportContent) -> str:
    """Show the ROC and the precision-recall curve with their bands."""
    roc, precision_recall = content.roc, content.precision_recall
    auc, average = content.scores[0], content.scores[1]
    return (
        '<div class="grid" style="margin-top:.8rem">'
        + figure(
            "roc",
            "ROC curve",
            f"ROC curve with an area of {auc.value:.3f}, its 95% band, and the chosen threshold "
            "as a dot.",
            f"Area {auc.value:.3f} ({auc.low:.3f} to {auc.high:.3f}, DeLong). The dashed line is a "
            "random ranking; the dot, your threshold.",
            numbers=_curve_numbers(roc, ("false alarms", "recall")),
        )
        + figure(
            "precision-recall",
            "Precision-recall curve",
            f"Precision-recall curve with an average precision of {average.value:.3f}, its 95% "
            "band, and the chosen threshold as a dot.",
            f"Average precision {average.value:.3f} ({average.low:.3f} to {average.high:.3f}). The "
            "dashed line is a random ranking, at the share of positives.",
            numbers=_curve_numbers(precision_recall, ("recall", "precision")),
        )
        + f'</div><p class="note" style="margin-top:1rem">{_BANDS}</p>'
    )


def _curve_numbers(curve, names: tuple[str, str]) -> str:
    rows = [(curve.band_x[i], curve.low[i], curve.high[i]) for i in few(curve.band_x)]
    points = [(curve.x[i], curve.y[i]) for i in few(curve.x)]
    limits = table((names[0], "low", "high"), rows, f"95% limits of {names[1]}")
    return folded(
        "Numbers of this figure",
        table(names, points, f"{names[1]} at each {names[0]}") + f"<p>95% limits</p>{limits}",
    )


def calibration(content: ReportContent) -> str:
    """Show whether probabilities mean what they say, and whose they are."""
    shown = content.calibration
    if isinstance(shown, Missing):
        return _missing(shown)
    groups = zip(shown.predicted, shown.observed, shown.low, shown.high, shown.n_rows, strict=True)
    rows = [
        (f"{percent(said)}%", f"{percent(came)}%", f"{percent(low)}–{percent(high)}%", n_rows)
        for said, came, low, high, n_rows in groups
    ]
    head = "probability", "positive", "95% limits", "rows"
    drawn = figure(
        "calibration",
        "Reliability",
        "Share of positives against the mean probability in groups of rows, with 95% limits.",
        f"Groups of about the same number of rows; whiskers are 95% limits (Clopper and Pearson). "
        f"On the dashed line, probabilities mean what they say. Brier score {shown.brier:.4f}.",
    )
    return (
        f'<p class="note">{escaped(shown.source)}</p><div class="grid">{drawn}'
        f'<div class="card"><h3>The groups</h3>{table(head, rows, "Reliability")}</div></div>'
    )


def sizes(content: ReportContent) -> str:
    """Show the AUC of the smaller models on the way to this one."""
    shown = content.sizes
    if isinstance(shown, Missing):
        return _missing(shown)
    key = [("accent", "test rows, with 95% limits"), ("muted", "training rows")]
    if shown.cv_n_basis:
        key.append(("pos", "cross-validation"))
    sampled = (
        "" if shown.n_sampled is None else f" On a sample of {shown.n_sampled:,} of the test rows."
    )
    rows = zip(shown.n_basis, shown.test, shown.low, shown.high, shown.train, strict=True)
    head = "centres", "test AUC", "low", "high", "training AUC"
    return figure(
        "sizes",
        "AUC by number of centres",
        f"AUC against the number of centres. The model has {shown.chosen}.",
        "The ring marks this model. Every smaller one comes with it: "
        "<code>truncate(n_basis)</code> returns it. "
        f"Limits by DeLong’s method.{sampled}",
        key=colour_key(*key),
        numbers=folded("Numbers of this figure", table(head, rows, "AUC by number of centres")),
    )


def features(content: ReportContent) -> str:
    """Show the features by the scales that were learnt."""
    shown = content.features
    if isinstance(shown, Missing):
        return _missing(shown)
    widest = max(*shown.relevance, 1e-12)
    rows = "".join(
        f'<tr><th scope="row">{breakable(name)}</th><td class="bar" aria-hidden="true">'
        f'<i style="width:{value / widest:.1%}"></i></td><td class="n">{number(value)}</td></tr>'
        for name, value in zip(shown.names, shown.relevance, strict=True)
    )
    more = ""
    if len(shown.names) < shown.n_features:
        more = f" Shown are {len(shown.names)} of {shown.n_features:,}."
    return (
        '<p class="note">The spread of the rows along each feature, in length scales of the '
        "kernel: by which features the model tells rows apart. It says nothing of the direction "
        "of an effect, or of causes; of two features with the same information either may come "
        f'first.{more}</p><div class="card" style="margin-top:1rem"><table class="bars">'
        '<caption class="visually-hidden">Learnt feature scales</caption><thead><tr>'
        '<th scope="col">feature</th><td></td><th scope="col" class="n">spread</th></tr></thead>'
        f"<tbody>{rows}</tbody></table></div>"
    )


def centres(content: ReportContent) -> str:
    """Show the most typical centre of each class."""
    shown, data = content.centres, content.data
    if isinstance(shown, Missing):
        return _missing(shown)
    first, rest = shown.features[:_SHOWN_FEATURES], shown.features[_SHOWN_FEATURES:]
    more = folded(f"{len(rest):,} more features", _centre_table(rest, data)) if rest else ""
    n_left = shown.n_features - len(shown.features)
    left_out = f" {n_left:,} features in which they differ less are left out." if n_left else ""
    return (
        '<p class="note">Of the centres on its side of the threshold, the one that the rows of '
        "each class are most like, compared with those of the other; in the units of the data. "
        f"Features are in the order of how far the two are apart.{left_out}</p>"
        f'<div class="card" style="margin-top:1rem">{_centre_table(first, data)}{more}'
        f'<p class="note" style="margin:1rem 0 0">“{escaped(data.positive_label)}”: score '
        f"{number(shown.positive.score)}. {escaped(shown.positive.source)} "
        f"“{escaped(data.negative_label)}”: score {number(shown.negative.score)}. "
        f"{escaped(shown.negative.source)} Usual: the median, or the most frequent value.</p></div>"
    )


def _centre_table(features, data) -> str:
    rows = "".join(
        f'<tr><th scope="row">{breakable(feature.name)}</th>'
        f'<td class="n pos">{number(feature.positive)}</td>'
        f'<td class="n neg">{number(feature.negative)}</td>'
        f'<td class="n">{number(feature.usual)}</td></tr>'
        for feature in features
    )
    return (
        '<div class="sideways"><table class="values">'
        '<caption class="visually-hidden">The most typical centre of each class</caption>'
        f'<thead><tr><th scope="col">feature</th><th scope="col" class="n pos">'
        f'{escaped(data.positive_label)}</th><th scope="col" class="n neg">'
        f'{escaped(data.negative_label)}</th><th scope="col" class="n">usual</th></tr></thead>'
        f"<tbody>{rows}</tbody></table></div>"
    )


def details(content: ReportContent) -> str:
    """Say what the model is and how the figures were made."""
    model = content.model
    before = " → ".join(model.steps) if model.steps else "none"
    rows = [("model", model.name), ("before it", before), *model.parameters]
    if model.n_numbers is not None:
        rows.append(("numbers in the model", f"{model.n_numbers:,}"))
    made = table(("setting", "value"), rows, "The model")
    notes = (
        "AUC interval: DeLong’s method on the logit scale.",
        _BANDS,
        "Average precision: lower limit with half of each gap, upper limit without gaps, from the "
        "same draws.",
        "Confusion matrix, recall, precision and cost: exact counts over the test rows.",
    )
    listed = "".join(f"<li>{escaped(note)}</li>" for note in notes)
    return (
        f'<div class="grid" style="margin-top:.8rem"><div class="card"><h3>The model</h3>{made}'
        f'</div><div class="card"><h3>How the figures were made</h3><ul class="muted">{listed}</ul>'
        "</div></div>"
    )


def footer(content: ReportContent) -> str:
    """Say when and with what the report was made."""
    versions = ", ".join(f"{name} {version}" for name, version in content.versions)
    return (
        f"<p>Made <time>{escaped(content.made.replace('T', ' '))}</time> with {escaped(versions)}. "
        "This page is one file and loads nothing.</p>"
    )


def _missing(part: Missing) -> str:
    return f'<p class="note">{escaped(part.reason)}</p>'


# The name of a part in the page, its short name in the list of parts, its title, and its body.
SECTIONS = (
    ("warnings", "Warnings", "Look at this first", warnings),
    ("threshold-part", "Threshold", "Choose a threshold", threshold),
    ("curves", "Curves", "How well it ranks", curves),
    ("calibration-part", "Probabilities", "What a score means", calibration),
    ("sizes-part", "Size", "How large it must be", sizes),
    ("features", "Features", "What it looks at", features),
    ("centres", "Typical rows", "What is typical of each class", centres),
    ("details", "Methods", "Model and methods", details),
)
