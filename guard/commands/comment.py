"""`guard comment`: keep one comment with the report on a pull or merge request up to date."""

from __future__ import annotations

import os
from pathlib import Path

import click

from guard.commands.forge import github, gitlab
from guard.errors import GuardError
from guard.report.markdown import MARKER


@click.command("comment")
@click.argument("files", nargs=-1, required=True, metavar="FILE...", type=click.Path(path_type=Path))
@click.option("--github", "forge", flag_value="github", help="A comment of a GitHub pull request.")
@click.option("--gitlab", "forge", flag_value="gitlab", help="A note of a GitLab merge request.")
@click.option("--number", type=click.IntRange(min=1), help="Of the pull or merge request. Default: the job's.")
@click.option("--link", metavar="URL", help="Where the whole report is, as the comment's last line.")
@click.option("--dry-run", is_flag=True, help="Print the comment and send nothing.")
def comment(files: tuple[Path, ...], forge: str | None, number: int | None, link: str | None, dry_run: bool) -> int:
    """Write the reports in FILEs (of -o markdown=FILE) as one comment, and renew it from then on.

    The first FILE is the report of the check: where it is missing the comment says that the check could not run. The
    others follow as far as they fit. The token and the place come from the job: GITHUB_TOKEN and GITHUB_REPOSITORY, or
    GITLAB_TOKEN, CI_API_V4_URL and CI_PROJECT_ID.
    """
    jobs = {"gitlab": "GITLAB_CI", "github": "GITHUB_ACTIONS"}
    forge = forge or next((name for name, variable in jobs.items() if os.environ.get(variable)), None)
    if forge is None:
        raise GuardError("--github or --gitlab? Neither's job runs here")
    if dry_run:
        click.echo(body_of(files, link, 65_000), nl=False)
        return 0
    discussion = (github if forge == "github" else gitlab)(os.environ, number)
    done = discussion.keep(MARKER, body_of(files, link, discussion.most))
    click.echo(f"{done}: the comment of {forge}", err=True)
    return 0


def body_of(files: tuple[Path, ...], link: str | None, most: int) -> str:
    """The comment: the reports one below the other, in at most `most` characters, and a link to the rest.

    Raises:
        GuardError: a report cannot be read.
    """
    foot = f"\n[The whole report]({link})\n" if link else ""
    texts = [_text(file) for file in files]
    parts = [texts[0] or f"{MARKER}\n### guard: the check could not run\n"]
    left_out = "\nA further report does not fit here; see the artifacts of the job.\n"
    for text in filter(None, texts[1:]):
        part = "\n---\n\n" + text.removeprefix(MARKER).lstrip("\n")
        if sum(map(len, parts)) + len(part) + len(foot) + len(left_out) > most:
            parts.append(left_out)
            break
        parts.append(part)
    room = most - len(foot)
    body = "".join(parts)
    return (body if len(body) <= room else body[: room - 3].rstrip() + " …\n") + foot


def _text(file: Path) -> str | None:
    try:
        text = file.read_text("utf-8", "replace")
    except FileNotFoundError:
        return None
    except OSError as error:
        raise GuardError(f"{file} cannot be read: {error.strerror or error}") from error
    if not text.strip():
        return None
    return text if text.startswith(MARKER) else f"{MARKER}\n{text}"
