"""The facts that travel between layers: findings, outcomes and the report. No behaviour beyond shaping them."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from enum import StrEnum


class Severity(StrEnum):
    """How soon someone must act; independent of how sure we are."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"

    @property
    def rank(self) -> int:
        """0 for the worst."""
        return list(Severity).index(self)


class Confidence(StrEnum):
    """How sure a finding is of itself."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


class Side(StrEnum):
    """A parent of a sync: ours receives (dev), theirs is merged in (main)."""

    OURS = "ours"
    THEIRS = "theirs"

    @property
    def other(self) -> Side:
        """The parent that this one met."""
        return Side.THEIRS if self is Side.OURS else Side.OURS


class Verdict(StrEnum):
    """What became of one change in the merged tree (DESIGN §1)."""

    KEPT = "kept"
    MOVED = "moved"
    REFORMATTED = "reformatted"
    EQUIVALENT = "equivalent"
    SUPERSEDED = "superseded"
    REMOVED = "removed on purpose"
    LOST = "lost"
    REVERTED = "reverted"
    PARTLY = "partly"
    DEAD = "dead"
    REVIVED = "revived"
    TWICE = "done twice"

    @property
    def is_loss(self) -> bool:
        """Whether the side's work is not effective in merged and nobody took it out on purpose."""
        return self in {Verdict.LOST, Verdict.REVERTED, Verdict.PARTLY, Verdict.DEAD, Verdict.REVIVED, Verdict.TWICE}

    @property
    def is_told(self) -> bool:
        """Whether a report speaks of it: a loss, or what the other side's work took the place of."""
        return self.is_loss or self is Verdict.SUPERSEDED


class Status(StrEnum):
    """How a check ended. There is no fourth way: a check that says nothing has run."""

    RAN = "ran"
    SKIPPED = "skipped"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Origin:
    """A commit behind a change.

    Attributes:
        commit: full SHA.
        pr: the pull request number found in the subject or trailers, if any.
        subject: first line of the message.
        is_fix: whether the message says that it mends something.
        tests: test files that the same commit touched.
        date: author date, ISO 8601, or empty.
        author: the author's name, or empty.
    """

    commit: str
    pr: int | None
    subject: str
    is_fix: bool = False
    tests: tuple[str, ...] = ()
    date: str = ""
    author: str = ""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What each of the four trees says at the place; None where a tree has nothing there."""

    base: str | None = None
    ours: str | None = None
    theirs: str | None = None
    merged: str | None = None


@dataclass(frozen=True, slots=True)
class Related:
    """Another place that the finding speaks of, and what it has to do with it."""

    path: str
    line: int
    message: str
    tree: str = "merged"


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace lines `start`..`end` (1-based, inclusive; `end < start` inserts before `start`) of `path` by `text`."""

    path: str
    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing to act on or look at. `fingerprint` depends on content, never on line numbers or order.

    `merge` is the SHA of the sync that it is of (of the tree, for a merge in progress); None for the linter's.
    `edits` and `patch` say the same thing, where it was asked for: what brings a loss back, or a rule's safe edits.
    """

    code: str
    name: str
    severity: Severity
    path: str
    line: int
    message: str
    fingerprint: str
    confidence: Confidence = Confidence.HIGH
    end_line: int | None = None
    column: int = 1
    symbol: str = "<module>"
    subject: str | None = None
    lost_side: Side | None = None
    verdict: Verdict | None = None
    numeric: bool = False
    origins: tuple[Origin, ...] = ()
    evidence: Evidence = field(default_factory=Evidence)
    related: tuple[Related, ...] = ()
    edits: tuple[Edit, ...] = ()
    fixable: bool = False
    because: tuple[str, ...] = ()
    policy: str | None = None
    accepted: str | None = None
    score: float = 0.0
    repaired_by: Origin | None = None
    merge: str | None = None
    line_hash: str | None = None
    patch: str | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """How one check, or one file or case inside it, ended. `subject` names the file or case if it is not the whole."""

    check: str
    status: Status
    reason: str | None = None
    seconds: float = 0.0
    subject: str | None = None


@dataclass(frozen=True, slots=True)
class ChangeCount:
    """How many changes a side made since the base and what became of them."""

    total: int = 0
    kept: int = 0
    lost: int = 0


@dataclass(frozen=True, slots=True)
class FileCount:
    """How many files a side changed since the base, and what became of them.

    Attributes:
        total: files that it changed.
        whole: files all of whose changes are in effect.
        taken: files that both sides changed and that merged has as the other side has them.
        taken_changes, taken_kept: this side's changes to those, and how many of them are in effect all the same.
    """

    total: int = 0
    whole: int = 0
    taken: int = 0
    taken_changes: int = 0
    taken_kept: int = 0


@dataclass(frozen=True, slots=True)
class Survival:
    """How many of one side's changes to one file are effective in merged."""

    path: str
    side: Side
    total: int
    kept: int


