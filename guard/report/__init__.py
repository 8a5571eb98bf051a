"""Reports: each format is one module with a pure `render(report, view) -> str`; nothing here prints or runs a check."""

from __future__ import annotations

import importlib
import re
from typing import Protocol, cast

from guard.errors import GuardError
from guard.model import Report
from guard.report.paint import STYLES
from guard.report.plain import clean
from guard.report.view import PERSONAS, View

__all__ = ["FORMATS", "PERSONAS", "View", "render"]

_STYLE = re.compile("(\x1b\\[[0-9;]*m)")

FORMATS: dict[str, str] = {
    "text": "guard.report.text",
    "concise": "guard.report.concise",
    "json": "guard.report.json_facts",
    "sarif": "guard.report.sarif",
    "github": "guard.report.github",
    "gitlab": "guard.report.gitlab",
    "junit": "guard.report.junit",
    "rdjson": "guard.report.rdjson",
    "markdown": "guard.report.markdown",
    "html": "guard.report.html_page",
}
"""Format name to module. Modules load on first use, so that a hook pays for one format only."""


class _Format(Protocol):
    """What every format module offers."""

    def render(self, report: Report, view: View) -> str:
        """The whole report as text in this format."""


def render(report: Report, format: str, view: View) -> str:  # noqa: A002 - the option of the same name
    """Write the report in one format.

    Args:
        report: what one run found and did not look at.
        format: a key of `FORMATS`.
        view: how much is shown and how; machine formats take only links and rule help from it.

    Returns:
        The text, ending in a newline unless it is empty. It holds no lone surrogates.

    Raises:
        GuardError: there is no such format.
    """
    if format not in FORMATS:
        raise GuardError(f"there is no report format {format!r}: choose from {', '.join(FORMATS)}")
    module = cast(_Format, importlib.import_module(FORMATS[format]))
    text = module.render(report, view)
    return safe_lines(text, view.color) if format in ("text", "concise") else text


def safe_lines(text: str, color: bool) -> str:
    """What goes to a terminal as it is: cleaned once more as a whole, since a part that was forgotten is enough.

    Args:
        color: guard's own styles are kept.
    """
    if not color:
        return clean(text)
    return "".join(part if part in STYLES else clean(part) for part in _STYLE.split(text))
