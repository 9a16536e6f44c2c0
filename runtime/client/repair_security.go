package client

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// readSecurity reads the member "security" of a 1.0 card, or of its skills, as their "securityRequirements", unless that is there.
// 1.0 renamed the member, but the sample card of its specification (§8.5) keeps the old name: a client that skips it would
// call without the credentials that the agent demands. how says where that was done; it is empty when nothing was.
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

// renameSecurity turns [{"scheme": ["scope"]}] into [{"schemes": {"scheme": {"list": ["scope"]}}}]. What has another shape is
// carried over as it is, for the reader of cards to judge.
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
