unpack traces/no_history.pickle
try info no_history.pickle
unpack traces/recorded_from_empty.pickle
try info recorded_from_empty.pickle
