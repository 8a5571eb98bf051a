"""What runs inside a rank: only torch, the standard library and the tree under test."""
