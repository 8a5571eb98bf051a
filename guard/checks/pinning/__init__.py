"""Pins made from fixes: the shape of an edit as a clause of the rule language, tried before it is kept."""
