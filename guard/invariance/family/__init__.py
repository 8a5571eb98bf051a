"""The cases, one family a file: what is built, what is cut, what must be equal."""
