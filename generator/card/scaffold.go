package card

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/a2agen/a2agen/generator/diag"
	"github.com/a2agen/a2agen/generator/shape"
	"github.com/a2agen/a2agen/generator/yamlx"
	"github.com/a2agen/a2agen/runtime"
)

// Scaffold renders a fresh, commented agent.yaml for the card. It ends with the list of skills, indented by two
// blanks, so that a skill can be appended. It keeps everything that the new agent can do; the list reports what was
// changed or left out because only the old deployment does it. The agent is served as offers say.
func Scaffold(c *Card, offers []Offer) ([]byte, diag.List) {
	s := &scaffolder{file: c.File, offers: offers, root: shape.Ordered(yamlx.Copy(c.Root), agentCard)}
	_, interfaces := yamlx.Take(s.root, "supportedInterfaces")
	_, skills := yamlx.Take(s.root, "skills")
	caps := s.capabilities()
	auth, in, out := yamlx.NewMap(s.root), yamlx.NewMap(s.root), yamlx.NewMap(s.root)
	move(s.root, auth, "securitySchemes", "securityRequirements")
	move(s.root, in, "defaultInputModes")
	move(s.root, out, "defaultOutputModes")
	yamlx.Take(s.root, "capabilities")

	var b strings.Builder
	b.WriteString("# yaml-language-server: $schema=" + SchemaPath + "\n")
	b.WriteString("# The agent's card, as A2A 1.0 has it, and for each skill what goes in and what comes out.\n\n")
	b.WriteString(yamlx.Block(s.root, 0))
	b.WriteString("\n" + caps)
	b.WriteString(s.interfaces(interfaces))
	b.WriteString(s.security(auth, skills))
	b.WriteString("\n# Media types that every skill takes and gives, unless it says otherwise.\n")
	b.WriteString(modesBlock(in, "defaultInputModes") + modesBlock(out, "defaultOutputModes"))
	b.WriteString(skillsComment + "skills:\n")
	if len(yamlx.Items(skills)) == 0 {
		skills = yamlx.NewList(s.root, freshSkill(s.root, "chat", freshContracts[0]))
		s.note(s.root, "write your own in its place", "the card has no skill, and an agent needs one: the skill \"chat\" is made up")
	}
	for i, skill := range skills.Content {
		if i > 0 {
			b.WriteString("\n")
		}
		b.WriteString(yamlx.Item(skill, 2))
	}
	return []byte(b.String()), s.list
}

// Offer is a version of the protocol that an agent speaks, over some bindings.
type Offer struct {
	Version  string
	Bindings []string
}

// scaffolder writes one agent.yaml and reports what it changed.
type scaffolder struct {
	file   string
	offers []Offer // what the agent speaks
	root   *yaml.Node
	list   diag.List
}

func (s *scaffolder) note(n *yaml.Node, hint, format string, args ...any) {
	s.list.Warnf(yamlx.Pos(s.file, n), "scaffold", hint, format, args...)
}

const skillsComment = `
# Each skill becomes one handler. Beside what A2A says of a skill, it may have
#   input, output   JSON Schemas, here or in a file: input: schemas/forecast.json
#   timeout         how long a call may run: 30s
#   maxConcurrent   how many calls run at a time: 4
#   onCrash         what becomes of a call that a crash interrupts: fail or retry
#   default         true for the skill that takes plain text which fits none
# Append a skill, run "a2agen generate", and write its handler.
`

func modesBlock(n *yaml.Node, key string) string {
	if yamlx.Get(n, key) == nil {
		yamlx.Set(n, key, yamlx.NewTexts(n, DefaultModes()))
	}
	return yamlx.Block(n, 0)
}

func move(from, to *yaml.Node, keys ...string) {
	for _, key := range keys {
		if k, v := yamlx.Take(from, key); k != nil {
			yamlx.Set(to, key, v)
		}
	}
}

