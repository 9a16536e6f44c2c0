// Package a2a is the protocol package that a2agen emits from the shipped definition of A2A 1.0, for its own use and for
// programs that want the protocol's types without generating them.
package a2a

//go:generate go run ../internal/regen -C ..
