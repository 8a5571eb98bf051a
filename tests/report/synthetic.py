"""Reports made up for tests: a small readable one, and a large one full of strings that try to break a format."""

from __future__ import annotations

import dataclasses
import hashlib
from random import Random

from guard.model import (
    ChangeCount,
    Confidence,
    Containment,
    Cut,
    Evidence,
    Finding,
    Invariance,
    MergeRecord,
    Origin,
    Outcome,
    Related,
    Report,
    RuleHelp,
    Severity,
    Side,
    Status,
    Survival,
    SyncRow,
    Verdict,
)

HOSTILE = (
    "\x1b[31mred\x1b[0m",
    "<script>alert(1)</script>",
    "::error::stop\n::set-output name=a::b",
    "a\r\nb\x00c",
    "caf\udce9",
    "]]>&amp;\"'`",
    "| pipe | `tick` | **bold** |",
    "\u202egnp.exe",
    "%0A%0D",
    "@everyone #1 <!-- -->",
    "語" * 40,
    "](javascript:alert(1))",
)


def sha(text: str) -> str:
    return hashlib.sha1(text.encode()).hexdigest()


def mark(text: str) -> str:
    return sha(text)[:16]


RULES = (
    RuleHelp(
        "GRD101", "explicit-normalization-group", "pass the process group", "# Why\n\n`x` <b>&</b>", Severity.ERROR
    ),
    RuleHelp("GRD102", "sequence-aux-loss-batch-factor", "the token count carries the batch size", "", Severity.ERROR),
)

ROUTER = "megatron/core/transformer/moe/router.py"
TRAINING = "megatron/training/training.py"

SEQ_AUX = Origin(
    commit=sha("5798"),
    pr=5798,
    subject="Fix sequence auxiliary loss scale (#5798)",
    is_fix=True,
    tests=("tests/unit_tests/transformer/moe/test_aux_loss.py",),
    date="2026-03-02T10:00:00+00:00",
)
LOADER = Origin(sha("loader"), 6012, "Wrap the data loader for dynamic context parallel", False, (), "2026-04-01")
NO_PULL = Origin(sha("nopull"), None, "Tidy the argument parser", False, (), "2026-04-02")


