package binding

import (
	"bytes"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/internal/invalid"
	"github.com/a2agen/a2agen/runtime/wire"
)

// assemble makes of path, query and body the JSON that the operation's Decode reads. What is said twice must be the
// same.
func (q *restRequest) assemble() *runtime.Error {
	var outside urlFields
	for _, v := range q.route.vars {
		if err := outside.addPath(v.name, q.path.value(q.route, v)); err != nil {
			return err
		}
	}
	if err := outside.addQuery(q.Op, q.R.URL.RawQuery); err != nil {
		return err
	}
	var body []byte
	if q.Body != nil {
		body = bytes.TrimSpace(*q.Body)
	}
	if string(body) == "null" {
		body = nil // some clients write null for "no parameters" (T66)
	}
	field := q.route.bodyField(body)
	switch {
	case len(body) == 0:
		q.Params = outside.appendJSON(nil)
	case field != "*":
		if !isJSON(body) {
			return runtime.ErrParse
		}
		outside = append(outside, &urlField{name: field, values: [][]byte{body}})
		q.Params = outside.appendJSON(nil)
	case len(outside) == 0 || body[0] != '{':
		q.Params = body // Decode says what is wrong with what is no object
	default:
		if err := outside.compare(body); err != nil {
			return err
		}
		q.Params = outside.before(body)
	}
	return nil
}

// bodyField is which field of the request a body is, "*" for all of it.
func (rt *route) bodyField(body []byte) string {
	switch {
	case rt.field == "":
		return rt.body
	case len(body) > 0 && body[0] == '{' && has(wire.Object(body), rt.field):
		return "*"
	}
	return rt.field
}

// has reports whether an object has a member.
func has(o wire.Object, name string) bool {
	for key := range o.All() {
		if sameName(key, name) {
			return true
		}
	}
	return false
}

// urlField is a field of a request that stands in its URL: its values, or the members that it has.
type urlField struct {
	name   string
	values [][]byte // as JSON
	list   bool
	path   bool // the path says it
	again  bool // the body says it, too
	within urlFields
}

type urlFields []*urlField

// addPath adds a variable of the path. Its name may be that of a field in another one.
func (m *urlFields) addPath(name, text string) *runtime.Error {
	if !utf8.ValidString(text) {
		return wrongField(name, "is not UTF-8")
	}
	field := m.field(name)
	field.path, field.values = true, [][]byte{wire.AppendString(nil, text)}
	return nil
}

// addQuery adds the fields of a query. One without a value says nothing, unless it is one of several of a list.
func (m *urlFields) addQuery(op *runtime.Operation, query string) *runtime.Error {
	for pair := range strings.SplitSeq(query, "&") {
		key, text, _ := strings.Cut(pair, "=")
		name, err := url.QueryUnescape(key)
		if err != nil || !utf8.ValidString(name) {
			return wrongField("", "the query is not encoded as a URL is")
		}
		if op.Role == runtime.RoleList && name == goAfter {
			name = "statusTimestampAfter"
		}
		how := queryField(op, name)
		if text == "" && !how.List || strings.EqualFold(name, queryVersion) {
			continue
		}
		texts := []string{text}
		if how.List {
			texts = strings.Split(text, ",") // one that is encoded is no separator
		}
		for _, text := range texts {
			value, err := url.QueryUnescape(text)
			if err != nil || !utf8.ValidString(value) {
				return wrongField(name, "is not encoded as a URL is")
			}
			if err := m.add(name, value, how); err != nil {
				return err
			}
		}
	}
	return nil
}

// goAfter is what a2a-go's client calls the field of a list by which the time of tasks is bounded.
const goAfter = "lastUpdatedAfter"

// add adds one value of a query.
func (m *urlFields) add(name, text string, how runtime.QueryField) *runtime.Error {
	value := []byte(text)
	if !how.JSON || !isJSON(value) { // Decode says what is wrong then
		value = wire.AppendString(nil, text)
	}
	for _, before := range *m {
		if before.path && sameName(before.name, name) {
			if !bytes.Equal(before.values[0], value) {
				return wrongField(name, "is not what the path says")
			}
			return nil
		}
	}
	if strings.Count(name, ".") > maxNesting {
		return wrongField("", "a name in the query has too many dots")
	}
	field := m.field(name)
	if field == nil {
		return wrongField("", "the query has too many names")
	}
	field.list = how.List
	field.values = append(field.values, value)
	return nil
}

