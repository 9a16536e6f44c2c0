// Package a2aall is the protocol package that a2agen emits for all shipped versions of A2A. It exists for tests of the
// older wires; nothing links it.
package a2aall

//go:generate go run ../regen -C ../..
