package scaffold

import (
	"encoding/json"
	"slices"
)

// plain reports whether a contract says no more than what the sampler keeps to by the way it makes values, so that a sample need not be
// held against it: compiling a schema takes longer than all else that is done for a skill. Nothing that is combined
// or counted is plain, and no bounds that may exclude each other.
func plain(contract json.RawMessage) bool {
	var root any
	return json.Unmarshal(contract, &root) == nil && plainSchema(root)
}

// plainTypes have a value whatever plain keywords say beside them.
var plainTypes = []string{"object", "array", "string", "number", "integer", "boolean"}

func plainSchema(node any) bool {
	s, ok := node.(map[string]any)
	if !ok {
		return false
	}
	for key, value := range s {
		if !plainKeyword(s, key, value) {
			return false
		}
	}
	name, _ := s["type"].(string)
	return slices.Contains(plainTypes, name) || s["type"] == nil && (s["$ref"] != nil || s["enum"] != nil)
}

func plainKeyword(s map[string]any, key string, value any) bool {
	switch key {
	case "$schema", "title", "description", "examples", "default", "type", "$ref", "required", "deprecated", "readOnly", "writeOnly":
		return true
	case "properties", "$defs":
		members, ok := value.(map[string]any)
		for _, m := range members {
			ok = ok && plainSchema(m)
		}
		return ok
	case "items":
		return plainSchema(value)
	case "additionalProperties":
		_, flag := value.(bool)
		return flag || plainSchema(value)
	case "enum":
		words, ok := value.([]any)
		return ok && !slices.ContainsFunc(words, func(w any) bool { _, text := w.(string); return !text }) && (s["type"] == nil || s["type"] == "string")
	case "format":
		return (value == "date" || value == "date-time") && s["minLength"] == nil && s["maxLength"] == nil && s["enum"] == nil
	case "minimum", "maximum":
		return s["minimum"] == nil || s["maximum"] == nil || s["minimum"].(float64) < s["maximum"].(float64)-1
	case "minLength", "maxLength":
		return s["enum"] == nil && (s["minLength"] == nil || s["maxLength"] == nil || s["minLength"].(float64) <= s["maxLength"].(float64))
	case "minItems":
		return s["maxItems"] == nil
	case "maxItems":
		return s["minItems"] == nil
	}
	return false
}
