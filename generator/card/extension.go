package card

import (
	"go/token"
	"net/url"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/a2agen/a2agen/generator/diag"
	"github.com/a2agen/a2agen/generator/names"
	"github.com/a2agen/a2agen/generator/schema"
	"github.com/a2agen/a2agen/generator/shape"
	"github.com/a2agen/a2agen/generator/yamlx"
	"github.com/a2agen/a2agen/runtime"
)

// Extension is an extension of the protocol whose contract is known: what it carries, and where.
type Extension struct {
	URI, Description string
	Name             string   // of its Go package
	Key              string   // member of metadata; "" is the URI
	Always           bool     // its values are sent also to callers who did not ask
	Methods          []string // operations of the extension, as a definition of the protocol names them
	MediaType        string   // of the parts that belong to it; "": none
	Carries          []Carried
	Pos              diag.Pos
}

// Carried is what an extension carries in one place.
type Carried struct {
	Place string // a key of "carries", or of its "parts"
	Root  *schema.Root
}

// Places are where an extension carries values, with the Go name of the type: the keys of "carries" and of its "parts".
var Places = []struct{ Key, Go, Doc string }{
	{"params", "Params", "The value of params in the card."},
	{"request", "Request", "Sent by callers in the metadata of a request."},
	{"message", "Message", "Sent in the metadata of messages: those of callers, and those with which the agent answers."},
	{"artifact", "Artifact", "Sent by the agent in the metadata of artifacts."},
	{"status", "Status", "Sent by the agent in the metadata of the message of a status: progress, a question, the end."},
	{callerPart, "CallerPart", "Sent by callers in parts."},
	{agentPart, "AgentPart", "Sent by the agent in parts."},
}

// The keys of "parts".
const (
	callerPart = "fromCaller"
	agentPart  = "fromAgent"
)

// contractFields declare what an extension carries. None of it is published.
func contractFields(required bool) []*shape.Field {
	return []*shape.Field{
		{Key: "name", Type: &shape.Type{Kind: shape.Text, Min: 1, Max: 64, Pattern: `^[a-z][a-z0-9_]*$`, PatternSays: "a Go package name", Check: usablePackage}, Required: required, Doc: "The name of the Go package with the extension's types. Not published.", Default: map[bool]string{false: "the extension has no types"}[required]},
		{Key: "key", Type: needed, Doc: "The member of metadata that holds the extension's values. Not published.", Default: "the uri"},
		{Key: "always", Type: boolean, Doc: "The agent sends the extension's values also to callers who did not ask for it. Not published.", Default: "false"},
		{Key: "methods", Type: &shape.Type{Kind: shape.List, Max: 100, Elem: needed}, Doc: "Operations of the extension, by their names in a definition that a2agen.yaml lists under protocol. They are for callers who ask for the extension. Not published.", Default: "none"},
		{Key: "carries", Type: object(carries), Doc: "The JSON Schemas of what the extension carries, each a schema or the name of a file that holds one. Not published.", Default: "nothing"},
	}
}

var carries = &shape.Object{
	Name: "carries", Doc: "The content of an extension: JSON Schemas by place.",
	Fields: append(placeFields(Places[:5]...),
		&shape.Field{Key: "parts", Type: object(carriedParts), Doc: "Data parts that belong to the extension."}),
}

var carriedParts = &shape.Object{
	Name: "parts", Doc: "Data parts of messages and artifacts that belong to an extension, by a media type of their own.",
	Fields: append([]*shape.Field{
		{Key: "mediaType", Type: &shape.Type{Kind: shape.MediaType, Max: maxName}, Required: true, Doc: "Their media type. It is read from mimeType in the metadata of the part, too."},
	}, placeFields(Places[5:]...)...),
}

func placeFields(places ...struct{ Key, Go, Doc string }) (fields []*shape.Field) {
	for _, p := range places {
		fields = append(fields, &shape.Field{Key: p.Key, Type: jsonSchema, Doc: p.Doc, Default: "anything fits, and there is no type"})
	}
	return fields
}

// extensionDefinition declares a file that a2agen.yaml lists under "extensions".
var extensionDefinition = &shape.Object{
	Name: "extension", Doc: "The contract of an extension of the protocol.",
	Fields: append([]*shape.Field{
		{Key: "uri", Type: &shape.Type{Kind: shape.Text, Min: 1, Check: usableURI}, Required: true, Doc: "Names the extension and its version, as cards declare it."},
		{Key: "description", Type: &shape.Type{Kind: shape.Text, Max: maxDescription}, Doc: "The purpose of the extension."},
	}, contractFields(true)...),
	Foreign: map[string]string{
		"required": "write it in agent.yaml: it is up to each agent", "params": "write its schema under carries, and its value in agent.yaml",
	},
	Check: checkContract,
}

// usablePackage rejects names that Go does not take for a package.
func usablePackage(c *shape.Checker, n *yaml.Node) {
	if token.IsKeyword(n.Value) || n.Value == "main" || n.Value == "internal" || strings.HasSuffix(n.Value, "_test") {
		c.Errorf(n, "bad-value", "choose another one", "%q cannot be a package name", n.Value)
	}
}

