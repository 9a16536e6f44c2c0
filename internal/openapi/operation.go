package openapi

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/a2agen/a2agen/generator/diag"
	"github.com/a2agen/a2agen/internal/contract"
	call "github.com/a2agen/a2agen/runtime/openapi"
)

// Operation is an operation as a skill.
type Operation struct {
	Skill       string // the skill's id, made of the operationId
	Name        string
	Description string
	Tags        []string
	Route       string // "GET /pets/{petId}"
	ID          string // the operationId, or the route
	// Input and Output are JSON Schemas 2020-12; Output is nil for an operation that answers text, or nothing.
	Input, Output any
	// Call is what a handler calls; the credentials have no variables yet.
	Call call.Operation
	// Schemes are the names of the security schemes of Call.Auth.
	Schemes []string
}

// reader reads one operation.
type reader struct {
	*schemas
	doc  *openapi3.T
	list diag.List
	from string // the document's URL; "" for a file
	at   found
	raw  map[string]any // of the operation
	item map[string]any // of its path
	op   *openapi3.Operation
	out  *Operation
}

// errorf reports that the operation cannot be imported, for what is at a path below it.
func (r *reader) errorf(path []string, format string, args ...any) {
	pos := r.d.pos(append([]string{"paths", r.at.path, r.at.method}, path...)...)
	r.list.Errorf(pos, "unsupported", "", "operation %s: %s", r.at.name(), fmt.Sprintf(format, args...))
}

// operation reads an operation. With errors in the list it is incomplete.
func (r *reader) operation() *Operation {
	r.item = object(object(r.d.root, "paths"), r.at.path)
	r.raw = object(r.item, r.at.method)
	kin := r.doc.Paths.Value(r.at.path)
	r.op = kin.GetOperation(strings.ToUpper(r.at.method))
	r.out = &Operation{Skill: skillID(r.at), ID: r.at.name(), Route: r.at.route(), Tags: r.at.tags,
		Name: cmp.Or(contract.OneLine(text(r.raw, "summary"), 100), contract.Humanized(skillID(r.at)))}
	r.out.Description = cmp.Or(strings.TrimSpace(text(r.raw, "description")), contract.OneLine(text(r.raw, "summary"), 1000),
		r.out.Route)
	r.out.Call = call.Operation{Method: strings.ToUpper(r.at.method), Path: r.at.path, Server: r.server(kin)}
	if r.at.method == "trace" || r.at.method == "head" || r.at.method == "options" {
		r.errorf(nil, "%s says nothing that a skill could answer", r.at.method)
	}
	if len(object(r.raw, "callbacks")) > 0 {
		r.errorf([]string{"callbacks"}, "it has callbacks, which a skill cannot take")
	}
	members := newMembers()
	r.parameters(kin, members)
	r.body(members)
	r.out.Input = members.schema()
	r.response()
	r.security()
	return r.out
}

// server is the base of an operation that has one of its own.
func (r *reader) server(item *openapi3.PathItem) string {
	servers := item.Servers
	if r.op.Servers != nil && len(*r.op.Servers) > 0 {
		servers = *r.op.Servers
	}
	at := r.d.server(servers, r.from)
	if at == "" && len(servers) > 0 {
		r.errorf([]string{"servers"}, "its server %.100q is no address by itself", servers[0].URL)
	}
	return at
}

// serverURL is the address of a server, with the defaults of its variables.
func serverURL(s *openapi3.Server) string {
	at := s.URL
	for name, v := range s.Variables {
		if v != nil {
			at = strings.ReplaceAll(at, "{"+name+"}", v.Default)
		}
	}
	return at
}

// members are the properties of an input.
type members struct {
	properties map[string]any
	required   []any
}

func newMembers() *members { return &members{properties: map[string]any{}} }

func (m *members) add(name string, schema any, required bool) {
	m.properties[name] = schema
	if required && !slices.Contains(m.required, any(name)) {
		m.required = append(m.required, name)
	}
}

func (m *members) schema() any {
	s := map[string]any{"type": "object", "properties": m.properties}
	if len(m.required) > 0 {
		s["required"] = m.required
	}
	return s
}

