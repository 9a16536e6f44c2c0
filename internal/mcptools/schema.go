package mcptools

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/a2agen/a2agen/generator/diag"
)

// prepared is a schema as the file with the schemas has it: the server's text. Where it refers to itself it gets an $id, since it
// is not the root of its file.
func prepared(schema json.RawMessage, of string) ([]byte, error) {
	var v any
	dec := json.NewDecoder(bytes.NewReader(schema))
	dec.UseNumber()
	if err := dec.Decode(&v); err != nil {
		return nil, fmt.Errorf("cannot be read: %w", err)
	}
	root, is := v.(map[string]any)
	if !is {
		return nil, errors.New("is no object")
	}
	inside, outside := references(root)
	if outside != "" {
		return nil, fmt.Errorf("refers to %.200q, which is outside the listing", outside)
	}
	if id, _ := root["$id"].(string); inside && id == "" {
		return insert(schema, nil, identity(of))
	}
	return schema, nil
}

// references reports whether a schema refers to itself, and to what outside: "" for nothing.
func references(v any) (inside bool, outside string) {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			in, out := references(item)
			if inside = inside || in; out != "" {
				return inside, out
			}
		}
	case map[string]any:
		for key, item := range v {
			if ref, is := item.(string); is && key == "$ref" {
				if !strings.HasPrefix(ref, "#") {
					return inside, ref
				}
				inside = true
				continue
			}
			if key == "const" || key == "enum" || key == "default" || key == "examples" || key == "example" {
				continue // data
			}
			in, out := references(item)
			if inside = inside || in; out != "" {
				return inside, out
			}
		}
	}
	return inside, ""
}

// insert adds a member to the object at a path of a text of JSON, which stays as it is otherwise.
func insert(src []byte, path []string, member string) ([]byte, error) {
	dec := json.NewDecoder(bytes.NewReader(src))
	for _, step := range path {
		if err := enter(dec, step); err != nil {
			return nil, err
		}
	}
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil, fmt.Errorf("%s is no object", strings.Join(path, "/"))
	}
	at := dec.InputOffset()
	if dec.More() {
		member += ","
	}
	return slices.Concat(src[:at], []byte(member), src[at:]), nil
}

// enter goes to a member of the object, or an item of the list, that comes next.
func enter(dec *json.Decoder, step string) error {
	open, err := dec.Token()
	if err != nil {
		return err
	}
	index, _ := strconv.Atoi(step)
	for i := 0; dec.More(); i++ {
		found := open == json.Delim('[') && i == index
		if open == json.Delim('{') {
			key, err := dec.Token()
			if err != nil {
				return err
			}
			found = key == step
		}
		if found {
			return nil
		}
		var skipped json.RawMessage
		if err := dec.Decode(&skipped); err != nil {
			return err
		}
	}
	return fmt.Errorf("%q is not there", step)
}

// Quiet implements [contract.Schemas]: schemas stay as the server wrote them.
func (im *Import) Quiet(*yaml.Node, diag.List) bool { return false }
