package card

import (
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/a2agen/a2agen/generator/shape"
	"github.com/a2agen/a2agen/generator/yamlx"
)

// Scaffold renders a fresh, commented agent.yaml for the card. It ends with the list of skills, two blanks deep, so that
// adding a skill is appending lines. What only the old deployment could promise — addresses, credentials, push, an extended
// card — is written as comments or as false, because the new agent does not do it by itself.
func Scaffold(c *Card) []byte {
	root := shape.Ordered(yamlx.Copy(c.Root), agentCard)
	_, interfaces := yamlx.Take(root, "supportedInterfaces")
	_, skills := yamlx.Take(root, "skills")
	caps := scaffoldCapabilities(root)
	auth, in, out := yamlx.NewMap(root), yamlx.NewMap(root), yamlx.NewMap(root)
	move(root, auth, "securitySchemes", "securityRequirements")
	move(root, in, "defaultInputModes")
	move(root, out, "defaultOutputModes")
	yamlx.Take(root, "capabilities")

	var b strings.Builder
	b.WriteString("# yaml-language-server: $schema=" + SchemaPath + "\n")
	b.WriteString("# The agent's card, as A2A 1.0 has it, and for each skill what goes in and what comes out.\n\n")
	b.WriteString(yamlx.Block(root, 0))
	b.WriteString("\n" + caps)
	b.WriteString(scaffoldInterfaces(interfaces))
	b.WriteString(scaffoldSecurity(auth, skills))
	b.WriteString("\n# Media types that every skill takes and gives, unless it says otherwise.\n")
	b.WriteString(modesBlock(in, "defaultInputModes") + modesBlock(out, "defaultOutputModes"))
	b.WriteString(skillsComment + "skills:\n")
	if len(yamlx.Items(skills)) == 0 {
		skills = yamlx.NewList(root, freshSkill(root, "chat"))
	}
	for i, s := range skills.Content {
		if i > 0 {
			b.WriteString("\n")
		}
		b.WriteString(yamlx.Item(s, 2))
	}
	return []byte(b.String())
}

const skillsComment = `
# Each skill becomes one handler. Beside what A2A says of a skill, it may have
#   input, output   JSON Schemas, here or in a file: input: schemas/forecast.json
#   timeout         how long a call may run: 30s
#   maxConcurrent   how many calls run at a time: 4
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

// scaffoldCapabilities renders the capabilities, turning off what the generated server does not do.
func scaffoldCapabilities(root *yaml.Node) string {
	caps := yamlx.NewMap(root)
	if old := yamlx.Get(root, "capabilities"); old != nil {
		caps = yamlx.Copy(old)
	}
	lost := ""
	for _, key := range []string{"pushNotifications", "extendedAgentCard"} {
		if _, v := yamlx.Take(caps, key); yamlx.IsTrue(v) {
			lost += "  # The imported card also says " + key + ": true, which this server does not do.\n"
		}
	}
	yamlx.Set(caps, "streaming", yamlx.NewBool(root, true))
	return "capabilities:\n" + yamlx.Block(shape.Ordered(caps, capabilities), 2) + lost
}

func scaffoldInterfaces(list *yaml.Node) string {
	var b strings.Builder
	for _, n := range yamlx.Items(list) {
		b.WriteString("#   " + yamlx.Scalar(yamlx.Text(yamlx.Get(n, "url"))) + " " + yamlx.Scalar(yamlx.Text(yamlx.Get(n, "protocolBinding"))) + "\n")
	}
	if b.Len() == 0 {
		return ""
	}
	return "\n# supportedInterfaces is left out: the card then says where the server runs. The imported card said\n" + b.String()
}

// scaffoldSecurity renders what the card and its skills demand of callers as comments, and takes it from the skills.
func scaffoldSecurity(auth, skills *yaml.Node) string {
	lines := yamlx.Block(auth, 0)
	for _, s := range yamlx.Items(skills) {
		demands := yamlx.NewMap(s)
		if move(s, demands, "securityRequirements"); len(demands.Content) > 0 {
			lines += "of skill " + yamlx.Scalar(yamlx.Text(yamlx.Get(s, "id"))) + "\n" + yamlx.Block(demands, 2)
		}
	}
	if lines == "" {
		return ""
	}
	lines = strings.ReplaceAll(strings.TrimSuffix(lines, "\n"), "\n", "\n#   ")
	return "\n# The imported card asks for credentials, which this server does not check by itself:\n#   " + lines + "\n"
}

// Fresh renders agent.yaml for a new agent with the given skill ids, each with a contract to start from.
func Fresh(agentName, description string, skillIDs []string) []byte {
	root := yamlx.NewMap(&yaml.Node{})
	yamlx.Set(root, "name", yamlx.NewText(root, agentName))
	yamlx.Set(root, "description", yamlx.NewText(root, description))
	yamlx.Set(root, "version", yamlx.NewText(root, DefaultVersion))
	skills := yamlx.NewList(root)
	for _, id := range skillIDs {
		skills.Content = append(skills.Content, freshSkill(root, id))
	}
	yamlx.Set(root, "skills", skills)
	return Scaffold(&Card{Root: root})
}

// freshSkill is a skill that takes a text and gives a text: plain text from any chat client fits it.
func freshSkill(at *yaml.Node, id string) *yaml.Node {
	s := yamlx.NewMap(at)
	title := inWords(id)
	yamlx.Set(s, "id", yamlx.NewText(at, id))
	yamlx.Set(s, "name", yamlx.NewText(at, title))
	yamlx.Set(s, "description", yamlx.NewText(at, title+": say here what the skill does."))
	yamlx.Set(s, "tags", yamlx.NewTexts(at, strings.Fields(strings.ToLower(title))))
	yamlx.Set(s, "input", textObject(at, "What to work on."))
	yamlx.Set(s, "output", textObject(at, "The answer."))
	return s
}

// textObject is the schema of an object with one required text.
func textObject(at *yaml.Node, about string) *yaml.Node {
	prop, props, schema := yamlx.NewMap(at), yamlx.NewMap(at), yamlx.NewMap(at)
	yamlx.Set(prop, "type", yamlx.NewText(at, "string"))
	yamlx.Set(prop, "description", yamlx.NewText(at, about))
	yamlx.Set(props, "text", prop)
	yamlx.Set(schema, "type", yamlx.NewText(at, "object"))
	yamlx.Set(schema, "required", yamlx.NewTexts(at, []string{"text"}))
	yamlx.Set(schema, "properties", props)
	return schema
}