// parameters reads the parameters of the path and of the operation, which replace those.
func (r *reader) parameters(item *openapi3.PathItem, m *members) {
	all := slices.Clone(r.op.Parameters)
	for _, p := range item.Parameters {
		if p.Value != nil && r.op.Parameters.GetByInAndName(p.Value.In, p.Value.Name) == nil {
			all = append(all, p)
		}
	}
	for _, ref := range all {
		if p := ref.Value; p != nil {
			r.parameter(p, m)
		}
	}
	for _, name := range inPath.FindAllStringSubmatch(r.at.path, -1) {
		is := func(p call.Param) bool { return p.In == call.Path && p.Name == name[1] }
		if !slices.ContainsFunc(r.out.Call.Params, is) {
			r.errorf(nil, "nothing describes the parameter %q of its path", name[1])
		}
	}
}

// inPath finds the parameters of a path.
var inPath = regexp.MustCompile(`\{([^{}]*)\}`)

// ignored are the headers that parameters cannot set (OpenAPI 3.0.3, Parameter Object).
var ignored = []string{"accept", "content-type", "authorization"}

func (r *reader) parameter(p *openapi3.Parameter, m *members) {
	raw, path := r.rawParameter(p)
	switch {
	case p.In == "cookie" && p.Required:
		r.errorf(path, "the parameter %q is a cookie", p.Name)
		return
	case p.In == "cookie", p.In == "header" && slices.Contains(ignored, strings.ToLower(p.Name)):
		return
	}
	c := call.Param{Name: p.Name, In: call.Place(p.In)}
	schema := raw["schema"]
	if p.Content != nil {
		content := object(raw, "content")
		media := jsonType(slices.Sorted(maps.Keys(content)))
		if media == "" {
			r.errorf(path, "the parameter %q is %s, which is not JSON", p.Name,
				strings.Join(slices.Sorted(maps.Keys(content)), ", "))
			return
		}
		c.Style, schema = call.JSON, object(content, media)["schema"]
	} else if c.Style = r.style(p, path); c.Style == "" && p.In != "query" {
		c.Style = call.Commas
	}
	converted := described(r.convert(schema), text(raw, "description"))
	name := p.Name
	if _, taken := m.properties[name]; taken {
		name = p.In + "_" + p.Name
		c.Member = name
	}
	if _, taken := m.properties[name]; taken {
		r.errorf(path, "two parameters would be the member %q", name)
		return
	}
	m.add(name, converted, p.Required || p.In == "path")
	r.out.Call.Params = append(r.out.Call.Params, c)
}

// style is how a list or object is written.
func (r *reader) style(p *openapi3.Parameter, path []string) call.Style {
	exploded := p.Explode == nil && (p.Style == "" || p.Style == "form") || p.Explode != nil && *p.Explode
	switch {
	case p.Style == "deepObject":
		return call.DeepObject
	case p.Style == "spaceDelimited" && !exploded:
		return call.Spaces
	case p.Style == "pipeDelimited" && !exploded:
		return call.Pipes
	case p.Style == "label", p.Style == "matrix":
		r.errorf(path, "the parameter %q is of the style %s", p.Name, p.Style)
	case !exploded:
		return call.Commas
	}
	return call.Repeated
}

// rawParameter is a parameter as the document has it, and where it is below the operation.
func (r *reader) rawParameter(p *openapi3.Parameter) (map[string]any, []string) {
	for _, of := range []map[string]any{r.raw, r.item} {
		for i, v := range list(of, "parameters") {
			v, err := r.d.deref(v)
			if err == nil && text(v, "name") == p.Name && text(v, "in") == p.In {
				raw, _ := v.(map[string]any)
				return raw, []string{"parameters", strconv.Itoa(i)}
			}
		}
	}
	return map[string]any{}, nil
}

// described is a schema with a description, unless it has one.
func described(schema any, description string) any {
	s, is := schema.(map[string]any)
	if !is {
		s = map[string]any{}
	}
	if s["description"] == nil && strings.TrimSpace(description) != "" {
		s["description"] = strings.TrimSpace(description)
	}
	return s
}