@dataclass(frozen=True, slots=True)
class MergeRecord:
    """One judged sync: SHAs of the merge, of the tree really checked, of the parents and the bases."""

    merged: str
    checked: str
    ours: str
    theirs: str
    base: tuple[str, ...]
    subject: str = ""
    ours_changes: ChangeCount = field(default_factory=ChangeCount)
    theirs_changes: ChangeCount = field(default_factory=ChangeCount)
    survival: tuple[Survival, ...] = ()
    repaired: tuple[Finding, ...] = ()
    ours_files: FileCount = field(default_factory=FileCount)
    theirs_files: FileCount = field(default_factory=FileCount)


@dataclass(frozen=True, slots=True)
class Containment:
    """Whether one tree has one fix, by content and effect (`guard contains`)."""

    fix: str
    pr: int | None
    rev: str
    status: str
    place: str | None = None
    by: str | None = None
    subject: str = ""
    numeric: bool = False


@dataclass(frozen=True, slots=True)
class Cut:
    """How a global batch is cut over ranks and micro-batches: sizes of the parallel groups, and sequences a step."""

    dp: int = 1
    cp: int = 1
    tp: int = 1
    ep: int = 1
    mbs: int = 1
    etp: int | None = None
    pp: int = 1
    vpp: int | None = None


@dataclass(frozen=True, slots=True)
class Invariance:
    """One measured case of `guard verify`: g_cut against g_ref.

    Attributes:
        ratio: |g_cut| / |g_ref|, or None where nothing was measured.
        rel: max|g_cut - g_ref| / max|g_ref|.
        tolerance: the largest `rel` that still counts as equal.
    """

    case: str
    tree: str
    cut: Cut
    status: str
    ratio: float | None = None
    rel: float | None = None
    tolerance: float = 1e-4
    reason: str | None = None
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class SyncRow:
    """One sync of `guard history`: its counts, and what became of its losses.

    What was lost, revived or broken is repaired, accepted or open: `lost + revived + breaks` is
    `repaired + accepted + open`. Not among them, and counted apart, is what theirs itself gave up later and what could
    not be followed, since its file changed and its evidence tells it from no other text.
    """

    merge: MergeRecord
    date: str
    lost: int
    revived: int
    breaks: int
    repaired: int
    open: int
    repaired_by: tuple[tuple[str, str, float], ...] = ()
    status: Status = Status.RAN
    reason: str | None = None
    accepted: int = 0
    given_up: int = 0
    not_followed: int = 0


@dataclass(frozen=True, slots=True)
class HunkRecord:
    """One conflict hunk of a merge, and what became of it.

    Attributes:
        path: the conflicted file.
        line, end_line: where it stands in the file as it is left (1-based).
        symbol: the definition that it stands in.
        resolved: whether both sides were joined.
        reason: how they were joined, or why they were not.
        numeric: whether an edit of either side bears on a computed number.
        ours, theirs: the commits that each side brings into it.
        would_lose: what taking one side whole would lose, by side ("ours" is lost where theirs is taken).
        rank: numeric × number of changes × lines, for the order in which to look at open ones.
    """

    path: str
    line: int
    end_line: int
    symbol: str
    resolved: bool
    reason: str
    numeric: bool = False
    ours: tuple[Origin, ...] = ()
    theirs: tuple[Origin, ...] = ()
    would_lose: tuple[tuple[str, str], ...] = ()
    rank: float = 0.0


@dataclass(frozen=True, slots=True)
class RuleHelp:
    """What a report may print about a rule: `name` reads well after "allow", `short` is one line, `help` Markdown."""

    code: str
    name: str
    short: str
    help: str = ""
    severity: Severity = Severity.WARNING


@dataclass(frozen=True, slots=True)
class Report:
    """Everything one run found and everything it did not look at.

    `range` holds the words of a command line by which another verb selects the same syncs: `--since merge-base`.
    """

    command: str
    version: str
    findings: tuple[Finding, ...] = ()
    outcomes: tuple[Outcome, ...] = ()
    merges: tuple[MergeRecord, ...] = ()
    contains: tuple[Containment, ...] = ()
    invariance: tuple[Invariance, ...] = ()
    syncs: tuple[SyncRow, ...] = ()
    resolution: tuple[HunkRecord, ...] = ()
    hidden: int = 0
    files: int = 0
    seconds: float = 0.0
    notices: tuple[str, ...] = ()
    rules: tuple[RuleHelp, ...] = ()
    range: tuple[str, ...] = ()

    def count(self, severity: Severity) -> int:
        """How many findings of this severity stand, accepted ones aside."""
        return sum(1 for finding in self.findings if finding.severity is severity and finding.accepted is None)

    def range_of(self, finding: Finding) -> tuple[str, ...]:
        """The options, as words, by which another verb meets a finding of this report again."""
        if self.command == "history" and finding.merge is not None:
            return ("--merge", finding.merge[:12])  # each sync of a history is judged by its own tree
        return self.range


def fingerprint(code: str, path: str, symbol: str, text: str) -> str:
    """Identity of a finding across runs: 16 hex digits over code, path, symbol and white-space-normalised text."""
    normalised = " ".join(text.split())
    identity = "\0".join((code, path, symbol, normalised))
    return hashlib.sha256(identity.encode("utf-8", "backslashreplace")).hexdigest()[:16]