// Bounds of what a URL says: the dots in the name of a field, and the fields of one message. Each field is looked for
// among all of its message.
const (
	maxNesting = 16
	maxFields  = 100
)

// field finds the member of a dotted name, or adds it; nil if there are too many.
func (m *urlFields) field(name string) *urlField {
	for {
		first, rest, nested := strings.Cut(name, ".")
		i := slices.IndexFunc(*m, func(x *urlField) bool { return x.name == first })
		if i < 0 {
			if i = len(*m); i == maxFields {
				return nil
			}
			*m = append(*m, &urlField{name: first})
		}
		if !nested {
			return (*m)[i]
		}
		m, name = &(*m)[i].within, rest
	}
}

// queryField is how the operation has a field of a query.
func queryField(op *runtime.Operation, name string) runtime.QueryField {
	for _, f := range op.Query {
		if sameName(f.Name, name) {
			return f
		}
	}
	return runtime.QueryField{}
}

// sameName reports whether two names of a field are one, in snake_case or camelCase.
func sameName(a, b string) bool { return bareName(a) == bareName(b) }

// bareName is the same for both.
func bareName(name string) string { return strings.ToLower(strings.ReplaceAll(name, "_", "")) }

// appendJSON appends the members as an object. A field that is there more often than it may be is so in the object,
// too, and Decode refuses it.
func (m urlFields) appendJSON(dst []byte) []byte {
	dst = append(dst, '{')
	return append(m.appendMembers(dst), '}')
}

func (m urlFields) appendMembers(dst []byte) []byte {
	start := len(dst)
	for _, x := range m {
		if len(x.within) > 0 {
			dst = x.within.appendJSON(x.appendName(dst, start))
		}
		switch {
		case x.list && len(x.values) == 1 && string(x.values[0]) == `""`:
			dst = append(x.appendName(dst, start), "[]"...)
		case x.list:
			dst = append(x.appendName(dst, start), '[')
			dst = append(append(dst, bytes.Join(x.values, []byte(","))...), ']')
		default:
			for _, v := range x.values {
				dst = append(x.appendName(dst, start), v...)
			}
		}
	}
	return dst
}

func (x *urlField) appendName(dst []byte, start int) []byte {
	if len(dst) > start {
		dst = append(dst, ',')
	}
	return append(wire.AppendString(dst, x.name), ':')
}

// compare refuses a body that says something else than the URL, and leaves out what it says, too.
func (m *urlFields) compare(body []byte) *runtime.Error {
	said := make(map[string]*urlField, 8) // a body may have many members
	for _, x := range *m {
		said[bareName(x.name)] = x
	}
	again := 0
	for name, value := range wire.Object(body).All() {
		x := said[bareName(name)]
		if x == nil {
			continue
		}
		var text string
		if len(x.values) != 1 || value.Decode(&text) != nil || !bytes.Equal(wire.AppendString(nil, text), x.values[0]) {
			return wrongField(name, "is not what the URL says")
		}
		x.again = true
		again++
	}
	if again > 0 {
		*m = slices.DeleteFunc(*m, func(x *urlField) bool { return x.again })
	}
	return nil
}

// before are the members in front of those of an object.
func (m urlFields) before(body []byte) []byte {
	if len(m) == 0 {
		return body
	}
	b := m.appendMembers(append(make([]byte, 0, len(body)+64), '{'))
	rest := bytes.TrimLeft(body[1:], " \t\r\n")
	if len(rest) > 0 && rest[0] != '}' {
		b = append(b, ',')
	}
	return append(b, rest...)
}

// wrongField is the error for a field of the URL; "" for what is no field.
func wrongField(name, what string) *runtime.Error {
	if name == "" {
		return runtime.ErrInvalidParams.With("%s", what)
	}
	if len(name) > 100 {
		name = strings.ToValidUTF8(name[:100], "")
	}
	return invalid.Params(&wire.Error{Pointer: "/" + strings.ReplaceAll(name, ".", "/"), Reason: what})
}
