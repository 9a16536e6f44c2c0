package binding

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/internal/engine"
)

// table is what HTTP+JSON has of a version: nothing, if the version has no routes.
type table struct {
	routes
	named  routes        // of requests that name the version
	coding engine.Coding // of events
}

func newTable(v *engine.Version) (t table) {
	if table := v.Over(runtime.BindingHTTP); table != nil {
		t.routes, t.coding = routesOf(table), lineCoding(v, table)
		t.named = t.routes
		if v.Unnamed {
			t.named = t.routes.orWithout(formerPrefix)
		}
	}
	return t
}

// formerPrefix begins the paths of 0.3, not those of the addresses. a2a-go 2.3.1 leaves it out, and names the version.
const formerPrefix = "v1"

// orWithout adds the routes with their first segment left out where it is the given one.
func (rs routes) orWithout(first string) routes {
	all := slices.Clone(rs)
	for _, rt := range rs {
		if len(rt.segments) > 1 && rt.segments[0] == first {
			all = append(all, rt.shorter())
		}
	}
	return all.sorted()
}

// shorter is the route without its first segment, a literal.
func (rt *route) shorter() *route {
	other := *rt
	other.segments, other.vars = rt.segments[1:], nil
	for _, v := range rt.vars {
		v.from--
		if v.to > 0 {
			v.to--
		}
		other.vars = append(other.vars, v)
	}
	return &other
}

// routes are the routes of a version over HTTP+JSON. net/http's own router cannot have them: it knows no verb behind a
// colon, and finds /tasks/{id} and /{tenant}/tasks in conflict (T57).
type routes []*route

// route is one route, its path template taken to pieces.
type route struct {
	op       *runtime.Operation
	method   string
	body     string   // which field of the request the body is; "*": all of it, "": none
	field    string   // which field it may be where it may be either of a field and all of the request; else ""
	segments []string // literal, or one of those below
	action   string   // what stands behind the last colon: "cancel"
	vars     []variable
}

// Segments of a template that are no literals.
const (
	anySegment  = "*"
	anySegments = "**" // the last one
)

// variable is a field of the request that is part of the path: the segments from one up to another one.
type variable struct {
	name     string
	from, to int // to 0: all that are left
}

// routesOf are the routes of a version in the encoding that HTTP+JSON has.
func routesOf(t *runtime.Table) routes {
	var rs routes
	for _, op := range t.Operations {
		either := eitherBody(op)
		for _, r := range op.HTTP {
			rt := newRoute(op, r)
			if rt.body != "" {
				rt.field = either
			}
			rs = append(rs, rt)
			if op.Role == runtime.RoleSubscribe {
				rs = append(rs, rt.otherwise())
			}
		}
	}
	return rs.sorted()
}

// sorted are the routes in the order in which they are tried: those with an action first, then literals before
// variables, so that "tasks" is never a tenant.
func (rs routes) sorted() routes {
	slices.SortStableFunc(rs, (*route).compare)
	return rs
}

// eitherBody is the field of an operation's request that one of its routes has as the body, if another one has all of
// it: one path may stand for both then, as that of a webhook of 0.3 does.
func eitherBody(op *runtime.Operation) (field string) {
	all := false
	for _, r := range op.HTTP {
		switch r.Body {
		case "*":
			all = true
		case "":
		default:
			field = r.Body
		}
	}
	if !all {
		return ""
	}
	return field
}

// compare is negative if the route is tried before the other one.
func (rt *route) compare(other *route) int {
	if d := cmp.Compare(len(other.action), len(rt.action)); (rt.action == "") != (other.action == "") {
		return d
	}
	return slices.CompareFunc(rt.segments, other.segments, func(a, b string) int {
		return cmp.Compare(freedom(a), freedom(b))
	})
}

// has reports whether a path has a route, under any method.
func (rs routes) has(p requestPath) bool {
	return slices.ContainsFunc(rs, func(rt *route) bool { return rt.match(p) })
}

// freedom is how much a segment of a template lets in.
func freedom(segment string) int {
	switch segment {
	case anySegments:
		return 2
	case anySegment:
		return 1
	}
	return 0
}

