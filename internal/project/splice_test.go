package project

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/a2agen/a2agen/generator/config"
)

var travel = config.Client{Name: "travel", URL: "https://example.com/a?b=\"c\"", Out: "client/travel"}

const travelEntry = `{name: travel, url: "https://example.com/a?b=\"c\""}`

func TestAddClientChangesNothingElse(t *testing.T) {
	tests := map[string]struct{ before, after string }{
		"no file":             {"", "clients:\n  - @\n"},
		"only comments":       {"# mine\n", "# mine\nclients:\n  - @\n"},
		"no list yet":         {"protocol: [\"1.0\"] # newest first\n", "protocol: [\"1.0\"] # newest first\nclients:\n  - @\n"},
		"no final line end":   {"card: agent.yaml", "card: agent.yaml\nclients:\n  - @\n"},
		"an empty key":        {"clients: # none yet\ncard: agent.yaml\n", "clients: # none yet\n  - @\ncard: agent.yaml\n"},
		"an empty flow list":  {"clients: []\n", "clients: [@]\n"},
		"a flow list":         {"clients: [{name: b, url: \"https://b.example\"}] # é\n", "clients: [@, {name: b, url: \"https://b.example\"}] # é\n"},
		"a block list":        {"clients:\n  # the first\n  - name: b\n    url: https://b.example\ncard: agent.yaml\n", "clients:\n  # the first\n  - @\n  - name: b\n    url: https://b.example\ncard: agent.yaml\n"},
		"a list not indented": {"clients:\n- {name: b, file: cards/b.json}\n", "clients:\n- @\n- {name: b, file: cards/b.json}\n"},
		"umlauts before it":   {"# äöü\nclients: [ ]\n", "# äöü\nclients: [@ ]\n"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := addClient([]byte(tt.before), travel)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(strings.ReplaceAll(tt.after, "@", travelEntry), string(got)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAddClientGivesUpWithTheLineToAdd(t *testing.T) {
	for name, before := range map[string]string{
		"a flow mapping":    `{card: agent.yaml, clients: []}`,
		"not a list":        "clients: 7\n",
		"an alias":          "card: &c agent.yaml\nclients: *c\n",
		"broken YAML":       "clients: [\n",
		"the name is taken": "clients:\n  - {name: travel, url: \"https://b.example\"}\n",
		"a dash on its own": "clients:\n  -\n    name: b\n    url: https://b.example\n",
	} {
		t.Run(name, func(t *testing.T) {
			got, err := addClient([]byte(before), travel)
			if err == nil {
				t.Fatalf("no error, but\n%s", got)
			}
			if !strings.Contains(err.Error(), travelEntry) {
				t.Errorf("%q does not say what to add", err)
			}
		})
	}
}

func FuzzAddClient(f *testing.F) {
	f.Add("clients: []\n")
	f.Add("clients:\n  - {name: b, url: \"https://b.example\"}\n")
	f.Add("protocol: [\"1.0\"]\r\n")
	f.Fuzz(func(t *testing.T, before string) {
		got, err := addClient([]byte(before), travel)
		if err != nil {
			return
		}
		cfg, list := config.Read(config.File, got)
		if list.HasErrors() {
			t.Fatalf("%v\n%s", list, got)
		}
		if rest := strings.Replace(string(got), travelEntry, "", 1); len(rest) == len(got) || len(cfg.Clients) == 0 {
			t.Errorf("no entry in\n%s", got)
		}
	})
}

func TestFilesOfExtensionsAreListedOnce(t *testing.T) {
	files := []string{"a/x.yaml"}
	for before, want := range map[string]string{
		"":                                "extensions:\n  - a/x.yaml\n",
		"extensions: [a/y.yaml] # mine\n": "extensions: [a/x.yaml, a/y.yaml] # mine\n",
		"extensions:\n  - a/x.yaml\nclients:\n  - {name: b, url: \"https://b.example\"}\n": "extensions:\n  - a/x.yaml\nclients:\n  - {name: b, url: \"https://b.example\"}\n",
		"clients:\n  - {name: b, url: \"https://b.example\"}\n":                            "clients:\n  - {name: b, url: \"https://b.example\"}\nextensions:\n  - a/x.yaml\n",
	} {
		got, err := addExtensions([]byte(before), files)
		if err != nil || string(got) != want {
			t.Errorf("%q becomes %q, %v", before, got, err)
		}
		if again, err := addClient(got, travel); err != nil || !strings.Contains(string(again), "a/x.yaml") {
			t.Errorf("and no client can be added: %v", err)
		}
	}
	if _, err := addExtensions([]byte("extensions: 7\n"), files); err == nil || !strings.Contains(err.Error(), "- a/x.yaml") {
		t.Errorf("what is no list: %v", err)
	}
}
