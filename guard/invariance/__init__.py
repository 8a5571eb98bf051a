"""Gradient invariances measured on the real code of a tree, in processes of the user's interpreter."""
