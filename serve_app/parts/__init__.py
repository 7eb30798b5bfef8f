"""Two ways to answer what a turn asks: deployments over the network, or everything in one process."""