def small() -> Report:
    """One sync with a reverted fix, a lost feature, a revived block, a break, a lint finding and a skipped check."""
    fix = Finding(
        code="GRD201",
        name="reverted-fix",
        severity=Severity.ERROR,
        path=ROUTER,
        line=559,
        end_line=559,
        column=13,
        message="theirs' change of `valid_token_count` went back to the base's text",
        fingerprint=mark("fix"),
        symbol="TopKRouter._apply_seq_aux_loss",
        subject="valid_token_count",
        lost_side=Side.THEIRS,
        verdict=Verdict.REVERTED,
        numeric=True,
        origins=(SEQ_AUX,),
        evidence=Evidence(
            base="            valid_token_count=local_num_tokens,\n",
            ours="            valid_token_count=local_num_tokens,\n",
            theirs="            valid_token_count=local_num_tokens * bsz,\n",
            merged="            valid_token_count=local_num_tokens,\n",
        ),
        related=(Related(ROUTER, 571, "the fixed line", "theirs"),),
        fixable=True,
        score=9.0,
    )
    loader = Finding(
        code="GRD202",
        name="lost-change",
        severity=Severity.ERROR,
        path=TRAINING,
        line=2210,
        message="ours' call of `wrap_data_iterator` is in merged in no form",
        fingerprint=mark("loader"),
        symbol="train_step",
        lost_side=Side.OURS,
        verdict=Verdict.LOST,
        origins=(LOADER,),
        evidence=Evidence(
            base="    losses = step(data_iterator)",
            ours="    data_iterator = wrap_data_iterator(data_iterator, config)\n    losses = step(data_iterator)",
            theirs="    losses = step(data_iterator, model)",
            merged="    losses = step(data_iterator, model)",
        ),
        score=5.0,
    )
    more = tuple(
        Finding(
            code="GRD202",
            name="lost-change",
            severity=Severity.WARNING,
            path=f"megatron/training/part{number}.py",
            line=10 + number,
            message="ours' keyword argument `dynamic_cp` is in merged in no form",
            fingerprint=mark(f"more{number}"),
            symbol=f"build_{number}",
            lost_side=Side.OURS,
            verdict=Verdict.LOST,
            origins=(LOADER,),
            evidence=Evidence("f(a)", "f(a, dynamic_cp=True)", "f(a)", "f(a)"),
            score=2.0,
        )
        for number in range(5)
    )
    revived = Finding(
        code="GRD205",
        name="revived-code",
        severity=Severity.WARNING,
        path="megatron/training/arguments.py",
        line=88,
        message="`--old-flag`, which theirs deleted, is back",
        fingerprint=mark("revived"),
        symbol="add_arguments",
        lost_side=Side.THEIRS,
        verdict=Verdict.REVIVED,
        origins=(NO_PULL,),
        evidence=Evidence("group.add('--old-flag')", "group.add('--old-flag')", None, "group.add('--old-flag')"),
    )
    broken = Finding(
        code="GRD301",
        name="undefined-name",
        severity=Severity.ERROR,
        path="megatron/core/parallel_state.py",
        line=1402,
        message="`get_hybrid_groups` is read, and nothing defines it in merged",
        fingerprint=mark("broken"),
        symbol="initialize",
        subject="get_hybrid_groups",
        evidence=Evidence(merged="    groups = get_hybrid_groups(world)"),
    )
    lint = Finding(
        code="GRD101",
        name="explicit-normalization-group",
        severity=Severity.NOTE,
        confidence=Confidence.LOW,
        path=ROUTER,
        line=20,
        message="`**kwargs` hides whether `group` is passed",
        fingerprint=mark("lint"),
    )
    accepted = Finding(
        code="GRD202",
        name="lost-change",
        severity=Severity.ERROR,
        path="setup.py",
        line=1,
        message="accepted once",
        fingerprint=mark("accepted"),
        accepted="dev keeps its own setup",
    )
    repaired = Finding(
        code="GRD202",
        name="lost-change",
        severity=Severity.ERROR,
        path="megatron/core/optimizer.py",
        line=5,
        message="was lost",
        fingerprint=mark("repaired"),
        verdict=Verdict.LOST,
        origins=(NO_PULL,),
        repaired_by=Origin(sha("repair"), None, "Bring back what the sync dropped"),
    )
    merge = MergeRecord(
        merged=sha("merged"),
        checked=sha("merged"),
        ours=sha("ours"),
        theirs=sha("theirs"),
        base=(sha("base"),),
        subject="Merge branch 'main' into dev",
        ours_changes=ChangeCount(120, 90, 30),
        theirs_changes=ChangeCount(431, 402, 2),
        survival=(
            Survival(TRAINING, Side.OURS, 31, 1),
            Survival(ROUTER, Side.THEIRS, 6, 5),
            Survival("megatron/core/fine.py", Side.OURS, 4, 4),
        ),
        repaired=(repaired,),
    )
    outcomes = (
        Outcome("lost", Status.RAN, None, 2.5),
        Outcome("broken", Status.RAN, None, 1.25),
        Outcome("lint", Status.SKIPPED, "does not parse: line 3", 0.0, "megatron/bad.py"),
    )
    of_merge = (
        dataclasses.replace(found, merge=merge.merged) for found in (*more, revived, loader, broken, fix, accepted)
    )
    return Report(
        command="check",
        version="0.1.0",
        findings=(lint, *of_merge),
        range=("--merge", merge.merged[:12]),
        outcomes=outcomes,
        merges=(merge,),
        files=42,
        seconds=3.75,
        rules=RULES,
    )


