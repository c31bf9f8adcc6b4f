"""The printed numbers of the paper's Tables I, II and III.

None stands for a dash in the paper. Numbers are strings, because the number of digits matters. The
caption says that the columns of OILK and AdaOAM come from the methods' own papers, and swaps the
two citations.
"""

from __future__ import annotations

from dataclasses import dataclass

# data: training rows, test rows, features, negatives per positive.
TABLE_1 = {
    "sonar": ("208", None, "60", "1.144"),
    "glass": ("214", None, "9", "2.057"),
    "ionosphere": ("351", None, "34", "1.785"),
    "balance": ("625", None, "4", "11.755"),
    "australian": ("690", None, "14", "1.247"),
    "vehicle": ("846", None, "18", "3.251"),
    "fourclass": ("862", None, "2", "1.807"),
    "svmguide3": ("1,243", None, "22", "3.199"),
    "a2a": ("2,265", None, "123", "2.959"),
    "magic04": ("19,020", None, "10", "1.843"),
    "segment": ("210", "2,100", "19", "6.000"),
    "satimage": ("4,435", "2,000", "36", "9.279"),
    "ijcnn1": ("49,990", "91,701", "22", "10.0"),
    "poker": ("25,010", "1,000,000", "11", "20.0"),
}

SPARSE, RANK_SVM, OILK, ADAOAM = "SparseKernelAUC", "KernelRankSVM", "OILK", "AdaOAM"
COLUMNS = (SPARSE, RANK_SVM, OILK, ADAOAM)


@dataclass(frozen=True)
class Cell:
    """A printed AUC, with its standard deviation and number of centres if printed."""

    auc: str
    deviation: str | None = None
    n_basis: str | None = None

    def __str__(self) -> str:
        deviation = "" if self.deviation is None else f" ± {self.deviation}"
        n_basis = "" if self.n_basis is None else f" ({self.n_basis})"
        return f"{self.auc}{deviation}{n_basis}"


def _cell(text: str) -> Cell | None:
    if text == "-":
        return None
    text, _, n_basis = text.partition(" (")
    auc, _, deviation = text.partition(" +- ")
    return Cell(auc, deviation or None, n_basis.rstrip(")") or None)


def _table(text: str) -> dict[str, dict[str, Cell]]:
    table = {}
    for line in text.strip().splitlines():
        name, *cells = (part.strip() for part in line.split("|"))
        pairs = zip(COLUMNS, map(_cell, cells), strict=True)
        table[name] = {method: cell for method, cell in pairs if cell is not None}
    return table


TABLE_2 = _table("""
sonar      | 0.914 +- 0.043 (105) | 0.951 +- 0.029 (167)   | 0.929 +- .039  | -
glass      | 0.871 +- 0.054 (150) | 0.881 +- 0.051 (171)   | -              | 0.816 +- 0.058
ionosphere | 0.980 +- 0.017 (182) | 0.987 +- 0.014 (281)   | 0.954 +- 0.021 | -
balance    | 1.000 +- 0.000 (6)   | 1.000 +- 0.000 (500)   | -              | 0.579 +- 0.106
australian | 0.913 +- 0.034 (256) | 0.930 +- 0.020 (552)   | 0.925 +- 0.021 | 0.927 +- 0.016
vehicle    | 0.977 +- 0.022 (431) | 0.995 +- 0.002 (677)   | -              | 0.818 +- 0.026
fourclass  | 0.999 +- 0.000 (108) | 1.000 +- 0.000 (690)   | 0.829 +- 0.036 | -
svmguide3  | 0.823 +- 0.027 (216) | 0.824 +- 0.026 (995)   | -              | 0.734 +- 0.038
a2a        | 0.880 +- 0.009 (64)  | 0.880 +- 0.010 (1741)  | -              | 0.873 +- 0.019
magic04    | 0.874 +- 0.023 (182) | 0.894 +- 0.007 (15124) | -              | 0.798 +- 0.007
""")

TABLE_3 = _table("""
segment  | 0.996 (91)  | 0.998 (210)   | 0.997 +- 0.003 | -
satimage | 0.961 (431) | 0.969 (4435)  | 0.896 +- 0.024 | -
ijcnn1   | 0.995 (182) | 1.000 (49990) | -              | -
poker    | 0.668 (363) | 0.674 (25010) | -              | 0.571 +- 0.007
""")
