package engine

import (
	"testing"

	"github.com/a2agen/a2agen/runtime"
)

// TestWhatARoleNeedsIsAskedOfTheCard: the table of roles says it, of a new one, too.
func TestWhatARoleNeedsIsAskedOfTheCard(t *testing.T) {
	before := runtime.Roles
	defer func() { runtime.Roles = before }()
	runtime.Roles = append(before[:len(before):len(before)],
		runtime.RoleInfo{Name: "pause", Needs: runtime.NeedsStreaming}, runtime.RoleInfo{Name: "resume"})
	for i, row := range runtime.Roles {
		r := &Request{e: &Engine{}, Version: &Version{Version: &runtime.Version{}}, Op: &runtime.Operation{Role: runtime.Role(i)}}
		if allowed := r.Allowed() == nil; allowed != (row.Needs == "" && row.Name != "other") {
			t.Errorf("an agent whose card offers nothing allows %s: %v", row.Name, allowed)
		}
	}
}
