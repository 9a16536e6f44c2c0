package tenskills

import (
	"strings"
	"testing"
)

func TestTheAgentHasTenSkills(t *testing.T) {
	yaml := YAML()
	if Count != 10 || strings.Count(yaml, "\n  - id: ") != 10 || strings.Count(yaml, "\n    input:") != 10 || strings.Count(yaml, "\n    output:") != 10 {
		t.Errorf("the agent is\n%s", yaml)
	}
}

func TestSkillsOfALargeAgentDiffer(t *testing.T) {
	ids := map[string]bool{}
	for line := range strings.Lines(Times(20)) {
		if id, ok := strings.CutPrefix(line, "  - id: "); ok {
			ids[id] = true
		}
	}
	if len(ids) != 200 || !strings.HasPrefix(Times(20), YAML()) {
		t.Errorf("%d ids", len(ids))
	}
}
