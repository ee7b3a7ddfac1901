"""weir-sweep tune: the best setting of some axes, found in the simulator and confirmed."""
