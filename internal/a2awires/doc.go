package a2awires

// a2agen emits this package for all shipped versions of A2A in all encodings that they have, 1.0 with operations of its
// own (internal/regen/own). It is what tests of codecs and bindings speak; no agent links it.

//go:generate go run ../regen -C ../..
