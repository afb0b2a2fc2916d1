"""Scripts that run on a node with the node's own Python (3.8 or later); never imported here, except by their tests."""
