"""Start git: one place, through GitPython's command layer, never through a shell.

What the environment or a configuration file could make git do on its own (hooks, external diff, fsmonitor, replace
refs, grafts, prompts, fetching what a partial clone lacks) is switched off here, for every call.
"""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

# GitPython looks for git when it is imported; a machine without git is our error to report, not a traceback.
os.environ.setdefault("GIT_PYTHON_REFRESH", "quiet")

from guard.errors import GitError, MissingObjectError

try:
    from git.cmd import Git
except ImportError as problem:  # it asks git for its version, and takes any answer for one
    raise GitError(f"git on the PATH cannot be used: {problem}") from problem

MINIMUM_VERSION = (2, 38)  # the first release whose `merge-tree --write-tree` runs the real ort merge

HARDENING = (
    "--no-replace-objects",
    "--literal-pathspecs",
    "--no-optional-locks",
    "--no-pager",
    *("-c", "core.hooksPath=/dev/null"),
    *("-c", "core.fsmonitor=false"),
    *("-c", "core.attributesFile=/dev/null"),
    *("-c", "core.quotePath=false"),
    *("-c", "log.showSignature=false"),
    *("-c", "protocol.ext.allow=never"),
)

# Characters of one command line. Linux takes two million bytes with the environment, Windows 32,767.
LONGEST_COMMAND = 30_000

QUIET_ENVIRONMENT = {
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_CONFIG_COUNT": "0",
    "GIT_CONFIG_PARAMETERS": "",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_PAGER": "cat",
    "GIT_TRACE": "0",
    # git fetches on its own what a partial clone lacks, with whatever program the clone's configuration names. The
    # second line holds for releases that do not know the first: no transport is allowed, whatever configuration says.
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "none",
    "LC_ALL": "C",  # messages that tell a missing object apart
}

# What git says where an object that a tree or commit names is not there.
_MISSING = re.compile(
    r"(?:unable to read|could not (?:read|fetch)|missing (?:blob|tree|commit|object)|bad (?:object|tree|blob)|"
    r"unable to (?:find|get)|failed to read|not a valid object|not a tree object|bad tree object)\b.*?"
    r"\b([0-9a-f]{40}(?:[0-9a-f]{24})?)\b",
    re.IGNORECASE,
)
# The listing of one tree: a few entries that name each other often can unfold without an end.
MOST_BYTES = 128 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class GitResult:
    """What one git process answered."""

    status: int
    output: bytes
    errors: str


