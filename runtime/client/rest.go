package client

import (
	"bytes"
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/a2agen/a2agen/internal/sse"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/wire"
)

// httpJSON is the binding HTTP+JSON (A2A 1.0 §11).
type httpJSON struct{}

// Name is HTTP+JSON.
func (httpJSON) Name() string { return runtime.BindingHTTP }

// Connect takes any absolute URL of HTTP; the paths of operations go below it.
func (httpJSON) Connect(t Target) (Conn, error) {
	base, err := webURL(t.URL)
	if err != nil {
		return nil, err
	}
	return &webConn{t, newRESTFraming(base).frame}, nil
}

// restFraming puts requests into bodies, and into URLs below that of an interface.
type restFraming struct{ base, query string }

func newRESTFraming(base *url.URL) *restFraming {
	at := *base
	at.RawQuery, at.ForceQuery, at.Fragment, at.RawFragment = "", false, "", ""
	return &restFraming{strings.TrimRight(at.String(), "/"), base.RawQuery}
}

// restTypes are the content types of an answer.
const restTypes = "application/json, application/a2a+json"

func (f *restFraming) frame(r *Request) (frame, error) {
	call, err := f.address(r.Operation, r.Body)
	if err != nil {
		return nil, err
	}
	call.accept = restTypes
	if r.Operation.Role != runtime.RoleSubscribe {
		return restFrame{call}, nil
	}
	// The text of 1.0 says POST, its definition GET, and agents do as the one or the other (T2).
	post := &try{verb: http.MethodPost, url: call.url, accept: restTypes}
	get := &try{verb: http.MethodGet, url: call.url, accept: restTypes}
	return restFrame{post, get}, nil
}

// restFrame are the requests that may carry a call. Nothing stands around an answer.
type restFrame []*try

func (f restFrame) tries() []*try { return f }

func (restFrame) result(body []byte) ([]byte, error) {
	if body = bytes.TrimSpace(body); len(body) > 0 && string(body) != "null" {
		return body, nil
	}
	return nil, nil
}

// event is the item itself, or an error in the place of one.
func (restFrame) event(e sse.Event) ([]byte, error) {
	if string(e.Name) == "error" || firstMember(e.Data) == "error" || firstMember(e.Data) == "code" {
		if fault := runtime.ReadStatus(e.Data); fault != nil {
			return nil, fault
		}
	}
	return e.Data, nil
}

func (restFrame) fault(body []byte) *runtime.Error { return runtime.ReadStatus(body) }

// firstMember is the name of the first member of an object.
func firstMember(src []byte) string {
	var r wire.Reader
	r.Reset(src)
	key, _ := r.Object()
	return string(key)
}

// address makes the HTTP request for a request given as JSON: its route names the fields in the path and in the body; the others are in the
// query.
func (f *restFraming) address(op *runtime.Operation, request []byte) (*try, error) {
	fields := wire.Object(request)
	route, path, named, err := bestRoute(op.HTTP, fields)
	if err != nil {
		return nil, err
	}
	t := &try{verb: route.Verb, url: f.base + path}
	query := []string{f.query}
	switch route.Body {
	case "*":
		t.body = request
	default:
		for name, value := range fields.All() {
			switch {
			case route.Body != "" && sameName(name, route.Body):
				t.body = value
			case !slices.ContainsFunc(named, func(n string) bool { return sameName(n, name) }):
				query = appendQuery(query, op, name, value)
			}
		}
	}
	if q := strings.TrimPrefix(strings.Join(query, "&"), "&"); q != "" {
		t.url += "?" + q
	}
	return t, nil
}

// bestRoute finds the route whose path has the most fields of a request. It returns the path and the names of these fields.
func bestRoute(routes []runtime.Route, fields wire.Object) (best *runtime.Route, path string, named []string, err error) {
	most := -1
	for i := range routes {
		p, names, failed := expand(routes[i].Path, fields)
		if failed != nil {
			err = cmp.Or(err, failed)
			continue
		}
		if len(names) > most && !hidden(routes[i].Path, p, routes[0].Path) {
			best, path, named, most = &routes[i], p, names, len(names)
		}
	}
	switch {
	case best != nil:
		return best, path, named, nil
	case err == nil:
		err = runtime.ErrUnsupportedOperation.AsReceived().With("it has no path over HTTP")
	}
	return nil, "", nil, err
}

// hidden reports whether a tenant in the path equals the literal that the first route has there, such as "tasks": it could not be recognized
// as a tenant (T57), and goes into the query or the body.
func hidden(template, path, first string) bool {
	if !strings.HasPrefix(template, "/{") {
		return false
	}
	segment, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	literal, _, _ := strings.Cut(strings.TrimPrefix(first, "/"), "/")
	return segment == literal
}

