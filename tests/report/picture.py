"""Take the picture of a real report for the README: `python tests/report/picture.py REPORT.html PICTURE.png`.

Rows of the tables are folded and the filter is left out, so that the worst finding is in sight; nothing is added.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from browser import browser

FOLD = """
const keep = (table, count) => document.querySelectorAll(table + ' tbody tr').forEach(
  (row, index) => row.classList.toggle('folded', index >= count));
keep('table.heat', 4);
keep('table.ledger', 3);
document.querySelectorAll('.more, .outcomes, nav, main > section > p, #filter').forEach((part) => part.remove());
document.querySelectorAll('article.group').forEach((group, index) => { if (index) group.remove(); });
document.querySelector('details.item').open = true;
document.documentElement.style.overflow = 'hidden';
"""


def take(page: Path, picture: Path) -> None:
    """Open the page in Chromium and save what it shows of the worst finding."""
    with tempfile.TemporaryDirectory() as profile, browser(Path(profile), 1180, 1760) as window:
        window.open(page.resolve())
        window.wait("document.querySelectorAll('.item').length")
        window.run(FOLD)
        window.wait("document.querySelector('.trees')")
        window.picture(picture)


if __name__ == "__main__":
    take(Path(sys.argv[1]), Path(sys.argv[2]))
