package a2awires

// a2agen emits this package for all shipped versions of A2A in all encodings that they have. The command `a2agen call`
// speaks it, and so do tests of codecs and bindings; no agent links it.

//go:generate go run ../regen -C ../..
