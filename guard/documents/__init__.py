"""What a file says: its text, its definitions and the units of each. Facts only; nothing is imported or run."""
