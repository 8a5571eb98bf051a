"""What happened: which merges, which trees, which changes, who made them."""