@dataclass(frozen=True, slots=True)
class GitCommand:
    """A way to start git: a directory and the environment laid over the process's own.

    Attributes:
        directory: working directory of the process.
        environment: variables laid over the inherited ones.
        options: what stands before the subcommand.
    """

    directory: Path
    environment: Mapping[str, str] = field(default_factory=dict)
    options: tuple[str, ...] = HARDENING

    def run(
        self,
        *arguments: str,
        stdin: bytes | None = None,
        accept: Sequence[int] = (0,),
        environment: Mapping[str, str] | None = None,
    ) -> GitResult:
        """Run git to its end.

        Arguments:
            arguments: the subcommand and its arguments; revisions and paths belong after `--end-of-options`.
            stdin: bytes for standard input.
            accept: exit states that are answers and no errors.
            environment: further variables for this call.

        Raises:
            GitError: git cannot be started or ends in another state; carries git's own first line that is more than a
                hint or a warning.
        """
        import tempfile

        git = Git(str(self.directory))
        merged = {**QUIET_ENVIRONMENT, **self.environment, **(environment or {})}
        if stdin is None:
            arguments, stdin = _with_paths_in_stdin(arguments)
        with tempfile.TemporaryFile() as source:
            if stdin is not None:
                source.write(stdin)
                source.seek(0)
            try:
                status, output, errors = git.execute(
                    [Git.GIT_PYTHON_GIT_EXECUTABLE or "git", *self.options, *arguments],
                    istream=source,
                    with_extended_output=True,
                    with_exceptions=False,
                    stdout_as_string=False,
                    strip_newline_in_stdout=False,
                    env=merged,
                )
            except Exception as error:  # GitPython raises its own types for a missing program and a bad directory
                import shutil

                if shutil.which("git") is None:
                    raise GitError("git is not on the PATH") from error
                raise GitError(f"git could not be started in {self.directory}: {error}") from error
        text = errors if isinstance(errors, str) else errors.decode("utf-8", "replace")
        if status not in accept:
            said = [line for line in text.splitlines() if line.strip()]
            cause = [line for line in said if not line.startswith(("hint:", "warning:"))]
            first = next(iter(cause or said), f"exit state {status}")
            missing = next((found for line in said if (found := _MISSING.search(line))), None)
            if missing is not None:
                raise MissingObjectError(missing[1])
            raise GitError(f"git {_verb(arguments)} failed: {first.removeprefix('fatal: ')}")
        return GitResult(status, output if isinstance(output, bytes) else output.encode(), text)

    def run_bounded(self, *arguments: str, most: int = MOST_BYTES) -> bytes:
        """Run git and read its output up to a bound.

        Raises:
            GitError: git fails, or prints more than `most` bytes.
        """
        process = self.start(*arguments)
        pipes = process.proc
        if pipes is None or pipes.stdin is None or pipes.stdout is None:
            raise GitError(f"git {_verb(arguments)} could not be started")
        pipes.stdin.close()
        output: bytes = pipes.stdout.read(most + 1)
        if len(output) > most:
            pipes.kill()
            pipes.wait()
            raise GitError(f"git {_verb(arguments)} prints more than {most} bytes, so guard stopped it")
        pipes.wait()
        if pipes.returncode:
            # Once more, for the error as a sentence.
            return self.run(*arguments).output
        return output

    def start(self, *arguments: str) -> Git.AutoInterrupt:
        """Start a git process that stays, with pipes to its standard input and output."""
        import subprocess

        git = Git(str(self.directory))
        return git.execute(
            [Git.GIT_PYTHON_GIT_EXECUTABLE or "git", *self.options, *arguments],
            istream=subprocess.PIPE,
            as_process=True,
            env={**QUIET_ENVIRONMENT, **self.environment},
        )


def _verb(arguments: Sequence[str]) -> str:
    """The subcommand among the arguments, behind any `-c NAME=VALUE`."""
    return next(word for word, before in zip(arguments, ("", *arguments), strict=False) if before != "-c" != word)


def _with_paths_in_stdin(arguments: tuple[str, ...]) -> tuple[tuple[str, ...], bytes | None]:
    """Hand the paths of a `git log` over in standard input where there are more than a command line may hold."""
    if arguments[0] != "log" or "--" not in arguments or sum(map(len, arguments)) < LONGEST_COMMAND:
        return arguments, None
    at = arguments.index("--")
    paths = arguments[at + 1 :]
    # A path with a line break cannot be told in a list of lines.
    apart = [path for path in paths if "\n" in path]
    lines = ["--", *(path for path in paths if "\n" not in path), ""]
    return (*arguments[:at], "--stdin", "--", *apart), "\n".join(lines).encode("utf-8", "surrogateescape")


@functools.cache
def require_version() -> tuple[int, ...]:
    """The version of git on the path.

    Raises:
        GitError: git is missing or older than `MINIMUM_VERSION`.
    """
    output = GitCommand(Path.cwd()).run("version").output.decode("utf-8", "replace")
    match = re.search(r"(\d+)\.(\d+)(?:\.(\d+))?", output)
    version = tuple(int(part or 0) for part in match.groups()) if match else (0,)
    if version < MINIMUM_VERSION:
        wanted = ".".join(map(str, MINIMUM_VERSION))
        raise GitError(f"git {output.strip() or '(no version)'} is too old: guard needs git {wanted} or newer")
    return version
