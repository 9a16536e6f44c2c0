package card

import (
	"net/url"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v4"

	"github.com/a2agen/a2agen/generator/shape"
	"github.com/a2agen/a2agen/generator/yamlx"
	"github.com/a2agen/a2agen/runtime"
)

// Caps on text that ends up in published cards, comments and names, in characters.
const (
	maxName        = 200
	maxDescription = 10_000
	maxID          = 100
	maxSkills      = 500
)

var (
	text        = &shape.Type{Kind: shape.Text}
	needed      = &shape.Type{Kind: shape.Text, Min: 1}
	name        = &shape.Type{Kind: shape.Text, Min: 1, Max: maxName, Check: oneLine}
	description = &shape.Type{Kind: shape.Text, Min: 1, Max: maxDescription}
	boolean     = &shape.Type{Kind: shape.Bool}
	link        = &shape.Type{Kind: shape.URL}
	secure      = &shape.Type{Kind: shape.URL, Check: onlyHTTPS}
	free        = &shape.Type{Kind: shape.Free}
	modes       = &shape.Type{Kind: shape.List, Min: 1, Max: 100, Elem: &shape.Type{Kind: shape.MediaType, Max: maxName}}
	scopes      = &shape.Type{Kind: shape.Map, Max: 200, Elem: text}
	jsonSchema  = &shape.Type{Kind: shape.Schema}
)

func list(o *shape.Object, maximum int) *shape.Type {
	return &shape.Type{Kind: shape.List, Max: maximum, Elem: &shape.Type{Kind: shape.Struct, Object: o}}
}

func object(o *shape.Object) *shape.Type { return &shape.Type{Kind: shape.Struct, Object: o} }

// agentCard declares agent.yaml: an A2A 1.0 agent card (A2A 1.0 §4.4.1) whose skills may carry their contract.
var agentCard = &shape.Object{
	Name: "card", Doc: "An A2A 1.0 agent card whose skills may carry their contract: the JSON Schemas of input and output.",
	Fields: []*shape.Field{
		{Key: "name", Type: name, Required: true, Doc: "The agent's name for people."},
		{Key: "description", Type: description, Required: true, Doc: "A description of the agent's work, for people and for models that choose an agent."},
		{Key: "version", Type: &shape.Type{Kind: shape.Text, Min: 1, Max: 100, Check: oneLine}, Doc: "The version of the agent, in quotes.", Default: `"0.1.0"`},
		{Key: "supportedInterfaces", Type: &shape.Type{Kind: shape.List, Min: 1, Max: 20, Elem: object(agentInterface)}, Doc: "Where and how the agent is served, the preferred interface first.", Default: "JSON-RPC of every protocol version in a2agen.yaml, at the address where the server runs"},
		{Key: "provider", Type: object(provider), Doc: "The organization that runs the agent."},
		{Key: "documentationUrl", Type: link, Doc: "Where the agent is documented."},
		{Key: "iconUrl", Type: link, Doc: "A picture of the agent."},
		{Key: "capabilities", Type: object(capabilities), Doc: "Optional features of the protocol that the agent offers.", Default: "streaming"},
		{Key: "securitySchemes", Type: &shape.Type{Kind: shape.Map, Max: 50, Elem: object(securityScheme)}, Doc: "How callers may authenticate, by a name of your choice."},
		{Key: "securityRequirements", Type: list(securityRequirement, 50), Doc: "Alternatives of schemes: a caller must satisfy one of the list."},
		{Key: "defaultInputModes", Type: modes, Doc: "Media types that every skill takes unless it says otherwise.", Default: "text/plain, application/json"},
		{Key: "defaultOutputModes", Type: modes, Doc: "Media types that every skill answers with unless it says otherwise.", Default: "text/plain, application/json"},
		{Key: "skills", Type: &shape.Type{Kind: shape.List, Min: 1, Max: maxSkills, Elem: object(skill)}, Required: true, Doc: "The agent's abilities that callers can use; each becomes one handler."},
		{Key: "extended", Type: object(extended), Doc: "Additions of the card for authenticated callers. Not published itself: it sets capabilities.extendedAgentCard.", Default: "there is one card"},
	},
	Foreign: map[string]string{
		"url":                               "write supportedInterfaces: [{url: …, protocolBinding: JSONRPC, protocolVersion: \"1.0\"}], or leave it out",
		"preferredTransport":                "the first of supportedInterfaces is the preferred one",
		"additionalInterfaces":              "write supportedInterfaces",
		"protocolVersion":                   "write it in each of supportedInterfaces, and list the versions to speak in a2agen.yaml",
		"protocolVersions":                  "list the versions to speak in a2agen.yaml",
		"security":                          "write securityRequirements: [{schemes: {NAME: {list: [SCOPE]}}}]",
		"authentication":                    "write securitySchemes and securityRequirements",
		"supportsAuthenticatedExtendedCard": "write extended: what only identified callers see",
		"supportsExtendedAgentCard":         "write extended: what only identified callers see",
		"signatures":                        "remove it: a signature holds for one published card, and a2agen adds to this one",
	},
}

