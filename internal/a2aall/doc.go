package a2aall

// a2agen emits this package for all shipped versions of A2A. It is what the command `a2agen call` speaks; no agent links it.

//go:generate go run ../regen -C ../..
