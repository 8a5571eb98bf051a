"""guard: what a merge undid or broke, whether loss code is honest, whether gradients depend on how a batch is cut."""

__version__ = "0.1.0"
