package a2aall

import (
	"slices"
	"testing"

	"github.com/a2agen/a2agen/spec"
)

// TestAllVersionsAreSpoken, the newest first. What is said in them is tested in package a2awires, which has the same.
func TestAllVersionsAreSpoken(t *testing.T) {
	var names []string
	for _, v := range Protocol().Versions {
		names = append(names, v.Name)
	}
	if !slices.Equal(names, spec.Versions()) {
		t.Errorf("versions %v", names)
	}
}
