"""Give a report what its formats can show beyond the findings: identities of lines, safe edits, patches."""

from __future__ import annotations

from pathlib import Path

from guard.commands.judgement import RunSettings
from guard.commands.linting import rules_for
from guard.commands.output import WITH_EDITS, OutputOptions
from guard.commands.selection import Selection
from guard.commands.suggestions import with_fixes, with_line_hashes, with_restorations
from guard.config import Config
from guard.git import Entry, Repository
from guard.lint.project import ProjectIndex
from guard.model import Finding, Report


def suggesting(
    report: Report,
    repository: Repository,
    selection: Selection,
    config: Config,
    settings: RunSettings,
    output: OutputOptions,
) -> Report:
    """The report of a range with what the asked formats can show."""
    formats = {given.partition("=")[0] for given in output.formats}
    if not formats & WITH_EDITS or not report.findings:
        return report
    checked = {merge.merged: merge.checked for merge in report.merges}
    trees: dict[str, dict[str, Entry]] = {}

    def read(finding: Finding) -> bytes | None:
        tree = checked.get(finding.merge, selection.tip) if finding.merge else selection.tip
        if tree is None:
            return None
        if tree not in trees:
            trees[tree] = repository.entries(tree)
        entry = trees[tree].get(finding.path)
        return repository.blob(entry.sha) if entry is not None and entry.kind == "file" else None

    if "sarif" in formats:
        report = with_line_hashes(report, read)
    if selection.tip is not None and any(finding.fixable and finding.merge is None for finding in report.findings):
        project = ProjectIndex.of_tree(repository.entries(selection.tip), repository.blob)
        report = with_fixes(report, read, rules_for(config, repository.work_tree or Path.cwd()), project)
    if output.patches:
        report = with_restorations(
            report, repository, selection.syncs, config, settings.store, settings.jobs, settings.progress
        )
    return report


def suggesting_in_files(report: Report, config: Config, root: Path, output: OutputOptions) -> Report:
    """The same for files of the work tree."""
    formats = {given.partition("=")[0] for given in output.formats}
    if not formats & WITH_EDITS or not report.findings:
        return report

    def read(finding: Finding) -> bytes | None:
        file = root / finding.path
        return file.read_bytes() if file.is_file() else None

    if "sarif" in formats:
        report = with_line_hashes(report, read)
    if any(finding.fixable for finding in report.findings):
        report = with_fixes(report, read, rules_for(config, root), ProjectIndex.of_directory(root))
    return report
