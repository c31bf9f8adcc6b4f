"""Online learners that maximise AUC row by row, and streams of rows for them."""

from skauc.online.adaoam import AdaOAM
from skauc.online.oam import OAM
from skauc.online.oilk import OILK
from skauc.online.opauc import OPAUC
from skauc.online.sadaoam import SAdaOAM
from skauc.online.stream import StreamRecord, array_chunks, csv_chunks, prequential_auc

__all__ = [
    "OAM",
    "OILK",
    "OPAUC",
    "AdaOAM",
    "SAdaOAM",
    "StreamRecord",
    "array_chunks",
    "csv_chunks",
    "prequential_auc",
]
