package a2a

// a2agen emits this package from the shipped definition of A2A 1.0, for its own use and for programs that want the
// protocol's types without generating them.

//go:generate go run ../internal/regen -C ..
