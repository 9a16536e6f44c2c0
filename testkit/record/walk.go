package record

import (
	"maps"
	"slices"
	"strings"
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

// each replaces the ids in the path of a request, the strings of its query and those of a body by what visit returns.
func (f *frame) each(visit func(place, string) string) {
	if f.Type == typeRequest {
		segments := strings.Split(f.Path, "/")
		for i, s := range segments[1:] {
			id, verb, found := strings.Cut(s, ":")
			name := visit(place{member: collections[segments[i]]}, unescaped(id))
			if !isName(name) { // it stays as it is escaped
				continue
			}
			if segments[i+1] = name; found {
				segments[i+1] += ":" + verb
			}
		}
		f.Path = strings.Join(segments, "/")
		query := parseQuery(f.Query)
		for _, name := range slices.Sorted(maps.Keys(query)) {
			for i, v := range query[name] {
				query[name][i] = visit(place{member: name}, v)
			}
		}
		f.Query = query.Encode()
	}
	f.Body = walk(f.Body, place{}, visit)
}

// in is the place of a member of an object that is at p.
func (p place) in(member string, parent map[string]any) place {
	return place{
		member: member, parent: parent, payload: p.payload || opaque[member], params: p.member == "params" && isRPC(p.parent),
	}
}
