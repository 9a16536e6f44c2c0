package traffic

import (
	"testing"

	"github.com/a2agen/a2agen/runtime"
)

// TestTheSkillOfAMessageIsKnown by skillId and by the skills extension, and what is neither spoils nothing.
func TestTheSkillOfAMessageIsKnown(t *testing.T) {
	for metadata, want := range map[string]string{
		`{"skillId":"a"}`: "a",
		`{"` + runtime.SkillsExtension + `":{"skill":"b"}}`:               "b",
		`{"` + runtime.FormerSkillsExtension + `":{"skill":"c"},"x":[1]}`: "c",
		`{"` + runtime.SkillsExtension + `":[],"skillId":7}`:              "",
		`{}`: "",
	} {
		var s Summary
		if s.learn([]byte(`{"params":{"message":{"taskId":"t","metadata":` + metadata + `}}}`)); s.Skill != want || s.Task != "t" {
			t.Errorf("%s: %+v", metadata, s)
		}
	}
}
