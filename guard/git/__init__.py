"""The only package that starts git."""

from guard.git.repository import AutomaticMerge, Commit, Entry, Repository

__all__ = ["AutomaticMerge", "Commit", "Entry", "Repository"]
