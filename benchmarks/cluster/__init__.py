"""The cluster engine: traffic, overhead, failures, and a simulation of its cost."""