// jsonType is the first of the media types that is JSON; "" if none is.
func jsonType(types []string) string {
	for _, want := range []func(string) bool{
		func(t string) bool { return t == "application/json" },
		func(t string) bool { return strings.HasSuffix(t, "+json") },
		func(t string) bool { return t == "*/*" || t == "application/*" },
	} {
		for _, t := range types {
			if base, _, _ := strings.Cut(strings.ToLower(t), ";"); want(strings.TrimSpace(base)) {
				return t
			}
		}
	}
	return ""
}

// body reads the request's body: the members of an object that have names of their own are members of the input, any
// other body is its member "body".
func (r *reader) body(m *members) {
	v, err := r.d.deref(r.raw["requestBody"])
	if err != nil || v == nil {
		return
	}
	content := object(v, "content")
	types := slices.Sorted(maps.Keys(content))
	media := jsonType(types)
	if media == "" && slices.Contains(types, call.MediaForm) {
		media = call.MediaForm
	}
	if media == "" {
		r.errorf([]string{"requestBody"}, "its body is %s, which is not JSON", orNothing(types))
		return
	}
	if media != "application/json" && !strings.Contains(media, "*") {
		r.out.Call.Body.Type = media
	}
	required := v.(map[string]any)["required"] == true
	schema := withoutReadOnly(r.convert(object(content, media)["schema"]), r.schemas)
	if o := r.plainObject(schema, m); o != nil && required {
		r.out.Call.Body.From = call.BodyRest
		wanted, _ := o["required"].([]any)
		for name, s := range o["properties"].(map[string]any) {
			m.add(name, s, slices.Contains(wanted, any(name)))
		}
		slices.SortFunc(m.required, func(a, b any) int { return cmp.Compare(a.(string), b.(string)) })
		return
	}
	if m.properties["body"] != nil {
		r.errorf([]string{"requestBody"}, "a parameter has the name \"body\"")
		return
	}
	r.out.Call.Body.From = call.BodyMember
	m.add("body", described(schema, text(v, "description")), required)
}

func orNothing(types []string) string {
	return cmp.Or(strings.Join(types, ", "), "nothing that the document names")
}

// plainKeywords are those of an object whose members can stand elsewhere.
var plainKeywords = []string{"type", "properties", "required", "title", "description", "additionalProperties", "deprecated"}

// plainObject is the schema of an object whose members can stand beside the parameters; nil if they cannot.
func (r *reader) plainObject(schema any, m *members) map[string]any {
	o, _ := schema.(map[string]any)
	for range maxHops {
		ref := text(o, "$ref")
		if ref == "" {
			break
		}
		o, _ = r.defs[unescape(strings.TrimPrefix(ref, "#/$defs/"))].(map[string]any)
		o, _ = withoutReadOnly(o, r.schemas).(map[string]any)
	}
	properties, _ := o["properties"].(map[string]any)
	if len(properties) == 0 || o["type"] != nil && o["type"] != "object" {
		return nil
	}
	for key := range o {
		if !slices.Contains(plainKeywords, key) {
			return nil
		}
	}
	if more := o["additionalProperties"]; more != nil && more != false && more != true {
		return nil
	}
	for name := range properties {
		if m.properties[name] != nil {
			return nil
		}
	}
	return o
}

// withoutReadOnly drops the members of a request that only answers have.
func withoutReadOnly(schema any, s *schemas) any {
	o, is := schema.(map[string]any)
	properties, _ := o["properties"].(map[string]any)
	if !is || properties == nil {
		return schema
	}
	kept, clone := map[string]any{}, maps.Clone(o)
	for name, p := range properties {
		if m, _ := p.(map[string]any); m["readOnly"] != true {
			kept[name] = p
		}
	}
	clone["properties"] = kept
	if required, is := o["required"].([]any); is {
		clone["required"] = slices.DeleteFunc(slices.Clone(required), func(v any) bool {
			name, _ := v.(string)
			return kept[name] == nil
		})
	}
	return clone
}

