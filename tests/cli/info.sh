unpack traces/no_history.pickle
try info no_history.pickle
unpack traces/recorded_from_empty.pickle
try info recorded_from_empty.pickle
# pinned memory of the host, a pool of the program's own, a block that another stream used (PyTorch 2.15)
unpack snapshots/host_and_pools.pickle
try info host_and_pools.pickle
try replay host_and_pools.pickle
