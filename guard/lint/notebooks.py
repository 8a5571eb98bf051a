"""A Jupyter notebook as one program: its code cells in order, so that names follow from cell to cell.

The form is that of nbformat 4 (and 3): JSON with `cells` of a `cell_type` and a `source`. Lines that are IPython's own
and no Python (`%magic`, `!shell`, `?help`) stand as `pass`.
"""

from __future__ import annotations

import ast
import dataclasses
import json
import re
import warnings
from dataclasses import dataclass
from typing import Any

from guard.errors import NotAnalysedError
from guard.model import Finding, fingerprint

SUFFIX = ".ipynb"
_OWN_LINE = re.compile(r"(\s*)(?:[%!?].*|[\w.]+\?{1,2}\s*)$")
_OWN_VALUE = re.compile(r"(\s*[\w., ]+=\s*)[!%].*$")
# Cell magics whose cell is Python that runs here.
_PYTHON_CELLS = re.compile(r"\s*%%(time|timeit|capture|prun|python3?|ipython)\b")


@dataclass(frozen=True, slots=True)
class Notebook:
    """The program of a notebook.

    Attributes:
        data: the program.
        places: for each of its lines the number of the cell, from 1 and all cells counted, and the line in it.
        broken: cells that do not parse, whose lines stand as `pass`: number, line in it, what is wrong.
    """

    data: bytes
    places: tuple[tuple[int, int], ...]
    broken: tuple[tuple[int, int, str], ...]

    def located(self, finding: Finding) -> Finding:
        """A finding of the program as one of the notebook: its line is that in the cell, its message names the cell."""
        cell, line = self.places[min(finding.line, len(self.places)) - 1] if self.places else (1, 1)
        last = finding.line if finding.end_line is None else finding.end_line
        return dataclasses.replace(
            finding,
            line=line,
            end_line=line + max(0, last - finding.line),
            message=f"cell {cell}, line {line}: {finding.message}",
            fingerprint=fingerprint(finding.code, finding.path, f"cell {cell} {finding.symbol}", finding.fingerprint),
            fixable=False,
        )


def read_notebook(data: bytes) -> Notebook:
    """The program of a notebook.

    Raises:
        NotAnalysedError: it is no notebook, or its language is not Python.
    """
    try:
        document = json.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError) as problem:
        raise NotAnalysedError(f"no notebook: {problem}") from None
    cells = _cells(document)
    metadata = document.get("metadata", {})
    language = _language(metadata if isinstance(metadata, dict) else {})
    if language not in {"", "python", "ipython", "python3"}:
        raise NotAnalysedError(f"a notebook in {language}")
    lines: list[str] = []
    places: list[tuple[int, int]] = []
    broken: list[tuple[int, int, str]] = []
    for number, cell in enumerate(cells, 1):
        if not isinstance(cell, dict) or cell.get("cell_type") != "code":
            continue
        source = cell.get("source", cell.get("input", ""))
        text = "".join(map(str, source)) if isinstance(source, list) else str(source)
        own, wrong = _program(text)
        if wrong is not None:
            broken.append((number, *wrong))
        lines += own
        places += [(number, line) for line in range(1, len(own) + 1)]
    return Notebook(("\n".join(lines) + "\n").encode("utf-8", "surrogatepass"), tuple(places), tuple(broken))


def _cells(document: Any) -> list[Any]:
    if isinstance(document, dict):
        sheets = document.get("worksheets")
        first = sheets[0] if isinstance(sheets, list) and sheets and isinstance(sheets[0], dict) else document
        cells = first.get("cells")
        if isinstance(cells, list):
            return cells
    raise NotAnalysedError("no notebook: it has no list of cells")


def _language(metadata: dict[str, Any]) -> str:
    for key, field in (("language_info", "name"), ("kernelspec", "language")):
        part = metadata.get(key)
        if isinstance(part, dict) and isinstance(part.get(field), str):
            return str(part[field]).lower()
    return ""


def _program(text: str) -> tuple[list[str], tuple[int, str] | None]:
    """The lines of a cell as Python, and where and why they are none."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    nothing = ["pass", *[""] * (len(lines) - 1)]
    if lines[0].lstrip().startswith("%%") and not _PYTHON_CELLS.match(lines[0]):
        return nothing, None
    problem = _problem(lines)
    if problem is not None:
        lines = [_plain(line) for line in lines]
        problem = _problem(lines)
    return (lines, None) if problem is None else (nothing, problem)


def _plain(line: str) -> str:
    own = _OWN_LINE.fullmatch(line)
    if own is not None:
        return f"{own.group(1)}pass"
    value = _OWN_VALUE.fullmatch(line)
    return f"{value.group(1)}None" if value is not None else line


def _problem(lines: list[str]) -> tuple[int, str] | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse("\n".join(lines))
    except SyntaxError as problem:
        return problem.lineno or 1, problem.msg
    except (ValueError, RecursionError, MemoryError) as problem:
        return 1, str(problem) or type(problem).__name__
    return None
