package conform

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// callREST is the wire of HTTP+JSON: operations are paths below the URL of the interface.
func callREST(p *probe, x *exchange, of *operation, params object, o options) {
	path, body, verb := p.dialect.route(of, params)
	verbs := []string{verb}
	if o.verb != "" {
		verbs = []string{o.verb}
	} else if x.op == opSubscribe { // the documents differ on the verb (T2, T35)
		verbs = []string{http.MethodGet, http.MethodPost}
	}
	for _, verb := range verbs {
		h := p.headers(o)
		var content []byte
		if body != nil && verb != http.MethodGet {
			content = encode(body)
			set(h, "Content-Type", "application/json")
		}
		if of.stream {
			set(h, "Accept", "text/event-stream")
		}
		*x = exchange{op: x.op, dialect: x.dialect}
		p.sendREST(x, verb, path, h, content, o)
		if !slices.Contains([]int{http.StatusMethodNotAllowed, http.StatusNotImplemented}, x.status) {
			break
		}
	}
}

var pathVariable = regexp.MustCompile(`\{(\w+)(=[^}]*)?\}`)

// route returns the path with its query, the body (nil for none) and the verb of an operation.
func (d *dialect) route(of *operation, params object) (path string, body any, verb string) {
	r := of.routes[0]
	for _, other := range of.routes {
		if strings.Contains(other.path, "{tenant}") == (d.tenant != "") {
			r = other
			break
		}
	}
	if d.legacyProto() && slices.Contains(opNames[opPushCreate], of.name) { // the proto of 0.2 and 0.3 has a mistake in it (T33)
		r = route{http.MethodPost, "/v1/{parent=tasks/*}/pushNotificationConfigs", "*"}
	}
	rest := maps.Clone(params)
	put(rest, "tenant", d.tenant)
	path = pathVariable.ReplaceAllStringFunc(r.path, func(variable string) string {
		name := camelCase(pathVariable.FindStringSubmatch(variable)[1])
		value := fmt.Sprint(rest[name])
		delete(rest, name)
		segments := []string{value}
		if d.legacyProto() {
			segments = strings.Split(value, "/")
		}
		for i := range segments {
			// A colon begins the verb of a path.
			segments[i] = strings.ReplaceAll(url.PathEscape(segments[i]), ":", "%3A")
		}
		return strings.Join(segments, "/")
	})
	switch r.body {
	case "*":
		return path, rest, r.verb
	case "":
		query := url.Values{}
		for name, v := range rest {
			query.Set(name, fmt.Sprint(v))
		}
		if len(query) > 0 {
			path += "?" + strings.ReplaceAll(query.Encode(), "+", "%20")
		}
		return path, nil, r.verb
	}
	return path, rest[r.body], r.verb
}

// rawREST sends a request as it is and reads the answer. It ends the check if none comes.
func (t *trial) rawREST(verb, path, body string) *exchange {
	x := &exchange{dialect: t.dialect}
	h := t.headers(options{})
	if body != "" {
		set(h, "Content-Type", "application/json")
	}
	t.sendREST(x, verb, path, h, []byte(body), options{})
	t.inspect(x, nil)
	t.answered(x)
	return x
}

// sendREST sends a request to a path of the interface and reads the answer.
func (p *probe) sendREST(x *exchange, verb, path string, h http.Header, content []byte, o options) {
	x.read = func(s *streamed) {
		if e := member(s.raw, "error"); e != nil {
			s.failure = readStatus(e, 0)
			return
		}
		s.event, _ = p.dialect.event(x.op, s.raw)
	}
	p.roundTrip(x, verb, strings.TrimRight(p.URL, "/")+path, h, content, o)
	if x.status == 0 || x.isStream() {
		return
	}
	ok := x.status >= 200 && x.status < 300
	if len(x.body) > 0 && (ok || p.version() == "1.0") {
		x.check("answer.media-type", isJSON(mediaType(x.header)), "the answer has the media type %q", x.header.Get("Content-Type"))
	}
	v, decoded := x.decoded()
	if ok {
		if x.result = v; v == nil {
			x.result = object{}
		}
		if !decoded {
			x.failure = x.httpFailure()
		}
		return
	}
	if x.failure = readStatus(v, x.status); p.version() == "1.0" && x.status != http.StatusUnauthorized && x.status != http.StatusForbidden {
		e, wrapped := member(v, "error").(object)
		code, _ := number(e["code"])
		x.check("answer.error", wrapped && text(e, "message") != "" && text(e, "status") != "" && code == int64(x.status),
			"an error is {\"error\": {\"code\": %d, \"status\": …, \"message\": …, \"details\": […]}}", x.status)
	}
}

// readStatus reads an error: {"error": {code, status, message, details}} of 1.0, or what agents of 0.3 write, {code, message, data}.
func readStatus(v any, status int) *failure {
	f := &failure{http: status, typed: true}
	o, _ := v.(object)
	if inner, ok := o["error"].(object); ok {
		o = inner
	}
	f.message, f.status = text(o, "message"), text(o, "status")
	if code, ok := number(o["code"]); ok && code < 0 {
		f.code = code
	}
	f.readDetails(o["details"])
	f.readDetails(o["data"])
	return f
}
