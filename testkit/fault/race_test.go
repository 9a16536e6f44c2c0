//go:build race

package fault_test

// underRace: the race detector makes the long proof take five times as long.
const underRace = true
