"""Bring changes into a tree: restore what was lost."""