var skill = &shape.Object{
	Name: "skill", Doc: "One thing the agent can be asked to do.",
	Fields: []*shape.Field{
		{Key: "id", Type: &shape.Type{Kind: shape.Text, Min: 1, Max: maxID, Check: usableID}, Required: true, Doc: "Names the skill for callers; the handler's Go name is made from it."},
		{Key: "name", Type: name, Doc: "The skill's name for people.", Default: "the id in words"},
		{Key: "description", Type: description, Required: true, Doc: "A description of the skill's work, for people and for models that choose a skill."},
		{Key: "tags", Type: &shape.Type{Kind: shape.List, Max: 50, Elem: &shape.Type{Kind: shape.Text, Min: 1, Max: 100}}, Doc: "Keywords. Plain text is routed to a skill by its tags, examples and name.", Default: "none"},
		{Key: "examples", Type: &shape.Type{Kind: shape.List, Max: 50, Elem: needed}, Doc: "Messages that the skill answers.", Default: "none"},
		{Key: "inputModes", Type: modes, Doc: "Media types that the skill takes.", Default: "those of the card; application/json is added where there is an input schema"},
		{Key: "outputModes", Type: modes, Doc: "Media types that the skill answers with.", Default: "those of the card; application/json is added where there is an output schema"},
		{Key: "securityRequirements", Type: list(securityRequirement, 50), Doc: "Requirements of the skill in addition to those of the card: one of each must be satisfied."},
		{Key: "input", Type: jsonSchema, Doc: "The input: a JSON Schema, or the name of a file that holds one. Not part of A2A; published under the a2agen extension.", Default: "any message"},
		{Key: "output", Type: jsonSchema, Doc: "The output: a JSON Schema, or the name of a file that holds one. Not part of A2A; published under the a2agen extension.", Default: "text"},
		{Key: "timeout", Type: &shape.Type{Kind: shape.Duration, Max: 50}, Doc: "How long one call may run. Not published.", Default: "the server's"},
		{Key: "maxConcurrent", Type: &shape.Type{Kind: shape.Int, Min: 1, Max: 1_000_000}, Doc: "How many calls of the skill run at a time. Not published.", Default: "no limit"},
		{Key: "onCrash", Type: &shape.Type{Kind: shape.Text, Choices: []string{"fail", "retry"}}, Doc: "The end of a call that a crash or a shutdown interrupts: the task fails, or the handler is called again. Not published.", Default: "fail"},
		{Key: "default", Type: boolean, Doc: "The skill takes plain text that fits none. At most one skill does. Not published.", Default: "false: such a text is answered with a list of the skills"},
	},
	Foreign: map[string]string{
		"security":     "write securityRequirements: [{schemes: {NAME: {list: [SCOPE]}}}]",
		"inputSchema":  "write input",
		"outputSchema": "write output",
		"parameters":   "write input",
	},
}

var agentInterface = &shape.Object{
	Name: "interface", Doc: "One address of the agent and the protocol spoken there.",
	Fields: []*shape.Field{
		{Key: "url", Type: needed, Required: true, Doc: "An absolute URL, or a path on this server such as /a2a."},
		{Key: "protocolBinding", Type: needed, Required: true, Doc: strings.Join(bindingNames(), ", ") + ", or the URI of another binding."},
		{Key: "protocolVersion", Type: &shape.Type{Kind: shape.Text, Max: 20, Pattern: `^[0-9]+\.[0-9]+(-[a-z0-9]+)*$`, PatternSays: `MAJOR.MINOR such as "1.0", without a patch number`}, Required: true, Doc: "Major and minor version, in quotes."},
		{Key: "tenant", Type: &shape.Type{Kind: shape.Text, Min: 1, Max: maxName, Check: oneLine}, Doc: "The tenant that callers must name."},
	},
	Foreign: map[string]string{"transport": "write protocolBinding"},
	Check:   checkInterface,
}

// extended declares what only identified callers see (A2A 1.0 §3.1.11).
var extended = &shape.Object{
	Name: "extended", Doc: "Additions and changes of the card for authenticated callers.",
	Fields: []*shape.Field{
		{Key: "skills", Type: &shape.Type{Kind: shape.List, Min: 1, Max: maxSkills, Elem: needed}, Doc: "Ids of hidden skills: they and their tasks are reported to other callers as not found."},
		{Key: "scopes", Type: &shape.Type{Kind: shape.List, Min: 1, Max: 50, Elem: needed}, Doc: "Scopes that a caller needs to see it: all of these.", Default: "none: every authenticated caller may see it"},
		{Key: "description", Type: description, Doc: "A description in place of the public one."},
		{Key: "provider", Type: object(provider), Doc: "The organization that runs the agent."},
		{Key: "documentationUrl", Type: link, Doc: "Where the agent is documented."},
		{Key: "iconUrl", Type: link, Doc: "A picture of the agent."},
	},
	Check: func(c *shape.Checker, n *yaml.Node) {
		if key, _ := yamlx.Pair(n, "scopes"); len(n.Content) == 0 || key != nil && len(n.Content) == 2 {
			c.Errorf(n, "empty", "name skills, or leave it out", "extended says nothing")
		}
	},
}

