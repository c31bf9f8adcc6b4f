"""Reports: one self-contained HTML page on the quality of a fitted model and its threshold."""

from skauc.report.content import ReportContent, make_report_content
from skauc.report.render import make_report, render_report, write_report

__all__ = [
    "ReportContent",
    "make_report",
    "make_report_content",
    "render_report",
    "write_report",
]
