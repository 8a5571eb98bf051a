"""Changes to files that are not Python: what such a file says, as units that do not depend on its layout."""
