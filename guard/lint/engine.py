"""Runs rules over sources: prefilter, facts, matching, suppression, cache and processes."""

from __future__ import annotations

import ast
import re
import time
from collections.abc import Callable, Iterable

from guard.documents.decoding import decode
from guard.errors import NotAnalysedError
from guard.lint.facts import FileFacts
from guard.lint.matching import Hit, Matcher, text_of
from guard.lint.pool import spread
from guard.lint.prefilter import Prefilter
from guard.lint.project import ProjectIndex, digest
from guard.lint.python_rules import CodeRule, Found, RuleFile
from guard.lint.records import FileResult, from_bytes, to_bytes
from guard.lint.ruleset import RuleSet
from guard.lint.source import LintResult, Source
from guard.lint.suppress import MARK, apply
from guard.model import Confidence, Finding, Outcome, Severity, Status, fingerprint
from guard.store.facts import FactStore, NullStore

CHECK = "lint"
SECONDS_PER_FILE = 10.0
# Below this many files, starting processes costs more than it saves.
MANY = 60
_HOLE = re.compile(r"\$([A-Za-z_]\w*)")


def lint_sources(
    sources: Iterable[Source],
    rules: RuleSet,
    *,
    project: ProjectIndex | None = None,
    jobs: int = 1,
    seconds_per_file: float = SECONDS_PER_FILE,
    store: FactStore | None = None,
) -> LintResult:
    """Lint files with rules.

    Args:
        sources: the files.
        rules: the rules.
        project: the tree around the files, for re-exports, signatures and class hierarchies; None: each alone.
        jobs: processes to use at most; few files stay in this process.
        seconds_per_file: a file that takes longer is reported as not analysed.
        store: where results of unchanged files are kept.

    Returns:
        findings in order of path and place; an outcome for each file that was not analysed.
    """
    files = list(sources)
    kept = _Kept(rules, project, store) if store is not None and not isinstance(store, NullStore) else None
    linter = FileLinter(rules, project, seconds_per_file, dependencies=kept is not None)
    results = [kept.result(file) if kept is not None else None for file in files]
    missing = [i for i, result in enumerate(results) if result is None]
    fresh = spread([files[i] for i in missing], linter.lint, jobs if len(missing) >= MANY else 1)
    for i, result in zip(missing, fresh, strict=True):
        results[i] = result
        if kept is not None:
            kept.keep(files[i], result)
    done = [result for result in results if result is not None]
    findings = sorted(
        (finding for result in done for finding in result.findings), key=lambda f: (f.path, f.line, f.column, f.code)
    )
    return LintResult(tuple(findings), tuple(r.outcome for r in done if r.outcome is not None), len(files))


class _Kept:
    """Results of earlier runs, as long as everything they depended on is as it was."""

    def __init__(self, rules: RuleSet, project: ProjectIndex | None, store: FactStore) -> None:
        self.rules = rules
        self.project = project
        self.store = store

    def _key(self, file: Source) -> str:
        return f"{self.rules.digest}:{file.path}:{digest(file.data)}"

    def result(self, file: Source) -> FileResult | None:
        """What is kept of a file, None where nothing is or where it no longer holds."""
        data = self.store.get(CHECK, self._key(file))
        known = from_bytes(data) if data is not None else None
        return known if known is not None and self._stands(known) else None

    def keep(self, file: Source, result: FileResult) -> None:
        """Keep a result for the next run."""
        self.store.put(CHECK, self._key(file), to_bytes(result))

    def _stands(self, result: FileResult) -> bool:
        if not result.depends:
            return True
        project = self.project
        return project is not None and all(project.state(key) == then for key, then in result.depends.items())


class FileLinter:
    """Lints one file after another with the same rules and project.

    `dependencies` says whether a result tells what it depended on: finding that out costs, and only a store asks.
    """

    def __init__(
        self, rules: RuleSet, project: ProjectIndex | None, seconds: float, *, dependencies: bool = True
    ) -> None:
        self.project = project
        self.seconds = seconds
        self._dependencies = dependencies
        self._prefilter = Prefilter(rules)
        self._complete = rules.complete
        self._active = {key: rule.id for rule in rules for key in (rule.id, rule.name)}

    def looks_at(self, data: bytes) -> bool:
        """Whether any rule can find something in these bytes."""
        return bool(self._prefilter.rules(data))

    def lint(self, source: Source) -> FileResult:
        """Findings of one file; one that cannot be analysed gives an outcome and nothing else, never an exception."""
        if self.project is not None:
            self.project.touched = set()
        try:
            findings = self._findings(source)
        except NotAnalysedError as problem:
            return self._not(source, Status.SKIPPED, problem.reason)
        except RecursionError:
            return self._not(source, Status.SKIPPED, "nested too deeply to be followed")
        except MemoryError:
            return self._not(source, Status.FAILED, "out of memory")
        except Exception as problem:
            # One file must not end the run; the reason names the defect so that it can be reported.
            return self._not(source, Status.FAILED, f"{type(problem).__name__}: {problem}")
        depends: dict[str, str] = {}
        if self.project is not None and self._dependencies:
            depends = {key: self.project.state(key) for key in sorted(self.project.touched)}
        return FileResult(tuple(findings), None, depends)

    def _not(self, source: Source, status: Status, reason: str) -> FileResult:
        return FileResult((), Outcome(CHECK, status, f"not analysed: {reason}", subject=source.path), {})

    def _findings(self, source: Source) -> list[Finding]:
        wanted = self._prefilter.clauses(source.data, source.path)
        marked = MARK in source.data
        if not wanted and not marked:
            return []
        text = decode(source.data).text
        found: list[Finding] = []
        spans: dict[str, tuple[int, int]] = {}
        if wanted:
            facts = FileFacts(source.path, text, self.project)
            matcher = Matcher(facts, deadline(self.seconds))
            file = RuleFile(facts, matcher.tick)
            seen: dict[str, int] = {}
            for rule, clauses in wanted:
                pairs = (
                    ((place.at, of_code(rule, place, facts, seen)) for place in rule.holds(file))
                    if isinstance(rule, CodeRule)
                    else ((hit.at, to_finding(hit, facts, seen)) for hit in matcher.hits(rule, clauses))
                )
                for at, finding in pairs:
                    spans[finding.fingerprint] = _span(facts.statement(at) or at, finding)
                    found.append(finding)
        return apply(source.path, text, found, self._active, spans, self._complete) if marked else found


