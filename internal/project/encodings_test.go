package project_test

import (
	"bytes"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/a2agen/a2agen/generator/ir"
	"github.com/a2agen/a2agen/generator/lower"
	"github.com/a2agen/a2agen/internal/project"
	"github.com/a2agen/a2agen/internal/test/gotool"
	"github.com/a2agen/a2agen/internal/test/projecttest"
)

// encodingsMain writes and reads a task with what is new in the unseen definition, in every encoding.
const encodingsMain = `package main

import (
	"fmt"

	"example.com/encodings/a2a"
)

func main() {
	task := &a2a.Task{
		ID: "t", Status: &a2a.TaskStatus{State: a2a.TaskStatePaused}, Priority: "lunch", Budget: &a2a.Budget{Tokens: 9}, Watchers: []string{"w"},
		Artifacts: []*a2a.Artifact{{ArtifactID: "a", Parts: []*a2a.Part{{Content: a2a.PartFormula("E=mc2")}}}},
	}
	for _, v := range a2a.Protocol().Versions {
		for _, w := range v.Wires {
			b, err := w.Append(nil, task)
			if err != nil {
				fmt.Println(v.Name, w.Encoding, err)
				continue
			}
			back := new(a2a.Task)
			err = w.Read(b, back)
			fmt.Printf("%s %s %x %v %s %q %v %v %v\n", v.Name, w.Encoding, b, err, back.Status.State, back.Priority, back.Budget, back.Watchers, back.Artifacts[0].Parts[0].Content)
			_, err = w.Append(nil, 1)
			fmt.Println(err)
			fmt.Println(w.Read([]byte("{"), new(a2a.Task)) != nil)
		}
	}
}
`

// TestEncodingsCarryAnUnseenDefinition: what is new travels as protobuf, in the bytes that its numbers demand.
func TestEncodingsCarryAnUnseenDefinition(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles a program")
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":                      projecttest.GoMod("example.com/encodings", root),
		"main.go":                     encodingsMain,
		"agent.yaml":                  unseenAgent,
		"a2agen.yaml":                 "protocol: [{version: \"1.1-preview\", file: protocol/a2a.proto}, \"1.0\"]\nencodings: [proto]\n",
		"protocol/a2a.proto":          unseenDefinition(t),
		"protocol/parts/budget.proto": unseenBudget,
	} {
		projecttest.WriteFile(t, filepath.Join(dir, name), text)
	}
	if _, err := project.Run(t.Context(), project.Options{Tool: project.Tool{Version: "v1.0.0"}, Dir: dir}); err != nil {
		t.Fatal(err)
	}
	cmd := gotool.Command(dir, "run", ".")
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, errs.String())
	}
	// By their numbers: id 1, status 3, artifacts 4 with a part that has formula 40; priority 40, budget 41, watchers
	// 42.
	const task = "0a0174" + "1a020809" + "220d" + "0a0161" + "2208" + "c20205453d6d6332" + "c202056c756e6368" + "ca02020809" + "d2020177"
	want := "1.1-preview proto " + task + ` <nil> TASK_STATE_PAUSED "lunch" &{9} [w] E=mc2
encode a message of 1.1-preview/proto: got a int
true
1.0 proto /status/state: protobuf has no number for "TASK_STATE_PAUSED"
`
	if diff := cmp.Diff(want, string(out)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestAnEncodingThatNoVersionHasIsRefused(t *testing.T) {
	dir := t.TempDir()
	projecttest.WriteFile(t, filepath.Join(dir, "go.mod"), "module example.com/encodings\n")
	projecttest.WriteFile(t, filepath.Join(dir, "agent.yaml"), unseenAgent)
	projecttest.WriteFile(t, filepath.Join(dir, "a2agen.yaml"), "protocol: [\"1.0\"]\nencodings: [proto, protojson]\n")
	r, err := project.Run(t.Context(), project.Options{Tool: project.Tool{Version: "v1.0.0"}, Dir: dir})
	var invalid *project.InvalidError
	if !errors.As(err, &invalid) {
		t.Fatalf("error %v", err)
	}
	var b strings.Builder
	if err := r.Diagnostics.WriteText(&b); err != nil {
		t.Fatal(err)
	}
	proto := `"` + strings.Join(lower.WithWire(ir.Proto), `", "`) + `"`
	want := `a2agen.yaml:2:20: none of the versions has the encoding "protojson" (protojson is for "0.3", and proto for ` + proto + ` and definitions of your own in .proto files)` + "\n"
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