// usableURI rejects what the header that lists URIs cannot hold, or that is none.
func usableURI(c *shape.Checker, n *yaml.Node) {
	if c.Lenient { // the card of somebody else
		return
	}
	u, err := url.Parse(n.Value)
	switch {
	case err != nil || u.Scheme == "" || strings.ContainsFunc(n.Value, func(r rune) bool { return r <= ' ' || r > '~' }):
		c.Errorf(n, "bad-uri", "write an absolute URI with the version, such as https://example.com/extensions/trace/v1",
			"%q is not a URI", shape.Short(n.Value))
	case strings.Contains(n.Value, ","):
		c.Errorf(n, "bad-uri", "write %2C in place of the comma", "a URI with a comma cannot stand in the header A2A-Extensions")
	}
}

// checkContract rejects contradictions within the contract of an extension.
func checkContract(c *shape.Checker, n *yaml.Node) {
	uri := yamlx.Text(yamlx.Get(n, "uri"))
	for _, f := range contractFields(false) {
		v := yamlx.Get(n, f.Key)
		switch {
		case v == nil:
		case runtime.IsSkillsExtension(uri):
			c.Errorf(v, "contradiction", "remove it: the skills' input and output are this extension's types", "the contract of this extension is made from the skills")
			return
		case f.Key != "name" && yamlx.Get(n, "name") == nil:
			c.Errorf(v, "missing-key", "add a name, such as name: trace", `%q needs the key "name", the Go package of the extension's types`, f.Key)
			return
		}
	}
}

// ReadExtension reads the definition of an extension. open reads the schema files that it names, relative to the project.
// The extension is nil if the list has errors.
func ReadExtension(file string, src []byte, open func(string) ([]byte, error)) (*Extension, diag.List) {
	root, list := yamlx.Parse(file, src)
	if root == nil {
		return nil, list
	}
	c := &shape.Checker{File: file, List: list}
	c.Check(root, extensionDefinition)
	var x *Extension
	if !c.List.HasErrors() {
		x = readContract(c, root, open)
	}
	c.List.Sort()
	if c.List.HasErrors() {
		return nil, c.List
	}
	return x, c.List
}

// readExtensions reads the contracts of the extensions that the card declares.
func (card *Card) readExtensions(c *shape.Checker, open func(string) ([]byte, error)) {
	for _, n := range yamlx.Items(yamlx.Get(yamlx.Get(card.Root, "capabilities"), "extensions")) {
		if n.Kind != yaml.MappingNode || yamlx.Text(yamlx.Get(n, "uri")) == "" {
			continue // reported as what it is
		}
		declared := Declared{URI: yamlx.Text(yamlx.Get(n, "uri")), params: yamlx.Get(n, "params"), Pos: yamlx.Pos(card.File, n)}
		if yamlx.Text(yamlx.Get(n, "name")) != "" {
			declared.Contract = readContract(c, n, open)
		}
		card.Extensions = append(card.Extensions, declared)
	}
}

// Declared is an extension that a card declares.
type Declared struct {
	URI      string
	Contract *Extension // nil: the card has none
	Pos      diag.Pos
	params   *yaml.Node
}

// readContract reads what an extension carries.
func readContract(c *shape.Checker, n *yaml.Node, open func(string) ([]byte, error)) *Extension {
	text := func(key string) string { return yamlx.Text(yamlx.Get(n, key)) }
	x := &Extension{
		URI: text("uri"), Description: text("description"), Name: text("name"), Key: text("key"),
		Always: yamlx.IsTrue(yamlx.Get(n, "always")), Methods: yamlx.Texts(yamlx.Get(n, "methods")), Pos: yamlx.Pos(c.File, n),
	}
	under := yamlx.Get(n, "carries")
	parts := yamlx.Get(under, "parts")
	x.MediaType = yamlx.Text(yamlx.Get(parts, "mediaType"))
	var reqs []schema.Request
	for _, p := range Places {
		from := under
		if p.Key == callerPart || p.Key == agentPart {
			from = parts
		}
		if s := yamlx.Get(from, p.Key); isSchema(s) {
			reqs = append(reqs, schema.Request{File: c.File, Node: s})
			x.Carries = append(x.Carries, Carried{Place: p.Key})
		}
	}
	if len(reqs) == 0 {
		return x
	}
	roots, problems := schema.Compile(reqs, open)
	c.List.Add(problems...)
	for i := range x.Carries {
		x.Carries[i].Root = &roots[i]
	}
	return x
}

// CheckParams reports params of the card that do not fit the schema of their extension.
func (card *Card) CheckParams(d Declared, x *Extension) (list diag.List) {
	for _, carried := range x.Carries {
		if carried.Place != "params" || carried.Root.Ref == nil {
			continue
		}
		at, value := d.Pos, []byte("{}")
		if d.params != nil {
			at, value = yamlx.Pos(card.File, d.params), yamlx.JSON(d.params)
		}
		e, err := schema.NewEvaluator(carried.Root.Bundle)
		if err != nil {
			continue // the compiler has said what is wrong
		}
		if problem, err := e.Problem("", value); err == nil && problem != "" {
			list.Errorf(at, "params", "the schema is under carries, in "+x.Pos.File,
				"the params of the extension %s do not fit its schema: %s", x.URI, problem)
		}
	}
	return list
}

// GoName is the extension in Go identifiers: "Traceability".
func (x *Extension) GoName() string { return names.Go(x.Name) }
