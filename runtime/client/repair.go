package client

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/wire"
)

// maxRepairs is how many faults of a card are repaired at most.
const maxRepairs = 100

// decode reads a card. Its interfaces must be valid; any other faulty member is left out or filled in, with a warning.
func (a *agentCard) decode(src []byte) (runtime.Card, error) {
	src, renamed := readSecurity(src)
	for _, how := range renamed {
		a.warnings = append(a.warnings, "the card is not as it should be: "+how)
	}
	card, first := a.protocol.DecodeCard(src)
	if first == nil {
		return card, nil
	}
	var root any
	dec := json.NewDecoder(bytes.NewReader(src))
	dec.UseNumber()
	if dec.Decode(&root) != nil {
		return nil, first
	}
	var warnings []string
	for err := first; err != nil; {
		var fault *wire.Error
		if !errors.As(err, &fault) || len(warnings) == maxRepairs {
			return nil, first
		}
		how, ok := repair(root, pointer(fault.Pointer))
		if !ok {
			return nil, first
		}
		warnings = append(warnings, Printable(fmt.Sprintf("the card is not as it should be: %v (%s)", fault, how)))
		if src, err = json.Marshal(root); err != nil {
			return nil, first
		}
		card, err = a.protocol.DecodeCard(src)
	}
	a.warnings = append(a.warnings, warnings...)
	return card, nil
}

// pointer splits a JSON pointer.
func pointer(s string) []string {
	tokens := strings.Split(s, "/")[1:]
	for i, t := range tokens {
		tokens[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(t)
	}
	return tokens
}

// fillers stand for required members of a card and of its skills.
var fillers = map[string]func() any{
	"capabilities": func() any { return map[string]any{} },
	"name":         noText, "description": noText, "version": noText, "id": noText,
	"skills": noList, "tags": noList, "defaultInputModes": noList, "defaultOutputModes": noList,
}

func noText() any { return "" }
func noList() any { return []any{} }

// repair removes the fault at a place of a card: it fills in a required member, or removes the smallest member or element that can be
// removed, and returns which. It reports false where calls need the value.
func repair(root any, at []string) (how string, ok bool) {
	if n := len(at); n > 0 && (n == 1 || at[0] == "skills") {
		last := at[n-1]
		holder, isMap := find(root, at[:n-1]).(map[string]any)
		if fill := fillers[last]; isMap && fill != nil {
			if empty := fill(); fmt.Sprint(holder[last]) != fmt.Sprint(empty) || holder[last] == nil {
				holder[last] = empty
				return "taken for empty", true
			}
		}
	}
	if wrapScopes(root, at) {
		return "read as a list of scopes", true
	}
	for at = requirement(at); len(at) > 0; at = at[:len(at)-1] {
		if len(at) == 1 && slices.Contains([]string{"url", "supportedInterfaces", "supported_interfaces"}, at[0]) {
			return "", false
		}
		if remove(root, at) {
			return "/" + strings.Join(at, "/") + " is left out", true
		}
	}
	return "", false
}

// wrapScopes puts the scopes at a place of a requirement into {"list": […]}: a2a-go 2.4.0 writes the list itself.
func wrapScopes(root any, at []string) bool {
	n := len(at)
	if n < 4 || at[n-2] != "schemes" || at[n-4] != "securityRequirements" {
		return false
	}
	holder, isMap := find(root, at[:n-1]).(map[string]any)
	if list, isList := holder[at[n-1]].([]any); isMap && isList {
		holder[at[n-1]] = map[string]any{"list": list}
		return true
	}
	return false
}

// requirement shortens a place in a security requirement to the whole requirement, which would demand less without the faulty part.
func requirement(at []string) []string {
	for i, member := range at {
		if (member == "securityRequirements" || member == "security") && len(at) > i+2 {
			return at[:i+2]
		}
	}
	return at
}

// find returns the value at a place; nil if there is none.
func find(v any, at []string) any {
	for _, token := range at {
		switch in := v.(type) {
		case map[string]any:
			v = in[token]
		case []any:
			i, err := strconv.Atoi(token)
			if err != nil || i < 0 || i >= len(in) {
				return nil
			}
			v = in[i]
		default:
			return nil
		}
	}
	return v
}

// remove removes the value at a place of the card, and reports whether there was one.
func remove(root any, at []string) bool {
	last := at[len(at)-1]
	switch in := find(root, at[:len(at)-1]).(type) {
	case map[string]any:
		_, there := in[last]
		delete(in, last)
		return there
	case []any:
		i, err := strconv.Atoi(last)
		if err != nil || i < 0 || i >= len(in) {
			return false
		}
		in = slices.Delete(in, i, i+1)
		switch name, holder := at[len(at)-2], find(root, at[:len(at)-2]); holder := holder.(type) { // gets the shorter list
		case map[string]any:
			holder[name] = in
		case []any:
			i, _ := strconv.Atoi(name) // which find has read
			holder[i] = in
		}
		return true
	}
	return false
}

// readSecurity reads the member "security" of a 1.0 card, or of its skills, as their "securityRequirements", unless they have both.
// 1.0 renamed the member, but the sample card of its specification (§8.5) keeps the old name: a client that ignores it would
// call without the credentials that the agent demands. how describes each change.
func readSecurity(src []byte) (read []byte, how []string) {
	if !bytes.Contains(src, []byte(`"security"`)) {
		return src, nil
	}
	var root map[string]any
	dec := json.NewDecoder(bytes.NewReader(src))
	dec.UseNumber()
	if dec.Decode(&root) != nil || root["supportedInterfaces"] == nil {
		return src, nil
	}
	if renameSecurity(root) {
		how = append(how, `"security" is read as the securityRequirements of A2A 1.0`)
	}
	skills, _ := root["skills"].([]any)
	for i, s := range skills {
		if skill, _ := s.(map[string]any); renameSecurity(skill) {
			how = append(how, fmt.Sprintf(`"security" of skill %d is read as the securityRequirements of A2A 1.0`, i))
		}
	}
	if how == nil {
		return src, nil
	}
	read, err := json.Marshal(root)
	if err != nil {
		return src, nil
	}
	return read, how
}

// renameSecurity turns [{"scheme": ["scope"]}] into [{"schemes": {"scheme": {"list": ["scope"]}}}]. An element of another type is
// kept: decoding the card reports it.
func renameSecurity(holder map[string]any) bool {
	old, isList := holder["security"].([]any)
	if _, has := holder["securityRequirements"]; has || !isList {
		return false
	}
	requirements := make([]any, len(old))
	for i, r := range old {
		named, isObject := r.(map[string]any)
		if !isObject {
			requirements[i] = r
			continue
		}
		schemes := map[string]any{}
		for name, scopes := range named {
			schemes[name] = map[string]any{"list": scopes}
		}
		requirements[i] = map[string]any{"schemes": schemes}
	}
	delete(holder, "security")
	holder["securityRequirements"] = requirements
	return true
}