// capabilities renders the capabilities, without those that the generated server does not have.
func (s *scaffolder) capabilities() string {
	caps := yamlx.NewMap(s.root)
	if old := yamlx.Get(s.root, "capabilities"); old != nil {
		caps = yamlx.Copy(old)
	}
	if k, v := yamlx.Take(caps, "extendedAgentCard"); yamlx.IsTrue(v) {
		s.note(k, "", "extendedAgentCard becomes false: the generated server does not do that")
	}
	if push := "pushNotifications"; !yamlx.IsTrue(yamlx.Get(caps, push)) {
		yamlx.Take(caps, push) // the default
	}
	if yamlx.Get(caps, "streaming") == nil {
		yamlx.Set(caps, "streaming", yamlx.NewBool(s.root, true))
	}
	return "capabilities:\n" + yamlx.Block(shape.Ordered(caps, capabilities), 2)
}

// interfaces keeps the path of the first JSON-RPC interface, and leaves out its host, which is that of another
// deployment: the server's card completes a path with its own address.
func (s *scaffolder) interfaces(list *yaml.Node) string {
	kept := ""
	for _, n := range yamlx.Items(list) {
		address, binding := yamlx.Text(yamlx.Get(n, "url")), yamlx.Text(yamlx.Get(n, "protocolBinding"))
		u, err := url.Parse(address)
		switch {
		case binding != runtime.BindingJSONRPC && !s.serves(binding):
			s.note(n, "to serve it, list it under bindings in a2agen.yaml", "the %s interface at %s is left out: the new agent does not serve it", binding, address)
		case binding != runtime.BindingJSONRPC:
			s.note(n, "", "the %s interface at %s is left out: the new agent serves it where it runs", binding, address)
		case kept != "" || err != nil || u.Path == "" || u.Path == "/" || u.RawQuery != "" || u.EscapedPath() != u.Path:
			s.note(n, "server.WithURL in main.go says it where requests do not", "the interface at %s is left out: the card says where the server runs", address)
		default:
			kept = u.Path
			s.note(n, "server.WithURL in main.go says it where requests do not", "of the interface at %s the path %s is kept: the card completes it with where the server runs", address, u.Path)
		}
		if v := yamlx.Text(yamlx.Get(n, "protocolVersion")); !slices.Contains(s.versions(), v) && binding == runtime.BindingJSONRPC {
			s.note(n, `to serve them too, list "`+v+`" under protocol in a2agen.yaml, and such an interface where agent.yaml lists any`, "callers of %s speak A2A %s, and the new agent speaks %s", address, v, strings.Join(s.versions(), " and "))
		}
	}
	if kept == "" {
		return ""
	}
	lines := "\n# Where the agent is reached, at the address where it runs. Without this list: at its root, in every version and binding.\nsupportedInterfaces:\n"
	for _, offer := range s.offers {
		for _, binding := range offer.Bindings {
			at := yamlx.Scalar(kept)
			if b := runtime.BindingNamed(binding); b != nil && b.HostPort {
				at = "/" // it has no path
			}
			lines += "  - url: " + at + "\n    protocolBinding: " + binding + "\n    protocolVersion: " + strconv.Quote(offer.Version) + "\n"
		}
	}
	return lines
}

// versions returns the versions that the agent speaks.
func (s *scaffolder) versions() (list []string) {
	for _, o := range s.offers {
		list = append(list, o.Version)
	}
	return list
}

// serves reports whether the agent is served over a binding.
func (s *scaffolder) serves(binding string) bool {
	return slices.ContainsFunc(s.offers, func(o Offer) bool { return slices.Contains(o.Bindings, binding) })
}

