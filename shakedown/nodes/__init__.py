"""How a node is reached, and what it said."""
