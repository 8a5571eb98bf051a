"""How ranks come to be: forked per run, a persistent pool, or torchrun."""