// response reads what an operation answers when it succeeds.
func (r *reader) response() {
	responses := object(r.raw, "responses")
	for _, status := range []string{"200", "201", "202", "203", "2XX", "204", "default"} {
		v, has := responses[status]
		if !has {
			continue
		}
		v, err := r.d.deref(v)
		if err != nil {
			r.errorf([]string{"responses", status}, "%v", err)
			return
		}
		r.answer(status, object(v, "content"))
		return
	}
	r.out.Call.Text = true
}

func (r *reader) answer(status string, content map[string]any) {
	types := slices.Sorted(maps.Keys(content))
	media := jsonType(types)
	switch {
	case len(types) == 0:
		r.out.Call.Text = true
	case media != "":
		schema, has := object(content, media)["schema"]
		if !has {
			schema = map[string]any{}
		}
		r.out.Output = r.convert(schema)
	case slices.ContainsFunc(types, isText):
		r.out.Call.Text = true
	default:
		r.errorf([]string{"responses", status}, "its answer is %s, which is neither JSON nor text", strings.Join(types, ", "))
	}
}

// isText reports whether a media type is text for people.
func isText(media string) bool {
	return strings.HasPrefix(media, "text/") && !strings.HasSuffix(media, "xml")
}

// security chooses the first alternative whose credentials the environment can have.
func (r *reader) security() {
	required := r.doc.Security
	if r.op.Security != nil {
		required = *r.op.Security
	}
	var why string
	for _, alternative := range required {
		if len(alternative) == 0 {
			r.out.Call.AuthOptional = true
		}
	}
	for _, alternative := range required {
		auth, names, problem := r.credentials(alternative)
		if problem == "" && len(auth) > 0 {
			r.out.Call.Auth, r.out.Schemes = auth, names
			return
		}
		why = cmp.Or(why, problem)
	}
	if why != "" && !r.out.Call.AuthOptional {
		r.errorf([]string{"security"}, "%s", why)
	}
	r.out.Call.AuthOptional = false
}

// credentials are those of an alternative, with the names of their schemes; problem is why there can be none.
func (r *reader) credentials(alternative openapi3.SecurityRequirement) (
	auth []call.Credential, names []string, problem string,
) {
	for _, name := range slices.Sorted(maps.Keys(alternative)) {
		var scheme *openapi3.SecurityScheme
		if r.doc.Components != nil && r.doc.Components.SecuritySchemes[name] != nil {
			scheme = r.doc.Components.SecuritySchemes[name].Value
		}
		if scheme == nil {
			return nil, nil, fmt.Sprintf("the document has no security scheme %q", name)
		}
		c, problem := credential(scheme, alternative[name])
		if problem != "" {
			return nil, nil, fmt.Sprintf("the security scheme %q %s", name, problem)
		}
		auth, names = append(auth, c), append(names, name)
	}
	return auth, names, ""
}

// credential is what a scheme takes.
func credential(s *openapi3.SecurityScheme, scopes []string) (c call.Credential, problem string) {
	switch s.Type {
	case "apiKey":
		kinds := map[string]call.Kind{"header": call.KeyInHeader, "query": call.KeyInQuery, "cookie": call.KeyInCookie}
		if kinds[s.In] == "" {
			return c, fmt.Sprintf("has its key in %.40q", s.In)
		}
		return call.Credential{Kind: kinds[s.In], Name: s.Name}, ""
	case "http":
		switch strings.ToLower(s.Scheme) {
		case "bearer":
			return call.Credential{Kind: call.Bearer}, ""
		case "basic":
			return call.Credential{Kind: call.Basic}, ""
		}
		return c, fmt.Sprintf("is HTTP %.40q", s.Scheme)
	case "oauth2":
		if s.Flows != nil && s.Flows.ClientCredentials != nil && s.Flows.ClientCredentials.TokenURL != "" {
			at := s.Flows.ClientCredentials.TokenURL
			return call.Credential{Kind: call.ClientCredentials, TokenURL: at, Scopes: scopes}, ""
		}
		return call.Credential{Kind: call.Bearer}, "" // a token that somebody got
	case "openIdConnect":
		return call.Credential{Kind: call.Bearer}, ""
	}
	return c, fmt.Sprintf("is of the type %.40q", s.Type)
}
