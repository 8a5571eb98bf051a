"""The hook without a framework, as the documentation prints it."""

from __future__ import annotations

import re
from pathlib import Path

from hooked import BOTH, FEATURE, LOST, PATH, ROOT, Hooked


def test_the_documented_hook_stops_a_lossy_merge(tmp_path: Path) -> None:
    printed = re.search(r"<!-- hook -->\n```sh\n(.*?)```", (ROOT / "docs" / "hooks.md").read_text("utf-8"), re.DOTALL)
    assert printed is not None
    hooked = Hooked(tmp_path)
    for name in ("pre-commit", "pre-merge-commit"):
        hook = hooked.place / ".git" / "hooks" / name
        hook.write_text(printed[1], encoding="utf-8")
        hook.chmod(0o755)
    hooked.write({"readme.md": "y\n"})
    assert "nothing checked" in hooked.git("commit", "--message=ordinary")
    hooked.commit({PATH: FEATURE}, "Scale it (#8)")
    hooked.git("merge", "--no-edit", "main", status=1)
    hooked.write({PATH: LOST})
    assert "#7" in hooked.git("commit", "--no-edit", status=1)
    hooked.write({PATH: BOTH})
    hooked.git("commit", "--no-edit")