def large(count: int = 1500) -> Report:
    """Findings, outcomes and tables of every kind, with hostile strings wherever a string may stand."""
    random = Random(7)

    def nasty(text: str) -> str:
        return f"{text} {random.choice(HOSTILE)}"

    origins = [
        Origin(sha(f"o{n}"), 1000 + n if n % 3 else None, nasty(f"Fix thing {n}"), n % 2 == 0, (nasty("tests/t.py"),))
        for n in range(count // 10)
    ]
    verdicts = [verdict for verdict in Verdict if verdict.is_loss]
    codes = ["GRD101", "GRD102", "GRD201", "GRD202", "GRD205", "GRD301", "GRD304", "GRD501"]
    findings = []
    for number in range(count):
        code = random.choice(codes)
        lost = code.startswith("GRD2")
        text = f"value_{number} = compute(a, b{number % 7})\n" * (1 + number % 5)
        findings.append(
            Finding(
                code=code,
                name=f"name-of-{code.lower()}",
                severity=list(Severity)[number % 3],
                confidence=list(Confidence)[number % 3],
                path=f"pkg/{random.choice(HOSTILE)}/file{number % 60}.py"
                if number % 9 == 0
                else f"pkg/f{number % 60}.py",
                line=number + 1,
                end_line=number + 1 + number % 4,
                column=1 + number % 20,
                message=nasty(f"message {number}"),
                fingerprint=mark(str(number)),
                symbol=nasty(f"Class{number % 11}.method") if number % 4 else "<module>",
                subject=nasty("name") if number % 2 else None,
                lost_side=random.choice(list(Side)) if lost else None,
                verdict=random.choice(verdicts) if lost else None,
                numeric=number % 5 == 0,
                origins=(random.choice(origins),) if lost else (),
                evidence=Evidence(
                    base=text,
                    ours=nasty(text) if number % 3 else None,
                    theirs=text.replace("compute", "compute_new"),
                    merged=text if number % 6 else None,
                ),
                related=(Related("pkg/other.py", 3, nasty("see"), "theirs"),) if number % 8 == 0 else (),
                fixable=number % 10 == 0,
                policy="take-theirs" if number % 50 == 0 else None,
                accepted=nasty("accepted") if number % 40 == 0 else None,
                score=random.random() * 10,
            )
        )
    merge = MergeRecord(
        merged=sha("m"),
        checked=sha("c"),
        ours=sha("a"),
        theirs=sha("b"),
        base=(sha("d"),),
        subject=nasty("Merge"),
        ours_changes=ChangeCount(900, 500, 400),
        theirs_changes=ChangeCount(1900, 1500, 400),
        survival=tuple(
            Survival(f"pkg/f{number}.py", side, 20, (number * 7) % 21) for number in range(60) for side in Side
        ),
        repaired=tuple(findings[:3]),
    )
    outcomes = (
        Outcome("lost", Status.RAN, None, 3.0),
        Outcome("broken", Status.FAILED, nasty("engine ended with 3"), 1.0),
        Outcome("lint", Status.SKIPPED, nasty("no rules"), 0.0, nasty("pkg/a.py")),
    )
    statuses = ("present", "dead", "reverted", "missing", "not-merged")
    contains = tuple(
        Containment(
            sha(f"fix{fix}"),
            10 + fix,
            f"branch-{rev}",
            statuses[(fix + rev) % 5],
            "pkg/f1.py:3",
            sha("by"),
            nasty("Fix"),
        )
        for fix in range(6)
        for rev in range(3)
    )
    invariance = tuple(
        Invariance(
            case=f"seq_aux_loss[{number}]",
            tree=tree,
            cut=Cut(dp=1 + number % 2, mbs=1 + number % 4),
            status=("ok", "differs", "skipped", "failed")[(number + len(tree)) % 4],
            ratio=(None, float("nan"), 4.0, 1.0)[number % 4],
            rel=0.75,
            reason=nasty("why") if number % 2 else None,
        )
        for number in range(24)
        for tree in ("main", "dev1")
    )
    row = SyncRow(merge, "2026-07-28", 12, 3, 2, 9, 6, ((sha("r"), nasty("Repair"), 3.5),))
    return Report(
        command="check",
        version="0.1.0",
        findings=tuple(findings),
        outcomes=outcomes,
        merges=(merge,),
        contains=contains,
        invariance=invariance,
        syncs=(row,),
        hidden=17,
        files=700,
        seconds=12.0,
        notices=(nasty("notice"),),
        rules=RULES,
    )
