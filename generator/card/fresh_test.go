package card

import (
	"testing"

	"github.com/a2agen/a2agen/generator/yamlx"
)

func TestFreshSkillsOfAnAgentDiffer(t *testing.T) {
	c, list := Read("agent.yaml", Fresh("a", "d", []string{"one", "two", "three"}, nil, ""), noFiles)
	if list.HasErrors() {
		t.Fatal(list)
	}
	seen := map[string]string{}
	for _, s := range c.Skills {
		for _, key := range []string{"input", "output"} {
			text := key + yamlx.Block(yamlx.Get(s.node, key), 0)
			if other := seen[text]; other != "" {
				t.Errorf("%s has the %s of %s:\n%s", s.ID, key, other, text)
			}
			seen[text] = s.ID
		}
	}
	if len(seen) != 6 {
		t.Errorf("%d contracts", len(seen))
	}
}
