"""Formats of numbers and names."""

import pytest

from skauc.report.formatting import (
    breakable,
    few,
    format_number,
    more_columns,
    percent,
    signed,
)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1234567, "1,234,567"),
        (-3.0, "−3"),
        (12.34567, "12.35"),
        (0.0123456, "0.0123"),
        (-1.5e-7, "−1.5e−7"),
        (123456.7, "123,457"),
        (2.5e20, "2.5e20"),
        ("a-b", "a-b"),
    ],
)
def test_numbers_have_few_digits(value, text):
    assert format_number(value) == text


def test_shares_and_differences():
    assert [percent(share) for share in (0.5, 0.0123, 0.0995)] == ["50.0", "1.2", "10.0"]
    assert [signed(value) for value in (0.01234, -0.2, -0.00001)] == ["0.0123", "−0.2000", "0.0000"]


def test_names_are_escaped_and_may_be_broken():
    assert breakable("<b>_x.y.csv") == "&lt;b&gt;_<wbr>x.<wbr>y.csv"
    assert [more_columns(count) for count in (1, 2_000)] == ["1 more column", "2,000 more columns"]


def test_few_entries_include_both_ends():
    assert few(range(5)) == [0, 1, 2, 3, 4]
    chosen = few(range(1_000))
    assert (len(chosen), chosen[0], chosen[-1]) == (21, 0, 999)
