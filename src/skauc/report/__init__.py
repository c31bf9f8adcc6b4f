"""One self-contained HTML page that says how good a fitted model is, and where to set it."""

from skauc.report.content import ReportContent, make_report_content
from skauc.report.render import make_report, render_report, write_report

__all__ = [
    "ReportContent",
    "make_report",
    "make_report_content",
    "render_report",
    "write_report",
]
