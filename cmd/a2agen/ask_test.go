package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"github.com/a2agen/a2agen/internal/project"
)

func TestAskFillsInWhatFlagsLeaveOpen(t *testing.T) {
	tests := map[string]struct {
		given   project.InitOptions
		typed   string
		want    project.InitOptions
		prompts []string
	}{
		"answers":              {project.InitOptions{}, "Storm Watch\nwarn, all-clear\nexample.org/storm\n", project.InitOptions{Name: "Storm Watch", Skills: []string{"warn", "all-clear"}, Module: "example.org/storm"}, []string{"Name of the agent [", "Ids of its skills [echo]: ", "Go module [example.com/storm-watch]: "}},
		"defaults":             {project.InitOptions{Name: "storm"}, "\n\n", project.InitOptions{Name: "storm", Skills: []string{"echo"}, Module: "example.com/storm"}, []string{"Ids of its skills", "Go module"}},
		"everything was given": {project.InitOptions{Name: "a", Skills: []string{"b"}, Module: "c"}, "", project.InitOptions{Name: "a", Skills: []string{"b"}, Module: "c"}, nil},
		"a card was given":     {project.InitOptions{CardFile: "card.json"}, "", project.InitOptions{CardFile: "card.json"}, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var prompts bytes.Buffer
			cmd := &cobra.Command{}
			cmd.SetIn(strings.NewReader(tt.typed))
			cmd.SetErr(&prompts)
			if err := ask(cmd, &tt.given); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, tt.given); diff != "" {
				t.Error(diff)
			}
			for _, p := range tt.prompts {
				if !strings.Contains(prompts.String(), p) {
					t.Errorf("prompts %q lack %q", prompts.String(), p)
				}
			}
			if tt.prompts == nil && prompts.Len() > 0 {
				t.Errorf("asked %q", prompts.String())
			}
		})
	}
}

func TestAskEndsWhenNobodyAnswers(t *testing.T) {
	cmd := &cobra.Command{}
	cmd.SetIn(strings.NewReader(""))
	cmd.SetErr(&bytes.Buffer{})
	if err := ask(cmd, &project.InitOptions{}); err == nil {
		t.Error("no error at the end of input")
	}
}
