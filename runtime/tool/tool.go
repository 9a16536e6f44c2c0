// Package tool has the skills of agents as tools for language models: names that models take, schemas, and calls from
// JSON to JSON. It knows no vendor's library: what a model needs beyond that is a few lines of the program that calls
// it.
//
//	tools := tool.Join(weather.Tools(c), routes.Tools(d))
//	out, err := tool.Call(ctx, tools, name, arguments)
//	if err != nil {
//		say = tool.Text(err) // what the model is told
//	}
package tool

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// maxName is how long the name of a tool may be, in bytes.
const maxName = 64

// Tool is a skill as a language model calls it. Generated clients have a function Tools that makes those of their
// agent, and generated agents one for their own skills.
type Tool struct {
	Name        string          // at most 64 letters, digits, "_" and "-"
	Description string          // of the skill, for the model
	Input       json.RawMessage // JSON Schema (2020-12) of the arguments: of an object, its $defs inside
	Output      json.RawMessage // JSON Schema of the result
	// Call calls the skill. Empty arguments are {}. The result is JSON that fits Output. [Text] words the errors for a
	// model: *check.Error (wrapped) of arguments that do not fit, before anything is sent, and those of the client's
	// methods; *client.InputRequiredError is the question of a skill that needs more, with the schema of its answer.
	Call func(ctx context.Context, args json.RawMessage) (json.RawMessage, error)
}

// Call calls the tool with the name. It is an *[UnknownError] if there is none.
func Call(ctx context.Context, tools []Tool, name string, args json.RawMessage) (json.RawMessage, error) {
	for _, t := range tools {
		if t.Name == name {
			return t.Call(ctx, args)
		}
	}
	unknown := &UnknownError{Name: name}
	for _, t := range tools {
		unknown.Known = append(unknown.Known, t.Name)
	}
	return nil, unknown
}

// UnknownError is a call of a tool that is not there.
type UnknownError struct {
	Name  string
	Known []string // the names of those that are
}

// Error names the tool, and those that there are.
func (e *UnknownError) Error() string {
	if len(e.Known) == 0 {
		return fmt.Sprintf("there is no tool %.*q, and no other one", maxName, e.Name)
	}
	return fmt.Sprintf("there is no tool %.*q: there are %s", maxName, e.Name, strings.Join(e.Known, ", "))
}

// Join makes one list of several. A name that an earlier tool has gets a number: "search", "search_2".
func Join(lists ...[]Tool) []Tool {
	var all []Tool
	var names []string
	for _, list := range lists {
		for _, t := range list {
			all, names = append(all, t), append(names, t.Name)
		}
	}
	for i, name := range Names(names...) {
		all[i].Name = name
	}
	return all
}

// Names makes names of tools from the ids of skills: what no name may have becomes "_", what is too long is cut, and a
// name that an earlier one has gets a number. Equal ids in equal order give equal names.
func Names(ids ...string) []string {
	names, taken, next := make([]string, len(ids)), map[string]bool{}, map[string]int{}
	for i, id := range ids {
		stem := name(id)
		names[i] = stem
		for n := max(2, next[stem]); taken[names[i]]; n++ {
			number := "_" + strconv.Itoa(n)
			next[stem] = n + 1
			names[i] = stem[:min(len(stem), maxName-len(number))] + number
		}
		taken[names[i]] = true
	}
	return names
}

// name makes a name of an id, without looking at others.
func name(id string) string {
	var b strings.Builder
	for _, r := range id {
		if b.Len() == maxName {
			break
		}
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' {
			b.WriteByte(byte(r))
			continue
		}
		b.WriteByte('_')
	}
	if b.Len() == 0 {
		return "tool"
	}
	return b.String()
}

// ArgumentsError are arguments that do not fit the schema of a tool. Nothing was sent.
type ArgumentsError struct {
	Tool   string
	Schema json.RawMessage
	Err    error // how they do not fit: a *check.Error
}

// Error says how they do not fit.
func (e *ArgumentsError) Error() string { return "arguments of tool " + e.Tool + ": " + e.Err.Error() }

// Unwrap returns how they do not fit.
func (e *ArgumentsError) Unwrap() error { return e.Err }