// security renders the security schemes and requirements of the card. Those of skills stay with the skills.
func (s *scaffolder) security(auth, skills *yaml.Node) string {
	lines := yamlx.Block(auth, 0)
	demands := yamlx.Get(auth, "securityRequirements")
	for _, skill := range yamlx.Items(skills) {
		if demands == nil {
			demands = yamlx.Get(skill, "securityRequirements")
		}
	}
	if demands != nil {
		s.note(demands, "see docs/security.md of a2agen", "the card demands credentials: say which are good before the new agent starts")
	}
	if len(auth.Content) == 0 {
		return ""
	}
	return "\n# How callers prove who they are. The server checks it; which credentials are good is not for the card to say.\n" + lines
}

// Fresh renders agent.yaml for a new agent: skillIDs have sample contracts, textIDs take and return text, and auth is
// the name of one of [FreshSchemes], or "" for no requirements.
func Fresh(agentName, description string, skillIDs, textIDs []string, auth string) []byte {
	root := yamlx.NewMap(&yaml.Node{})
	yamlx.Set(root, "name", yamlx.NewText(root, agentName))
	yamlx.Set(root, "description", yamlx.NewText(root, description))
	yamlx.Set(root, "version", yamlx.NewText(root, DefaultVersion))
	skills := yamlx.NewList(root)
	for i, id := range skillIDs {
		skills.Content = append(skills.Content, freshSkill(root, id, freshContracts[i%len(freshContracts)]))
	}
	for _, id := range textIDs {
		s := bareSkill(root, id)
		yamlx.Set(s, "inputModes", yamlx.NewTexts(root, []string{"text/plain"}))
		yamlx.Set(s, "outputModes", yamlx.NewTexts(root, []string{"text/plain"}))
		skills.Content = append(skills.Content, s)
	}
	yamlx.Set(root, "skills", skills)
	if scheme := FreshSchemeOf(auth).Card; scheme != "" {
		demands, _ := yamlx.Parse("", []byte("securitySchemes: {"+auth+": "+scheme+"}\nsecurityRequirements: [{schemes: {"+auth+": {}}}]\n"))
		move(demands, root, "securitySchemes", "securityRequirements")
	}
	text, _ := Scaffold(&Card{Root: root}, nil) // a fresh card has no interfaces, of which alone a version is said
	return text
}

// freshContracts are sample inputs and outputs of new skills, used in turn. Plain text from any chat client fits
// each.
var freshContracts = []string{`
input:
  type: object
  required: [text]
  properties:
    text: {type: string, description: What to work on.}
output:
  type: object
  required: [text]
  properties:
    text: {type: string, description: The answer.}
`, `
input:
  type: object
  required: [query]
  properties:
    query: {type: string, description: What to look for.}
    limit: {type: integer, minimum: 1, maximum: 20, default: 5, description: How many results at most.}
output:
  type: object
  required: [results]
  properties:
    results:
      type: array
      description: What was found, the best first.
      items:
        type: object
        required: [title]
        properties:
          title: {type: string}
          score: {type: number, minimum: 0, maximum: 1}
`, `
input:
  type: object
  required: [id]
  properties:
    id: {type: string, description: What to look at.}
output:
  type: object
  required: [status]
  properties:
    status: {enum: [open, done], description: How it stands.}
    note: {type: string, description: What there is to say of it.}
`}

// freshSkill returns a skill with a contract.
func freshSkill(at *yaml.Node, id, contract string) *yaml.Node {
	s := bareSkill(at, id)
	made, _ := yamlx.Parse("", []byte(contract))
	move(made, s, "input", "output")
	return s
}

func bareSkill(at *yaml.Node, id string) *yaml.Node {
	s := yamlx.NewMap(at)
	title := inWords(id)
	yamlx.Set(s, "id", yamlx.NewText(at, id))
	yamlx.Set(s, "name", yamlx.NewText(at, title))
	yamlx.Set(s, "description", yamlx.NewText(at, title+": say here what the skill does."))
	yamlx.Set(s, "tags", yamlx.NewTexts(at, strings.Fields(strings.ToLower(title))))
	return s
}
