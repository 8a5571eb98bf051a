"""What became of the changes of each side: match, align, decide."""
