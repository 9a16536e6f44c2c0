package record

import (
	"maps"
	"slices"
)

// place is where a string is in a JSON value.
type place struct {
	member  string         // the name of the member that has it, or has the array that has it
	parent  map[string]any // which has that member
	payload bool           // within the data of a part, or metadata: what it is, is not for the protocol to say
	params  bool           // it is a member of the parameters of a JSON-RPC request
}

// opaque are members whose content is the business of agent and client.
var opaque = map[string]bool{"data": true, "metadata": true}

// walk replaces the strings of a value by what visit returns, in the order of the members' names. It changes the value.
func walk(v any, at place, visit func(place, string) string) any {
	switch v := v.(type) {
	case string:
		return visit(at, v)
	case []any:
		for i := range v {
			v[i] = walk(v[i], at, visit)
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			v[name] = walk(v[name], at.in(name, v), visit)
		}
	}
	return v
}

// in is the place of a member of an object that is at p.
func (p place) in(member string, parent map[string]any) place {
	return place{
		member: member, parent: parent, payload: p.payload || opaque[member], params: p.member == "params" && isRPC(p.parent),
	}
}
