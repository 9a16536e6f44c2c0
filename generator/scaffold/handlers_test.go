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
		orphans  []string
	}{
		"all handlers are missing":              {map[string]string{"skills/agent.go": agentGo}, true, []string{"Forecast", "Alerts"}, nil},
		"a handler counts in any file":          {map[string]string{"skills/agent.go": agentGo + forecast[len("package skills"):]}, true, []string{"Alerts"}, nil},
		"a handler of an embedded type counts":  {map[string]string{"skills/agent.go": "package skills\ntype Agent struct{ base }\nfunc (base) Alerts() {}\n"}, true, []string{"Forecast"}, nil},
		"a test file does not count":            {map[string]string{"skills/agent.go": agentGo, "skills/x_test.go": forecast}, true, []string{"Forecast", "Alerts"}, nil},
		"a plain function does not count":       {map[string]string{"skills/agent.go": agentGo + "func Forecast() {}\n"}, true, []string{"Forecast", "Alerts"}, nil},
		"a syntax error further down":           {map[string]string{"skills/agent.go": agentGo, "skills/forecast.go": forecast + "func (a *Agent) {"}, true, []string{"Alerts"}, nil},
		"other files are not Go":                {map[string]string{"skills/agent.go": agentGo, "skills/prompt.txt": "func ("}, true, []string{"Forecast", "Alerts"}, nil},
		"no package":                            {nil, false, []string{"Forecast", "Alerts"}, nil},
		"a handler whose skill is gone":         {map[string]string{"skills/old.go": agentGo + "func (a *Agent) Old(t *agent.Task) {}\n"}, true, []string{"Forecast", "Alerts"}, []string{"skills/old.go:3: method Old belongs to no skill any more (delete it when you do not need it)"}},
		"a helper method is no handler":         {map[string]string{"skills/old.go": agentGo + "func (a *Agent) Close(t *time.Timer, s []string, p *int) {}\n"}, true, []string{"Forecast", "Alerts"}, nil},
		"an unexported method is no handler":    {map[string]string{"skills/old.go": agentGo + "func (a *Agent) old(t *agent.Task) {}\n"}, true, []string{"Forecast", "Alerts"}, nil},
		"the agent package under another alias": {map[string]string{"skills/old.go": agentGo + "func (a *Agent) Old(t *weather.Task) {}\n"}, true, []string{"Forecast", "Alerts"}, []string{"skills/old.go:3: method Old belongs to no skill any more (delete it when you do not need it)"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			files := map[string][]byte{}
			for path, text := range tt.files {
				files[path] = []byte(text)
			}
			h := ReadHandlers("example.com/w/skills", files)
			if h.HasAgent() != tt.hasAgent {
				t.Errorf("HasAgent = %v", h.HasAgent())
			}
			if diff := cmp.Diff(tt.missing, h.Missing(twoSkills)); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(tt.orphans, orphans(h)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// orphans are the handlers whose skill is not one of the two.
func orphans(h Handlers) (lines []string) {
	for _, f := range h.Findings([]Method{{Name: "Forecast"}, {Name: "Alerts"}}) {
		if f.Code == Orphaned {
			lines = append(lines, f.String())
		}
	}
	return lines
}

const wantedSource = `package agent

import (
	"context"
	"example.com/w/a2a"
)

type Skills interface {
	// Forecast handles the skill "forecast".
	Forecast(ctx context.Context, in *ForecastInput, t *Task) (*ForecastOutput, error)
	Alerts(ctx context.Context, in *a2a.Message, t *Task) (string, error)
}
`

func TestFindings(t *testing.T) {
	const head = "package skills\n\nimport (\n\t\"context\"\n\t\"example.com/w/a2a\"\n\tw \"example.com/w/agent\"\n\t\"example.com/w/mine\"\n)\n\ntype Agent struct{}\n\n"
	const forecast = "skills/x.go:12: Forecast wants (ctx, *agent.ForecastInput, *agent.Task) (*agent.ForecastOutput, error)"
	const alerts = "skills/x.go:12: Alerts wants (ctx, *a2a.Message, *agent.Task) (string, error)"
	tests := map[string]struct {
		code string
		want []string
	}{
		"it fits":                           {"func (a *Agent) Forecast(c context.Context, in *w.ForecastInput, t *w.Task) (out *w.ForecastOutput, err error) {}", nil},
		"another input":                     {"func (a *Agent) Forecast(c context.Context, in *a2a.Message, t *w.Task) (*w.ForecastOutput, error) {}", []string{forecast}},
		"another output":                    {"func (a *Agent) Forecast(c context.Context, in *w.ForecastInput, t *w.Task) (string, error) {}", []string{forecast}},
		"an input too few":                  {"func (a *Agent) Alerts(c context.Context, t *w.Task) (string, error) {}", []string{alerts}},
		"an output too few":                 {"func (a *Agent) Alerts(c context.Context, in *a2a.Message, t *w.Task) string {}", []string{alerts}},
		"no pointer":                        {"func (a *Agent) Alerts(c context.Context, in a2a.Message, t *w.Task) (string, error) {}", []string{alerts}},
		"a list":                            {"func (a *Agent) Alerts(c context.Context, in *a2a.Message, t *w.Task) ([]byte, error) {}", []string{alerts}},
		"a type of the user's own":          {"func (a *Agent) Alerts(c context.Context, in *a2a.Message, t *w.Task) (Text, error) {}\ntype Text string", []string{alerts}},
		"several names for one type":        {"func (a *Agent) Alerts(c context.Context, in, more *a2a.Message, t *w.Task) (string, error) {}", []string{alerts}},
		"an alias of the package":           {"func (a *Agent) Forecast(c context.Context, in *In, t *w.Task) (*w.ForecastOutput, error) {}\ntype In = w.ForecastInput", nil},
		"a wrong alias of the package":      {"func (a *Agent) Forecast(c context.Context, in *In, t *w.Task) (*w.ForecastOutput, error) {}\ntype In = a2a.Message", []string{forecast}},
		"an alias that leads in a circle":   {"func (a *Agent) Forecast(c context.Context, in *In, t *w.Task) (*w.ForecastOutput, error) {}\ntype In = In", []string{forecast}},
		"perhaps an alias of another":       {"func (a *Agent) Forecast(c context.Context, in *mine.In, t *w.Task) (*w.ForecastOutput, error) {}", nil},
		"a name from nowhere":               {"func (a *Agent) Forecast(c context.Context, in *Dotted, t *w.Task) (*w.ForecastOutput, error) {}", nil},
		"a method of another type":          {"type log struct{}\n\nfunc (log) Alerts() {}", nil},
		"the handler of an embedded type":   {"type base struct{}; func (base) Alerts(t *w.Task) {}", []string{alerts}},
		"a stub":                            {"func (a *Agent) Alerts(c context.Context, in *a2a.Message, t *w.Task) (string, error) {\n\t// a2agen:stub: x\n}", []string{"skills/x.go:12: Alerts is a stub (write it, and remove the line with a2agen:stub)"}},
		"text that is no Go":                {"func (a *Agent) Alerts(\n<<<<<<< HEAD\n", []string{"skills/x.go:13: this does not parse: expected ')', found '<<'"}},
		"a handler of a skill that is gone": {"func (a *Agent) Old(t *w.Task) {}", []string{"skills/x.go:12: method Old belongs to no skill any more (delete it, and x_test.go, when you do not need them)"}},
	}
	wanted, err := Wanted("example.com/w/agent", []byte(wantedSource))
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			h := ReadHandlers("example.com/w/skills", map[string][]byte{"skills/x.go": []byte(head + tt.code + "\n"), "skills/x_test.go": []byte("package skills\n")})
			var got []string
			for _, f := range h.Findings(wanted) {
				got = append(got, f.String())
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestWhatTheAgentEmbeds(t *testing.T) {
	for text, want := range map[string]bool{
		"type Agent struct{ agent.Clients }":           true,
		"type Agent struct {\n\tn int\n\tx.Clients\n}": true,
		"type Agent struct{ Clients agent.Clients }":   false,
		"type Agent struct{ agent.Others }":            false,
		"type Other struct{ agent.Clients }":           false,
		"type Agent int":                               false,
	} {
		h := ReadHandlers("example.com/w/skills", map[string][]byte{"skills/agent.go": []byte("package skills\n" + text + "\n")})
		if h.Embeds("Clients") != want {
			t.Errorf("%s: %v", text, !want)
		}
	}
}
