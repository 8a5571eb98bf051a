"""What guard remembers between runs: accepted findings and the cache."""
