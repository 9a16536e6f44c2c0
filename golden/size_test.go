package golden

import (
	"bytes"
	"context"
	"io/fs"
	"strings"
	"testing"

	"github.com/a2agen/a2agen/generator"
)

// maxLines is how many lines of Go a project with one typed skill may have in its generated files, all of 1.0 and the fake included.
const maxLines = 2400

const oneSkill = `name: chat
description: chat answers requests over A2A.
version: 0.1.0
skills:
  - id: echo
    name: Echo
    description: Say something back.
    tags: [echo]
    input:
      type: object
      required: [text]
      properties:
        text: {type: string, description: What to work on.}
    output:
      type: object
      required: [text]
      properties:
        text: {type: string, description: The answer.}
`

func TestAProjectWithOneSkillIsSmall(t *testing.T) {
	open := func(name string) ([]byte, error) {
		if name == "agent.yaml" {
			return []byte(oneSkill), nil
		}
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	out, problems := generator.Generate(context.Background(), generator.Inputs{Open: open, Module: "example.com/chat"})
	if problems.HasErrors() {
		t.Fatal(problems[0])
	}
	lines := 0
	for _, f := range out.Files {
		if strings.HasSuffix(f.Path, ".gen.go") {
			lines += bytes.Count(f.Data, []byte("\n"))
		}
	}
	if lines > maxLines || lines < maxLines/3 {
		t.Errorf("one skill is %d lines", lines)
	}
}
