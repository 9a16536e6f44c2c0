//go:build !race

package fault_test

const underRace = false
