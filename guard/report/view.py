"""How a report is to be shown: the reader's choices, apart from the facts."""

from __future__ import annotations

from dataclasses import dataclass

from guard.model import Finding, Report, Severity

PERSONAS: tuple[str, ...] = ("maintainer", "reviewer", "audit")
"""Who reads: a maintainer on one screen, a reviewer every group and place, an audit every note and all four trees."""

SCREEN_LINES = 78
"""The most lines of the default text view: what a person reads before deciding whether to merge."""


@dataclass(frozen=True, slots=True)
class View:
    """The reader's choices.

    Attributes:
        color: whether escape sequences may be used.
        width: columns of the terminal.
        threshold: the least severity that is shown; None leaves it to the persona.
        persona: one of `PERSONAS`.
        verbose: how often -v was given; one is like the reviewer's view, two like the audit's.
        quiet: only findings, counts and what was not checked.
        timings: whether the seconds of each check are shown.
        link_base: web address of the repository (`https://github.com/OWNER/REPO`) for links, or None.
        docs_base: web address of guard's own documents, in which `rules.md` and `codes.md` lie, or None.
    """

    color: bool = False
    width: int = 100
    threshold: Severity | None = None
    persona: str = "maintainer"
    verbose: int = 0
    timings: bool = False
    quiet: bool = False
    link_base: str | None = None
    docs_base: str | None = None

    @property
    def least(self) -> Severity:
        """The least severity that a person's format shows."""
        if self.threshold is not None:
            return self.threshold
        return Severity.NOTE if self.is_audit else Severity.WARNING

    @property
    def is_audit(self) -> bool:
        """Whether all four trees of every finding are shown."""
        return self.persona == "audit" or self.verbose > 1

    @property
    def max_lines(self) -> int | None:
        """Lines of the text view, or None for all of them."""
        return SCREEN_LINES if self.persona == "maintainer" and self.verbose == 0 else None

    def shows(self, finding: Finding) -> bool:
        """Whether a person's format shows this finding."""
        return finding.accepted is None and finding.severity.rank <= self.least.rank

    def commit_url(self, commit: str) -> str | None:
        """Web address of a commit, if the repository has one."""
        return f"{self.link_base}/commit/{commit}" if self.link_base else None

    def rule_url(self, code: str, name: str) -> str | None:
        """Web address of what a rule or code means, if guard's documents have one."""
        if self.docs_base is None:
            return None
        page = "rules.md" if code.startswith("GRD1") else "codes.md"
        return f"{self.docs_base.rstrip('/')}/{page}#{code.lower()}-{name}"

    def pull_url(self, number: int) -> str | None:
        """Web address of a pull request, if the repository has one."""
        kind = "merge_requests" if self.link_base and self.link_base.endswith("/-") else "pull"
        return f"{self.link_base}/{kind}/{number}" if self.link_base else None

    def place_url(self, revision: str, path: str, line: int) -> str | None:
        """Web address of a line of a file at a revision, if the repository has one."""
        from urllib.parse import quote

        clean = quote(path.encode("utf-8", "surrogateescape"))
        return f"{self.link_base}/blob/{revision}/{clean}#L{line}" if self.link_base else None


def counted(report: Report, view: View) -> dict[Severity, int]:
    """How many standing findings the view leaves out, by severity."""
    hidden = dict.fromkeys(Severity, 0)
    for finding in report.findings:
        if finding.accepted is None and not view.shows(finding):
            hidden[finding.severity] += 1
    return hidden
