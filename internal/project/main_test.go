package project_test

import (
	"os"
	"strings"
	"testing"

	"github.com/a2agen/a2agen/internal/test/gotool"
)

// TestMain has the go command use its caches also in tests that move the folder for caches, which the tool uses too.
func TestMain(m *testing.M) {
	for _, place := range gotool.Places() {
		name, value, _ := strings.Cut(place, "=")
		if err := os.Setenv(name, value); err != nil {
			panic(err)
		}
	}
	m.Run()
}