var provider = &shape.Object{
	Name: "provider", Doc: "The organization behind the agent.",
	Fields: []*shape.Field{
		{Key: "organization", Type: name, Required: true, Doc: "Its name."},
		{Key: "url", Type: link, Required: true, Doc: "Its web site."},
	},
}

var capabilities = &shape.Object{
	Name: "capabilities", Doc: "Optional abilities of the agent.",
	Fields: []*shape.Field{
		{Key: "streaming", Type: boolean, Doc: "Progress and results are streamed while a task runs.", Default: "true"},
		{Key: "pushNotifications", Type: boolean, Doc: "Updates are posted to a caller's webhook.", Default: "false"},
		{Key: "extendedAgentCard", Type: boolean, Doc: "Authenticated callers get a card that says more.", Default: "true with extended, else false"},
		{Key: "extensions", Type: list(extension, 100), Doc: "Extensions of the protocol that the agent supports. The one for skill schemas is added."},
	},
	Foreign: map[string]string{
		"stateTransitionHistory":            "remove it: 1.0 has no such capability",
		"supportsAuthenticatedExtendedCard": "write extended beside capabilities: what only identified callers see",
	},
}

var extension = &shape.Object{
	Name: "extension", Doc: "An extension of the protocol, with the contract of what it carries if it has one here.",
	Fields: append([]*shape.Field{
		{Key: "uri", Type: &shape.Type{Kind: shape.Text, Min: 1, Check: usableURI}, Required: true, Doc: "Names the extension and its version."},
		{Key: "description", Type: &shape.Type{Kind: shape.Text, Max: maxDescription}, Doc: "How the agent uses it."},
		{Key: "required", Type: boolean, Doc: "Callers that do not activate it are rejected.", Default: "false"},
		{Key: "params", Type: free, Doc: "Whatever the extension defines."},
	}, contractFields(false)...),
	Check: checkExtension,
}

// oneLine rejects line breaks and invisible characters in what is printed within a line.
func oneLine(c *shape.Checker, n *yaml.Node) {
	if i := strings.IndexFunc(n.Value, func(r rune) bool { return !unicode.IsPrint(r) }); i >= 0 {
		r := []rune(n.Value[i:])[0]
		c.Errorf(n, "bad-character", "", "character U+%04X cannot stand here", r)
	}
}

// usableID rejects ids of which no Go name can be made.
func usableID(c *shape.Checker, n *yaml.Node) {
	oneLine(c, n)
	if !named(n.Value) {
		c.Errorf(n, "bad-id", "", "skill id %q has no letter or digit to make a Go name of", shape.Short(n.Value))
	}
	if strings.TrimSpace(n.Value) != n.Value {
		c.Errorf(n, "bad-id", "", "skill id %q begins or ends with a blank", shape.Short(n.Value))
	}
}

// named reports whether a Go name can be made of an id.
func named(id string) bool {
	return strings.ContainsFunc(id, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) })
}

// onlyHTTPS rejects plain http, where the specification requires TLS (R311).
func onlyHTTPS(c *shape.Checker, n *yaml.Node) {
	if u, err := url.Parse(n.Value); err == nil && u.Scheme != "https" {
		c.Errorf(n, "bad-url", "", "this URL must begin with https://")
	}
}

// checkInterface checks an interface's URL by its binding (R124; T70: gRPC addresses come in several forms).
func checkInterface(c *shape.Checker, n *yaml.Node) {
	binding, address := yamlx.Get(n, "protocolBinding"), yamlx.Get(n, "url")
	switch known := runtime.BindingNamed(binding.Value); {
	case known != nil && !known.HostPort:
		if strings.HasPrefix(address.Value, "/") && !strings.HasPrefix(address.Value, "//") {
			if u, err := url.Parse(address.Value); err != nil || u.RawQuery != "" || u.Fragment != "" {
				c.Errorf(address, "bad-url", "", `"url" is not a plain path`)
			}
			return
		}
		if why := shape.BadURL(address.Value); why != "" {
			c.Errorf(address, "bad-url", "write an absolute URL, or a path that begins with /", `"url" must be an http or https URL: %s`, why)
		}
	case known != nil:
		oneLine(c, address)
	default:
		if u, err := url.Parse(binding.Value); err != nil || u.Scheme == "" {
			c.Errorf(binding, "bad-value", bindingHint(binding.Value), `"protocolBinding" cannot be %q`, shape.Short(binding.Value))
		}
		oneLine(c, address)
	}
}
