"""Labels that are the same in different spellings."""

from __future__ import annotations

from collections.abc import Iterable

from skauc.preprocessing.spelling import spell_code


def is_same_label(label, other) -> bool:
    """Tell whether two labels are the same value, however files and readers spell it.

    Parameters
    ----------
    label, other : object
        Text, numbers, truth values or dates.

    Returns
    -------
    is_same : bool
        True for 1, 1.0, "1", "01" and "+1", for True and "TRUE", and for a date and its text.

    Examples
    --------
    >>> from skauc.app.tables import is_same_label
    >>> is_same_label(1, "1.0"), is_same_label(True, "TRUE"), is_same_label("yes", "Yes")
    (True, True, False)
    """
    return spell_code(label) == spell_code(other)


def find_label(labels: Iterable, wanted):
    """Return the label that is meant, or None.

    Labels in which only the spelling differs are told apart if one of them is spelt as wanted.

    Parameters
    ----------
    labels : iterable of object
        The labels of a table.
    wanted : object
        A label as it stands in the file, or as a reader returns it.

    Returns
    -------
    label : object or None
        None if no label or more than one is meant.

    Examples
    --------
    >>> from skauc.app.tables import find_label
    >>> find_label([0.0, 1.0], "1"), find_label(["1", "01"], "01"), find_label([0.0, 1.0], "2")
    (1.0, '01', None)
    """
    labels = list(labels)
    rules = (lambda label: label == wanted, lambda label: str(label) == str(wanted))
    for is_meant in (*rules, lambda label: is_same_label(label, wanted)):
        meant = [label for label in labels if is_meant(label)]
        if len(meant) == 1:
            return meant[0]
    return None
