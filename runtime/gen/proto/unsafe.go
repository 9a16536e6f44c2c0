package proto

import "unsafe"

// stringOf returns b as a string without copying. b must never change afterwards.
func stringOf(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
