package route

import (
	"encoding/json"
	"maps"
	"strings"
)

// jsonText returns text as an input if it is a JSON object or array.
func jsonText(text string) []byte {
	text = strings.TrimSpace(text)
	if text == "" || (text[0] != '{' && text[0] != '[') || !json.Valid([]byte(text)) {
		return nil
	}
	return []byte(text)
}

// merge puts the members of the object over into the object base. Anything but two objects gives over, or base if that
// is nil.
func merge(base, over []byte) []byte {
	var b, o map[string]json.RawMessage
	switch {
	case len(over) == 0:
		return base
	case json.Unmarshal(base, &b) != nil || json.Unmarshal(over, &o) != nil || b == nil || o == nil:
		return over
	}
	maps.Copy(b, o)
	if merged := object(b); merged != nil {
		return merged
	}
	return over
}

// object is the JSON of an object with these members, nil if one of them is not JSON.
func object(members map[string]json.RawMessage) []byte {
	b, err := json.Marshal(members)
	if err != nil {
		return nil
	}
	return b
}

// membersOf returns the members of an object, none of anything else.
func membersOf(object []byte) map[string]json.RawMessage {
	var m map[string]json.RawMessage
	if json.Unmarshal(object, &m) != nil {
		return nil
	}
	return m
}

// quote is the JSON of a string.
func quote(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		return `""`
	}
	return string(b)
}
