package equivalence

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"github.com/a2agen/a2agen/internal/sse"
	"github.com/a2agen/a2agen/runtime"
)

// restLink speaks HTTP+JSON.
type restLink struct{ web }

func newRESTLink(s *speaker, d door) link { return &restLink{newWeb(s, d)} }

func (l *restLink) call(ctx context.Context, c call) (*answer, error) {
	method, target, body, err := l.address(c)
	if err != nil {
		return nil, err
	}
	resp, err := l.do(ctx, c, method, l.base+target, body)
	if err != nil {
		return nil, err
	}
	a := &answer{active: resp.Header.Get("A2A-Extensions")}
	if resp.Header.Get("Content-Type") == sse.ContentType {
		a.stream = newWebItems(resp, readREST)
		return a, nil
	}
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	if resp.Header.Get("Content-Type") != "application/json" {
		return nil, fmt.Errorf("%s of type %q: %s", resp.Status, resp.Header.Get("Content-Type"), b)
	}
	if resp.StatusCode == http.StatusOK {
		a.body = b
		return a, nil
	}
	_, a.fault, err = readREST(b)
	if err == nil && a.fault == nil {
		err = fmt.Errorf("%s without an error: %s", resp.Status, b)
	}
	if err == nil {
		a.fault.class.http = resp.StatusCode
		a.fault.hear(resp, b)
	}
	return a, err
}

// readREST reads a value, or an error in its place: a google.rpc.Status, or before 1.0 the error of JSON-RPC.
func readREST(b []byte) ([]byte, *fault, error) {
	var old struct{ Message, Code json.RawMessage }
	var r struct {
		Error *struct {
			Code    int
			Status  string
			Message string
			Details json.RawMessage
		}
	}
	if err := json.Unmarshal(b, &r); err != nil {
		return nil, nil, fmt.Errorf("%w in %s", err, b)
	}
	if r.Error == nil {
		if json.Unmarshal(b, &old) == nil && old.Message != nil && old.Code != nil {
			e, err := runtime.ReadError(b)
			return nil, &fault{protocolError: e}, err
		}
		return b, nil, nil
	}
	if r.Error.Status == "" {
		e, err := runtime.ReadError([]byte(fmt.Sprintf(`{"code":%d,"message":%q}`, r.Error.Code, r.Error.Message)))
		return nil, &fault{protocolError: e}, err
	}
	e, err := readStatus(r.Error.Message, r.Error.Details)
	return nil, &fault{protocolError: e, class: class{code: r.Error.Status}}, err
}

// address says where a call goes, by the routes of its operation, and with what.
func (l *restLink) address(c call) (method, target string, body []byte, err error) {
	fields, err := membersOf(c.request)
	if err != nil {
		return "", "", nil, err
	}
	r := l.route(c.op, fields)
	path := r.fill(&fields)
	switch r.Body {
	case "*":
		body, fields = fields.json(), nil
	case "":
	default:
		if i := fields.find(r.Body); i >= 0 {
			body = fields[i].value
			fields = slices.Delete(fields, i, i+1)
		}
	}
	if query := l.query(fields, ""); len(query) > 0 {
		path += "?" + strings.Join(query, "&")
	}
	return r.Verb, path, body, nil
}

// route is the route that a client of the manner takes: one that has what the request says.
func (l *restLink) route(op *runtime.Operation, fields members) restRoute {
	byPath := l.speaker.manner.tenantPath && fields.find("tenant") >= 0
	r := restRoute{op.HTTP[0]}
	for _, other := range op.HTTP {
		if strings.Contains(other.Path, "{tenant}") == byPath && (restRoute{other}).fits(fields) {
			r = restRoute{other}
			break
		}
	}
	if op.Role == runtime.RoleSubscribe && l.speaker.manner.postToJoin {
		r.Verb, r.Body = http.MethodPost, "*"
	}
	return r
}

type restRoute struct{ runtime.Route }

