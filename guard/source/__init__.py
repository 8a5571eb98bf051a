"""What the source of one file says: text, definitions, tokens. Facts only, from `ast`."""
