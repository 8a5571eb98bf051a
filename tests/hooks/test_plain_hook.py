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
    before = hooked.git("rev-parse", "HEAD").strip()
    hooked.write({PATH: BOTH})
    hooked.git("commit", "--no-edit")
    # The documented way to accept: the message is in place before the hook runs.
    hooked.git("reset", "--quiet", "--hard", before)
    hooked.git("merge", "--no-edit", "main", status=1)
    hooked.write({PATH: LOST})
    mark = re.search(r"\b[0-9a-f]{16}\b", hooked.git("commit", "--no-edit", status=1))
    assert mark is not None
    message = hooked.place / ".git" / "MERGE_MSG"
    message.write_text(f"{message.read_text()}Guard-Accept: {mark[0]} dev has its own\n")
    hooked.git("commit", "--no-edit")


def test_a_trailer_accepts_what_its_author_has_judged(tmp_path: Path) -> None:
    hooked = Hooked(tmp_path)
    hooked.commit({PATH: FEATURE}, "Scale it (#8)")
    hooked.git("merge", "--quiet", "--strategy-option=ours", "--message=Merge main into dev", "main")
    said = hooked.run("guard", "check", "--merge", "HEAD", "--output-format", "concise").stdout
    mark = re.search(r"\b[0-9a-f]{16}\b", hooked.run("guard", "check", "--merge", "HEAD").stdout)
    assert mark is not None
    assert "1 error" in said
    hooked.git(
        "commit", "--quiet", "--amend", f"--message=Merge main into dev\n\nGuard-Accept: {mark[0]} dev has its own"
    )
    done = hooked.run("guard", "check", "--merge", "HEAD", "--output-format", "concise")
    assert done.returncode == 0, done.stdout
    assert "0 errors" in done.stdout
    assert "1 accepted" in done.stdout
