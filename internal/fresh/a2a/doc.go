package a2a

// a2agen emits this package for the versions that a new agent speaks. The tool carries it: nothing links it.
