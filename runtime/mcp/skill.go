package mcp

import (
	"bytes"
	"cmp"
	"encoding/json"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/check"
	rpc "github.com/a2agen/a2agen/runtime/client"
	"github.com/a2agen/a2agen/runtime/gen/skilltool"
	"github.com/a2agen/a2agen/runtime/tool"
)

// valueKey is the property that has a value which is no object: MCP's arguments and results are objects.
const valueKey = "value"

// anyObject is the input schema of a tool whose own one is no schema of a tool.
const anyObject = `{"type":"object"}`

// skillTool is a skill as a tool.
type skillTool struct {
	*Options
	listed  *sdk.Tool
	skill   *rpc.Skill[[]runtime.Part, *rpc.Result]
	reading reading
	typed   bool // the result has a schema
	wrapped bool // and is below "value" in it
}

// reading is how arguments become a part of a message.
type reading int

const (
	asText  reading = iota // there is no schema: they have a text
	asData                 // they are the input
	asValue                // the input is no object: they have it as "value"
)

func newTool(o *Options, s *Skill, name string) *skillTool {
	t := &skillTool{
		Options: o,
		listed:  &sdk.Tool{Name: name, Title: s.Name, Description: describe(s), InputSchema: json.RawMessage(skilltool.TextInput)},
		skill:   &rpc.Skill[[]runtime.Part, *rpc.Result]{ID: s.ID, In: rpc.PlainInput, Out: rpc.PlainOutput, By: s.By},
	}
	if len(s.Input) > 0 {
		schema, wrapped := tool.Object(s.Input)
		t.reading, t.listed.InputSchema = asData, schema
		if wrapped {
			t.reading = asValue
		}
	}
	if len(s.Output) > 0 {
		schema, wrapped := tool.Object(s.Output)
		t.typed, t.wrapped, t.listed.OutputSchema = true, wrapped, schema
	}
	return t
}

// withoutSchemas has the tool take any object, which the agent looks at.
func (t *skillTool) withoutSchemas() {
	t.reading, t.listed.InputSchema = asData, json.RawMessage(anyObject)
	t.typed, t.wrapped, t.listed.OutputSchema = false, false, nil
}

// describe is what a model reads of a skill.
func describe(s *Skill) string {
	text := cmp.Or(s.Description, s.Name)
	if len(s.Examples) > 0 {
		text += "\n\nExamples: " + strings.Join(s.Examples, "; ")
	}
	return text
}

// part makes the part of a message of arguments.
func (t *skillTool) part(args json.RawMessage) (runtime.Part, error) {
	if args = bytes.TrimSpace(args); len(args) == 0 {
		args = json.RawMessage("{}")
	}
	switch t.reading {
	case asText:
		text, err := skilltool.Words(args)
		return runtime.Text(text), err
	case asValue:
		var of map[string]json.RawMessage
		if err := json.Unmarshal(args, &of); err != nil || of[valueKey] == nil {
			return runtime.Part{}, &check.Error{Violations: []check.Violation{{Pointer: "/" + valueKey, Message: "required, but missing"}}}
		}
		args = of[valueKey]
	}
	return runtime.Data(args), nil
}