// expand fills in a path template of google.api.http, "/{tenant}/tasks/{id=*}:cancel", and returns the names of its variables. All of
// them must be set.
func expand(template string, fields wire.Object) (path string, names []string, err error) {
	for {
		before, rest, found := strings.Cut(template, "{")
		path += before
		if !found {
			return path, names, nil
		}
		inside, after, _ := strings.Cut(rest, "}")
		name, pattern, _ := strings.Cut(inside, "=")
		value := fieldText(fields, name)
		if follows, _, _ := strings.Cut(after, "{"); pattern != "" && follows != "" {
			value = strings.TrimSuffix(value, follows) // a name may include the literal that follows in the path
		}
		part, ok := segments(cmp.Or(pattern, "*"), value)
		if !ok {
			field := runtime.Violation{Field: name, Description: "is not as the path has it: " + cmp.Or(pattern, "*")}
			return "", nil, runtime.ErrInvalidParams.AsReceived().With("%s %s", field.Field, field.Description).
				WithViolations(field)
		}
		path, template, names = path+part, after, append(names, name)
	}
}

// segments encodes a value as part of a path. It reports false if the value is empty or does not match the pattern:
// "*" is one segment, "tasks/*" two, of which the last has all that is left, and "**" any number.
func segments(pattern, value string) (string, bool) {
	var path []string
	for part, rest, more := strings.Cut(pattern, "/"); ; part, rest, more = strings.Cut(rest, "/") {
		var segment string
		switch {
		case part == "**":
			for s := range strings.SplitSeq(value, "/") {
				path = append(path, escape(s))
			}
			return strings.Join(path, "/"), value != ""
		case part != "*":
			var ok bool
			if segment, value, ok = strings.Cut(value, "/"); segment != part || ok != more {
				return "", false
			}
		case more && strings.HasPrefix(rest, "*"):
			segment, value, _ = strings.Cut(value, "/")
		case more: // up to the literal
			literal, _, _ := strings.Cut(rest, "/")
			i := strings.Index(value+"/", "/"+literal+"/")
			if i < 0 {
				return "", false
			}
			segment, value = value[:i], value[i+1:]
		default:
			segment = value
		}
		if segment == "" {
			return "", false
		}
		if path = append(path, escape(segment)); !more {
			return strings.Join(path, "/"), true
		}
	}
}

// fieldText is the text of a field, whose name may have dots; "" when it is not set or no text or number.
func fieldText(fields wire.Object, name string) string {
	first, rest, nested := strings.Cut(name, ".")
	for key, value := range fields.All() {
		switch {
		case !sameName(key, first):
		case nested:
			return fieldText(wire.Object(value), rest)
		case value.Kind() == wire.KindString || value.Kind() == wire.KindNumber || value.Kind() == wire.KindBool:
			return plainText(value)
		}
	}
	return ""
}

// appendQuery appends the pairs of a query for a field: its text; JSON where the operation declares that; each element of a list; each member
// of a message, under a dotted name.
func appendQuery(query []string, op *runtime.Operation, name string, value wire.Value) []string {
	switch value.Kind() {
	case wire.KindNull, wire.KindNone:
		return query
	case wire.KindArray:
		var list []wire.Value
		if value.Decode(&list) != nil {
			return query
		}
		for _, v := range list {
			query = append(query, escape(name)+"="+escape(plainText(v)))
		}
		return query
	case wire.KindObject:
		if !slices.ContainsFunc(op.Query, func(f runtime.QueryField) bool { return f.JSON && sameName(f.Name, name) }) {
			for inner, v := range wire.Object(value).All() {
				query = appendQuery(query, op, name+"."+inner, v)
			}
			return query
		}
	}
	return append(query, escape(name)+"="+escape(plainText(value)))
}

// plainText is a value as a query or a path has it: a string without quotes, anything else in JSON.
func plainText(v wire.Value) string {
	var s string
	if v.Kind() == wire.KindString && v.Decode(&s) == nil {
		return s
	}
	return string(v)
}

// sameName reports whether two names, in snake_case or camelCase, are of the same field.
func sameName(a, b string) bool {
	return strings.EqualFold(strings.ReplaceAll(a, "_", ""), strings.ReplaceAll(b, "_", ""))
}

// escape encodes all but the unreserved characters of RFC 3986, for a segment of a path and for a query alike: ":"
// would begin an action, "/" another segment, "," another element of a list, and dots alone would be taken for a way
// up.
func escape(s string) string {
	if s == "." || s == ".." {
		return strings.ReplaceAll(s, ".", "%2E")
	}
	return strings.ReplaceAll(url.QueryEscape(s), "+", "%20")
}
