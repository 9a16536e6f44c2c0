package scaffold

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/a2agen/a2agen/generator/ir"
)

var twoSkills = []*ir.Skill{{ID: "forecast", Go: "Forecast"}, {ID: "alerts", Go: "Alerts"}}

func TestHandlers(t *testing.T) {
	const agentGo = "package skills\ntype Agent struct{}\n"
	const forecast = "package skills\nfunc (a *Agent) Forecast(ctx context.Context, in *agent.ForecastInput, t *agent.Task) (string, error) { return \"\", nil }\n"
	tests := map[string]struct {
		files    map[string]string
		hasAgent bool
		missing  []string
		orphans  []Orphan
	}{
		"all handlers are missing":              {map[string]string{"skills/agent.go": agentGo}, true, []string{"Forecast", "Alerts"}, nil},
		"a handler counts in any file":          {map[string]string{"skills/agent.go": agentGo + forecast[len("package skills"):]}, true, []string{"Alerts"}, nil},
		"a handler of an embedded type counts":  {map[string]string{"skills/agent.go": "package skills\ntype Agent struct{ base }\nfunc (base) Alerts() {}\n"}, true, []string{"Forecast"}, nil},
		"a test file does not count":            {map[string]string{"skills/agent.go": agentGo, "skills/x_test.go": forecast}, true, []string{"Forecast", "Alerts"}, nil},
		"a plain function does not count":       {map[string]string{"skills/agent.go": agentGo + "func Forecast() {}\n"}, true, []string{"Forecast", "Alerts"}, nil},
		"a syntax error further down":           {map[string]string{"skills/agent.go": agentGo, "skills/forecast.go": forecast + "func (a *Agent) {"}, true, []string{"Alerts"}, nil},
		"other files are not Go":                {map[string]string{"skills/agent.go": agentGo, "skills/prompt.txt": "func ("}, true, []string{"Forecast", "Alerts"}, nil},
		"no package":                            {nil, false, []string{"Forecast", "Alerts"}, nil},
		"a handler whose skill is gone":         {map[string]string{"skills/old.go": agentGo + "func (a *Agent) Old(t *agent.Task) {}\n"}, true, []string{"Forecast", "Alerts"}, []Orphan{{"Old", "skills/old.go"}}},
		"a helper method is no handler":         {map[string]string{"skills/old.go": agentGo + "func (a *Agent) Close(t *time.Timer, s []string, p *int) {}\n"}, true, []string{"Forecast", "Alerts"}, nil},
		"an unexported method is no handler":    {map[string]string{"skills/old.go": agentGo + "func (a *Agent) old(t *agent.Task) {}\n"}, true, []string{"Forecast", "Alerts"}, nil},
		"the agent package under another alias": {map[string]string{"skills/old.go": agentGo + "func (a *Agent) Old(t *weather.Task) {}\n"}, true, []string{"Forecast", "Alerts"}, []Orphan{{"Old", "skills/old.go"}}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			files := map[string][]byte{}
			for path, text := range tt.files {
				files[path] = []byte(text)
			}
			h := ReadHandlers(files)
			if h.HasAgent() != tt.hasAgent {
				t.Errorf("HasAgent = %v", h.HasAgent())
			}
			if diff := cmp.Diff(tt.missing, h.Missing(twoSkills)); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(tt.orphans, h.Orphans(twoSkills)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
