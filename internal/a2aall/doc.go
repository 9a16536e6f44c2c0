// Package a2aall is the protocol package that a2agen emits for all shipped versions of A2A. It is what the command
// `a2agen call` speaks, and what the tests of the older wires try; no agent links it.
package a2aall

//go:generate go run ../regen -C ../..
