package talk

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/a2agen/a2agen/generator/yamlx"
	"github.com/a2agen/a2agen/internal/a2awires"
	rpc "github.com/a2agen/a2agen/runtime/client"
)

// plainID matches ids that a shell does not interpret: they are completed in a command line, and may come from a
// stranger.
var plainID = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._:@+/-]{0,99}$`)

// Skills returns the ids of the skills of an agent for completion: from agent.yaml in the folder, or the public card
// at a URL; none if that cannot be read.
func Skills(ctx context.Context, target string) []string {
	ids := skillsIn(target)
	if strings.Contains(target, "://") {
		ids = skillsAt(ctx, target)
	}
	var plain []string
	for _, id := range ids {
		if plainID.MatchString(id) {
			plain = append(plain, id)
		}
	}
	return plain
}

func skillsIn(dir string) (ids []string) {
	file := filepath.Join(dir, projectFile)
	src, err := os.ReadFile(file)
	if err != nil {
		return nil
	}
	root, _ := yamlx.Parse(file, src) // what is wrong with it is for validate to say
	if skills := yamlx.Get(root, "skills"); skills != nil {
		for _, s := range skills.Content {
			ids = append(ids, yamlx.Text(yamlx.Get(s, "id")))
		}
	}
	return ids
}

func skillsAt(ctx context.Context, url string) (ids []string) {
	card, err := rpc.FetchCard(ctx, a2awires.Protocol(), url)
	if err != nil {
		return nil
	}
	if c, ok := card.Generated().(*a2awires.AgentCard); ok {
		for _, s := range c.Skills {
			if s != nil {
				ids = append(ids, s.ID)
			}
		}
	}
	return ids
}
