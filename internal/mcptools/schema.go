package mcptools

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
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
	all := references(root, nil)
	for _, ref := range all {
		pointer, inside := strings.CutPrefix(ref, "#")
		switch {
		case !inside:
			return nil, fmt.Errorf("refers to %.200q, which is outside the listing", ref)
		case strings.HasPrefix(pointer, "/") && !leads(root, pointer):
			return nil, fmt.Errorf("refers to %.200q, which is not there", ref)
		}
	}
	if id, _ := root["$id"].(string); len(all) > 0 && id == "" {
		return insert(schema, nil, identity(of))
	}
	return schema, nil
}

// references are the references of a schema.
func references(v any, all []string) []string {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			all = references(item, all)
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			switch ref, is := v[key].(string); {
			case is && key == "$ref":
				all = append(all, ref)
			case key == "const", key == "enum", key == "default", key == "examples", key == "example": // data
			default:
				all = references(v[key], all)
			}
		}
	}
	return all
}

// leads reports whether a JSON pointer, as a reference has it, names something.
func leads(v any, pointer string) bool {
	for _, step := range strings.Split(pointer, "/")[1:] {
		if unescaped, err := url.PathUnescape(step); err == nil {
			step = unescaped
		}
		step = strings.NewReplacer("~1", "/", "~0", "~").Replace(step)
		switch in := v.(type) {
		case map[string]any:
			next, has := in[step]
			if !has {
				return false
			}
			v = next
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i < 0 || i >= len(in) {
				return false
			}
			v = in[i]
		default:
			return false
		}
	}
	return true
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
	if bytes.HasPrefix(bytes.TrimSpace(src[at:]), []byte(member)) {
		return nil, fmt.Errorf("%s is marked already", strings.Join(path, "/"))
	}
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