// newRoute reads a path template of google.api.http: "/{tenant}/tasks/{id=*}:cancel".
func newRoute(op *runtime.Operation, r runtime.Route) *route {
	rt := &route{op: op, method: r.Verb, body: r.Body}
	path := strings.TrimPrefix(r.Path, "/")
	if i := strings.LastIndexByte(path, ':'); i > strings.LastIndexAny(path, "/}") || i > 0 && path[i-1] == '}' {
		path, rt.action = path[:i], path[i+1:]
	}
	for path != "" {
		if inside, ok := strings.CutPrefix(path, "{"); ok {
			inside, path, _ = strings.Cut(inside, "}")
			name, template, _ := strings.Cut(inside, "=")
			v := variable{name: name, from: len(rt.segments)}
			rt.segments = append(rt.segments, strings.Split(cmp.Or(template, anySegment), "/")...)
			if v.to = len(rt.segments); rt.segments[v.to-1] == anySegments {
				v.to = 0
			}
			rt.vars = append(rt.vars, v)
			path = strings.TrimPrefix(path, "/")
			continue
		}
		var literal string
		literal, path, _ = strings.Cut(path, "/")
		rt.segments = append(rt.segments, literal)
	}
	return rt
}

// otherwise is the route under the other verb that clients subscribe with: the definition of 1.0 says GET, its text
// POST (T2).
func (rt *route) otherwise() *route {
	other := *rt
	if other.method == http.MethodGet {
		other.method, other.body = http.MethodPost, "*"
	} else {
		other.method, other.body = http.MethodGet, ""
	}
	return &other
}

// match reports whether the route's template is that of a path.
func (rt *route) match(p requestPath) bool {
	if p.dots || rt.action != "" && rt.action != p.action {
		return false
	}
	segments := p.of(rt)
	for i, want := range rt.segments {
		switch {
		case want == anySegments:
			return i < len(segments)
		case i >= len(segments), want != anySegment && want != segments[i], segments[i] == "":
			return false
		}
	}
	return len(rt.segments) == len(segments)
}

// find returns the route of a request: a HEAD is a GET whose body net/http leaves out, unless that is a stream. Without
// one, allowed are the methods that its path has.
func (rs routes) find(method string, p requestPath) (found *route, allowed []string) {
	head := method == http.MethodHead
	if head {
		method = http.MethodGet
	}
	action := false
	for _, rt := range rs {
		switch {
		case rt.action == "" && action || !rt.match(p):
		case rt.method == method && !(head && rt.op.Stream):
			return rt, nil
		default:
			action = action || rt.action != ""
			for _, m := range rt.methods() {
				if !slices.Contains(allowed, m) {
					allowed = append(allowed, m)
				}
			}
		}
	}
	return nil, allowed
}

// methods are those that a route answers.
func (rt *route) methods() []string {
	if rt.method == http.MethodGet && !rt.op.Stream {
		return []string{http.MethodGet, http.MethodHead}
	}
	return []string{rt.method}
}

// path is the path of a request below its interface's.
type requestPath struct {
	segments []string // decoded
	last     string   // the last one without its action
	action   string   // what stands behind its last colon that is not encoded
	dots     bool     // a segment is . or .., which others leave out: no route has it
}

// readPath takes an encoded path to pieces, so that a slash or colon in a name is none of the path's (T57). It is false
// for one that cannot be decoded.
func readPath(encoded string) (p requestPath, ok bool) {
	var err error
	encoded = strings.TrimPrefix(encoded, "/")
	p.segments = make([]string, 0, 1+strings.Count(encoded, "/"))
	for part := range strings.SplitSeq(encoded, "/") {
		last := part
		p.action = ""
		if i := strings.LastIndexByte(part, ':'); i >= 0 {
			last, p.action = part[:i], part[i+1:]
		}
		if part, err = url.PathUnescape(part); err != nil {
			return p, false
		}
		if p.last, err = url.PathUnescape(last); err != nil {
			return p, false
		}
		p.dots = p.dots || part == "." || part == ".." || p.last == "." || p.last == ".."
		p.segments = append(p.segments, part)
	}
	return p, true
}

// of are the segments as a route counts them: its action is none of the last one's.
func (p requestPath) of(rt *route) []string {
	if rt.action == "" {
		return p.segments
	}
	return append(p.segments[:len(p.segments)-1:len(p.segments)-1], p.last)
}

// value is the part of a path that a variable stands for.
func (p requestPath) value(rt *route, v variable) string {
	segments := p.of(rt)
	if v.to > 0 {
		segments = segments[:v.to]
	}
	return strings.Join(segments[v.from:], "/")
}