def _span(statement: ast.AST, finding: Finding) -> tuple[int, int]:
    """First and last line of the statement that a finding stands on; of a block its head counts only."""
    first, last = getattr(statement, "lineno", finding.line), finding.end_line or finding.line
    if not isinstance(statement, ast.If | ast.For | ast.While | ast.With | ast.FunctionDef | ast.ClassDef):
        last = max(last, getattr(statement, "end_lineno", last) or last)
    return first, last


def deadline(seconds: float) -> Callable[[], None]:
    """A function that raises NotAnalysedError once the time is over."""
    # Processor time: a busy machine must not make a file look hard.
    end = time.thread_time() + seconds
    count = 0

    def tick() -> None:
        nonlocal count
        count += 1
        if count % 256 == 0 and time.thread_time() > end:
            raise NotAnalysedError(f"took longer than {seconds:g} s")

    return tick


def fill(template: str, hit: Hit) -> str:
    """A message with the source text of its holes."""

    def text(found: re.Match[str]) -> str:
        node = hit.bindings.get(found.group(1))
        return text_of(node) if node is not None else found.group(0)

    return " ".join(_HOLE.sub(text, template).split())


def to_finding(hit: Hit, facts: FileFacts, seen: dict[str, int]) -> Finding:
    """The finding of a hit. What is not sure is a note, whatever the rule's severity."""
    rule, clause, at = hit.rule, hit.clause, hit.at
    symbol = facts.symbol(at)
    body = text_of(at) if not isinstance(at, ast.If | ast.For | ast.FunctionDef) else text_of(hit.node)[:400]
    body = _numbered(rule.id, symbol, body, seen)
    severity = clause.severity or rule.severity
    message = fill(clause.message or rule.message, hit)
    if not hit.known and severity is Severity.ERROR:
        severity = Severity.WARNING
        message += " (the callee is not defined in this tree; its parameters are those that the rule names)"
    if not hit.sure:
        severity = Severity.NOTE
        message += " (not certain: the callee or its arguments cannot be told from the source)"
    subject = fill(clause.subject, hit) if clause.subject else _subject(hit)
    return Finding(
        code=rule.id,
        name=rule.name,
        severity=severity,
        path=facts.path,
        line=getattr(at, "lineno", 1),
        message=message,
        fingerprint=fingerprint(rule.id, facts.path, symbol, body),
        confidence=Confidence.HIGH if hit.sure and rule.status == "stable" else Confidence.MEDIUM,
        end_line=getattr(at, "end_lineno", None),
        column=getattr(at, "col_offset", 0) + 1,
        symbol=symbol,
        subject=subject,
        numeric=rule.numeric,
        fixable=rule.fix is not None and hit.sure and (rule.fix.of is None or rule.fix.of in hit.bindings),
    )


def _numbered(code: str, symbol: str, body: str, seen: dict[str, int]) -> str:
    """The text that a fingerprint is made of: the second and later ones alike in one definition are counted."""
    key = f"{code}\0{symbol}\0{body}"
    seen[key] = seen.get(key, 0) + 1
    return f"{body} #{seen[key]}" if seen[key] > 1 else body


def of_code(rule: CodeRule, found: Found, facts: FileFacts, seen: dict[str, int]) -> Finding:
    """The finding of a rule in Python. Only a stable rule's is of high confidence."""
    at = found.at
    symbol = facts.symbol(at)
    body = _numbered(rule.id, symbol, text_of(at)[:400], seen)
    return Finding(
        code=rule.id,
        name=rule.name,
        severity=found.severity or rule.severity,
        path=facts.path,
        line=getattr(at, "lineno", 1),
        message=" ".join(found.message.split()),
        fingerprint=fingerprint(rule.id, facts.path, symbol, body),
        confidence=Confidence.HIGH if rule.status == "stable" else Confidence.MEDIUM,
        end_line=getattr(at, "end_lineno", None),
        column=getattr(at, "col_offset", 0) + 1,
        symbol=symbol,
        subject=found.subject,
        numeric=rule.numeric,
    )


def _subject(hit: Hit) -> str | None:
    """The argument that the clause asks for, if it asks for one."""
    for condition in hit.clause.require:
        if condition.passes:
            return condition.passes[0]
        if condition.value is not None and condition.value.argument:
            return condition.value.argument[0]
    return None
