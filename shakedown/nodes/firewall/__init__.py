"""What a machine's packet filter does with the first packet of a connection from a peer, read from its own listing."""
