"""Which merges are there to judge, and the four trees of each."""
