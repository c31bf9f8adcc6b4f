"""Pieces of HTML. Every text from outside goes through `escaped`."""

from __future__ import annotations

import html
from collections.abc import Iterable
from importlib.resources import files
from string import Template


def escaped(value) -> str:
    """Return a value as text that HTML shows as it is."""
    return html.escape(str(value), quote=True)


def breakable(name) -> str:
    """Return a name, escaped, that may be broken after an underscore or a dot."""
    return escaped(name).replace("_", "_<wbr>").replace(".", ".<wbr>")


def asset(name: str) -> str:
    """Return a file that the page is made of."""
    return files("skauc.report").joinpath("assets", name).read_text(encoding="utf-8")


def filled(name: str, **parts) -> str:
    """Return a file that the page is made of, with its blanks filled in."""
    return Template(asset(name)).substitute(parts)


def number(value: float | str) -> str:
    """Return a number with four significant digits, three below 1, or a text, escaped."""
    if isinstance(value, str):
        return escaped(value)
    if value == int(value) and abs(value) < 1e15:
        return f"{int(value):,}"
    return escaped(
        f"{value:.{4 if abs(value) >= 1 else 3}g}".replace("e-0", "e-").replace("e+0", "e")
    )


def percent(share: float) -> str:
    """Return a share in percent, without its sign: one decimal from 10 on, two digits below."""
    value = 100 * share
    return f"{value:.1f}" if value >= 9.95 else f"{value:.2g}"


def table(head: Iterable[str], rows: Iterable[Iterable], caption: str) -> str:
    """Return a table of numbers; the first column heads its row."""
    first, *others = head
    heads = f'<th scope="col">{escaped(first)}</th>' + "".join(
        f'<th scope="col" class="n">{escaped(name)}</th>' for name in others
    )
    body = "".join(
        f'<tr><th scope="row">{number(name)}</th>'
        + "".join(f'<td class="n">{number(value)}</td>' for value in values)
        + "</tr>"
        for name, *values in rows
    )
    return (
        f'<table><caption class="visually-hidden">{escaped(caption)}</caption>'
        f"<thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>"
    )


def folded(summary: str, body: str) -> str:
    """Return something that is shown when it is asked for."""
    return (
        f"<details><summary>{escaped(summary)}</summary>"
        f'<div class="scroll" tabindex="0" role="group" aria-label="{escaped(summary)}">'
        f"{body}</div></details>"
    )


def figure(name: str, title: str, description: str, caption: str, *, key="", numbers="") -> str:
    """Return a place for a chart, with words for those who do not see it."""
    return (
        f'<figure class="card"><h3>{escaped(title)}{key}</h3>'
        f'<div class="chart" id="{name}" role="img" aria-label="{escaped(description)}"></div>'
        f"<figcaption>{caption}</figcaption>{numbers}</figure>"
    )


def colour_key(*entries: tuple[str, str]) -> str:
    """Return what the colours mean, from pairs of a CSS variable and a text."""
    spans = "".join(
        f'<span><i style="background:var(--{colour})"></i>{escaped(text)}</span>'
        for colour, text in entries
    )
    return f'<span class="key">{spans}</span>'


def few(values, most: int = 21) -> list[int]:
    """Return evenly spread places in a long sequence, both ends included."""
    n_values = len(values)
    if n_values <= most:
        return list(range(n_values))
    return sorted({round(i * (n_values - 1) / (most - 1)) for i in range(most)})