// variables of a path, each as "name=template", with the literals around them.
func (r restRoute) variables() (literals, variables []string) {
	for rest := r.Path; ; {
		literal, after, more := strings.Cut(rest, "{")
		literals = append(literals, literal)
		if !more {
			return literals, variables
		}
		var inside string
		inside, rest, _ = strings.Cut(after, "}")
		variables = append(variables, inside)
	}
}

// fits reports whether the fields are such that they can stand in the path.
func (r restRoute) fits(fields members) bool {
	_, variables := r.variables()
	for _, v := range variables {
		name, template, _ := strings.Cut(v, "=")
		first, _, _ := strings.Cut(template, "*")
		if !strings.HasPrefix(fields.text(name), first) {
			return false
		}
	}
	return true
}

// fill puts the fields into the path that stand there, and takes them from the others.
func (r restRoute) fill(fields *members) string {
	literals, variables := r.variables()
	path := literals[0]
	for i, v := range variables {
		name, template, _ := strings.Cut(v, "=")
		path += escape(fields.text(name), template) + literals[i+1]
		if i := fields.find(name); i >= 0 {
			*fields = slices.Delete(*fields, i, i+1)
		}
	}
	return path
}

// escape writes a variable of a path. What stands for a star of its template is a segment, whatever is in it.
func escape(value, template string) string {
	literals := strings.Split(template, "*")
	if len(literals) < 2 {
		literals = []string{"", ""}
	}
	path := literals[0]
	value = strings.TrimPrefix(value, literals[0])
	for i, literal := range literals[1:] {
		end := len(value)
		if i < len(literals)-2 {
			end = strings.Index(value, literal)
		}
		path += strings.ReplaceAll(url.PathEscape(value[:end]), ":", "%3A") + literal
		value = value[min(end+len(literal), len(value)):]
	}
	return path
}

// query writes fields as parameters of a URL (A2A 1.0 §11.5).
func (l *restLink) query(fields members, within string) (list []string) {
	for _, f := range fields {
		name := within + f.name
		if l.speaker.manner.snakeCase {
			name = within + snake(f.name)
		}
		switch f.value[0] {
		case '{':
			inside, _ := membersOf(f.value)
			list = append(list, l.query(inside, name+".")...)
		case '[':
			var each []json.RawMessage
			_ = json.Unmarshal(f.value, &each)
			for _, v := range each {
				list = append(list, name+"="+textOf(v))
			}
		default:
			list = append(list, name+"="+textOf(f.value))
		}
	}
	return list
}

// textOf is a value as a query has it.
func textOf(v json.RawMessage) string {
	var s string
	if json.Unmarshal(v, &s) != nil {
		s = string(v)
	}
	return url.QueryEscape(s)
}

func snake(name string) string {
	var b strings.Builder
	for _, c := range name {
		if unicode.IsUpper(c) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(c))
	}
	return b.String()
}

// members are those of an object, in order.
type members []struct {
	name  string
	value json.RawMessage
}

func membersOf(object []byte) (list members, err error) {
	d := json.NewDecoder(bytes.NewReader(object))
	if _, err := d.Token(); err != nil {
		return nil, err
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, err
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return nil, err
		}
		list = append(list, struct {
			name  string
			value json.RawMessage
		}{fmt.Sprint(name), value})
	}
	return list, nil
}

// find is the place of a field, by its name in camelCase or snake_case; -1 if it is not there.
func (m members) find(name string) int {
	for i, f := range m {
		if f.name == name || snake(f.name) == name {
			return i
		}
	}
	return -1
}

// text is the value of a field that is a text; "" if it is not there.
func (m members) text(name string) (s string) {
	if i := m.find(name); i >= 0 {
		_ = json.Unmarshal(m[i].value, &s)
	}
	return s
}

func (m members) json() []byte {
	b := []byte("{")
	for i, f := range m {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(append(b, quote(f.name)...), ':'), f.value...)
	}
	return append(b, '}')
}

func quote(s string) []byte {
	b, _ := json.Marshal(s)
	return b
}
