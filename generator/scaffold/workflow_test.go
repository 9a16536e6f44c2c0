package scaffold

import (
	"os"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"github.com/a2agen/a2agen"
)

// What the workflow runs depends on whether a runner can have the tool; what it says is true of this repository.
func TestTheWorkflowChecksWithTheToolThatTheLockNames(t *testing.T) {
	check := `go run ` + a2agen.Module + `/cmd/a2agen@"$(sed -n 's/^tool: //p' a2agen.lock)" check`
	for name, tt := range map[string]struct {
		view    view
		want    []string
		vendors bool
	}{
		"released":   {view{Released: true, Module: a2agen.Module}, []string{check, "go vet ./...", "go test ./..."}, false},
		"a checkout": {view{Replaced: true}, []string{"go vet ./...", "go test ./..."}, true},
		"unpacked":   {view{Unpacked: Unpacked}, []string{"go vet ./...", "go test ./..."}, false},
	} {
		t.Run(name, func(t *testing.T) {
			var r renderer
			r.add(".github/workflows/agent.yml", "workflow.yml.tmpl", &tt.view)
			if r.err != nil {
				t.Fatal(r.err)
			}
			var workflow struct {
				On struct {
					Schedule []struct{ Cron string }
				}
				Jobs map[string]struct {
					If    string
					Steps []struct{ Run string }
				}
			}
			if err := yaml.Unmarshal(r.files[0].Data, &workflow); err != nil {
				t.Fatal(err)
			}
			var runs []string
			for _, s := range workflow.Jobs["agent"].Steps {
				if s.Run != "" {
					runs = append(runs, strings.TrimSpace(s.Run))
				}
			}
			cards, timed := workflow.Jobs["cards"], len(workflow.On.Schedule) == 1
			if timed != tt.view.Released || timed && (!strings.Contains(cards.If, "schedule") || strings.TrimSpace(cards.Steps[2].Run) != check+" --remote --no-build") {
				t.Errorf("%+v in\n%s", cards, r.files[0].Data)
			}
			if !slices.Equal(runs, tt.want) || strings.Contains(string(r.files[0].Data), "go mod vendor") != tt.vendors {
				t.Errorf("%q in\n%s", runs, r.files[0].Data)
			}
		})
	}
	if _, err := os.Stat("../../cmd/a2agen/main.go"); err != nil {
		t.Error(err)
	}
}
