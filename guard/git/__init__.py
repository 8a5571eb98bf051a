"""The only package that starts git."""

from guard.git.facts import AutomaticMerge, Commit, Entry
from guard.git.repository import Repository

__all__ = ["AutomaticMerge", "Commit", "Entry", "Repository"]
