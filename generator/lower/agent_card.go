package lower

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/a2agen/a2agen/generator/card"
	"github.com/a2agen/a2agen/generator/diag"
	"github.com/a2agen/a2agen/generator/yamlx"
	"github.com/a2agen/a2agen/runtime"
)

// publisher makes the card that an agent serves from the one that its user wrote.
type publisher struct {
	card     *card.Card
	skills   []*card.Skill // that the card lists
	spoken   []Spoken
	offered  []string // bindings that the card offers
	pushes   bool     // it has push notifications
	problems diag.List
}

// publish returns the card with the given skills as 1.0 JSON: what the user wrote, defaults for what A2A requires,
// and the a2agen extension with the schemas of the skills. It promises nothing that the generated server does not do.
func (p *publisher) publish(n *yaml.Node, skills []*card.Skill) json.RawMessage {
	p.skills = skills
	if yamlx.Get(n, "version") == nil {
		yamlx.Set(n, "version", yamlx.NewText(n, card.DefaultVersion))
	}
	if p.card.Origin == "" {
		p.interfaces(n)
	}
	p.capabilities(n)
	for _, key := range []string{"defaultInputModes", "defaultOutputModes"} {
		if yamlx.Get(n, key) == nil {
			yamlx.Set(n, key, yamlx.NewTexts(n, card.DefaultModes()))
		}
	}
	p.fillSkills(n)
	return yamlx.JSON(p.card.Order(n))
}

// interfaces keeps the interfaces that the card lists, all of which must be served (R124). Without any there is one
// for each version in each of its bindings, at the root. The server completes a path with the address at which it is
// reached.
func (p *publisher) interfaces(n *yaml.Node) {
	if list := yamlx.Get(n, "supportedInterfaces"); list != nil {
		for _, i := range list.Content {
			p.served(i)
			p.offer(yamlx.Text(yamlx.Get(i, "protocolBinding")))
		}
		return
	}
	list := yamlx.NewList(n)
	for _, v := range p.spoken {
		for _, binding := range v.Bindings {
			i := yamlx.NewMap(n)
			yamlx.Set(i, "url", yamlx.NewText(n, "/"))
			yamlx.Set(i, "protocolBinding", yamlx.NewText(n, binding))
			yamlx.Set(i, "protocolVersion", yamlx.NewText(n, v.Version))
			list.Content = append(list.Content, i)
			p.offer(binding)
		}
	}
	yamlx.Set(n, "supportedInterfaces", list)
}

// offer records a binding.
func (p *publisher) offer(binding string) {
	if !slices.Contains(p.offered, binding) {
		p.offered = append(p.offered, binding)
	}
}

// served reports an interface that the generated server does not serve.
func (p *publisher) served(i *yaml.Node) {
	binding, version := yamlx.Get(i, "protocolBinding"), yamlx.Get(i, "protocolVersion")
	refuse := func(at *yaml.Node, hint, format string, args ...any) {
		p.problems.Errorf(yamlx.Pos(p.card.File, at), "not-served", hint, format, args...)
	}
	at := slices.IndexFunc(p.spoken, func(s Spoken) bool { return s.Version == version.Value })
	switch {
	case at < 0:
		refuse(version, "list it under protocol in a2agen.yaml, or take this interface out",
			"the generated server does not speak version %q", version.Value)
	case slices.Contains(p.spoken[at].Bindings, binding.Value):
	case runtime.BindingNamed(binding.Value) == nil:
		refuse(binding, "take this interface out", "the generated server does not serve the binding %q", binding.Value)
	case slices.Contains(p.spoken[at].Has, binding.Value):
		refuse(binding, "list it under bindings in a2agen.yaml, or take this interface out",
			"the generated server does not serve %s", binding.Value)
	default:
		refuse(binding, "take this interface out, or write "+strings.Join(p.spoken[at].Bindings, " or "),
			"version %s of the protocol is not spoken over %s", version.Value, binding.Value)
	}
}

// capabilities adds streaming, turns off what the server does not do, and declares the a2agen extension.
func (p *publisher) capabilities(n *yaml.Node) {
	caps := yamlx.Get(n, "capabilities")
	if caps == nil {
		caps = yamlx.NewMap(n)
		yamlx.Set(n, "capabilities", caps)
	}
	if p.card.Origin == "" {
		if yamlx.Get(caps, "streaming") == nil {
			yamlx.Set(caps, "streaming", yamlx.NewBool(caps, true))
		}
		if p.card.Hides {
			yamlx.Set(caps, "extendedAgentCard", yamlx.NewBool(caps, true))
		}
	}
	p.pushes = yamlx.IsTrue(yamlx.Get(caps, "pushNotifications"))
	if p.card.Extended {
		p.extension(caps)
	}
}

// extension adds the schemas of the skills to the a2agen extension, which the user may have declared to describe or
// require it.
func (p *publisher) extension(caps *yaml.Node) {
	skills := yamlx.NewMap(caps)
	for _, s := range p.skills {
		contract := yamlx.NewMap(caps)
		if s.Input != nil {
			yamlx.Set(contract, "input", yamlx.NewRaw(caps, s.Input.Bundle))
		}
		if s.Output != nil {
			yamlx.Set(contract, "output", yamlx.NewRaw(caps, s.Output.Bundle))
		}
		yamlx.Set(skills, s.ID, contract)
	}
	params := yamlx.NewMap(caps)
	yamlx.Set(params, "skills", skills)
	if s := int64(p.card.Repeats.Seconds()); s > 0 {
		yamlx.Set(params, "idempotency", yamlx.NewRaw(caps, fmt.Appendf(nil, `{"window":%d}`, s)))
	}
	list := yamlx.Get(caps, "extensions")
	if list == nil {
		list = yamlx.NewList(caps)
		yamlx.Set(caps, "extensions", list)
	}
	for _, ext := range list.Content {
		if runtime.IsSkillsExtension(yamlx.Text(yamlx.Get(ext, "uri"))) {
			yamlx.Set(ext, "uri", yamlx.NewText(ext, runtime.SkillsExtension))
			yamlx.Set(ext, "params", params)
			return
		}
	}
	ext := yamlx.NewMap(caps)
	yamlx.Set(ext, "uri", yamlx.NewText(caps, runtime.SkillsExtension))
	yamlx.Set(ext, "description", yamlx.NewText(caps, "Skills can be called by id, with typed input and output."))
	yamlx.Set(ext, "params", params)
	list.Content = append(list.Content, ext)
}

// fillSkills adds what A2A requires of a skill, and the modes of skills whose schemas add one.
func (p *publisher) fillSkills(n *yaml.Node) {
	nodes := yamlx.Items(yamlx.Get(n, "skills"))
	for i, s := range p.skills {
		node := nodes[i]
		if yamlx.Get(node, "name") == nil {
			yamlx.Set(node, "name", yamlx.NewText(node, s.Name))
		}
		if yamlx.Get(node, "tags") == nil {
			yamlx.Set(node, "tags", yamlx.NewList(node))
		}
		if modes := withJSON(s.InputModes, s.Input); len(modes) != len(s.InputModes) {
			yamlx.Set(node, "inputModes", yamlx.NewTexts(node, modes))
		}
		if modes := withJSON(s.OutputModes, s.Output); len(modes) != len(s.OutputModes) {
			yamlx.Set(node, "outputModes", yamlx.NewTexts(node, modes))
		}
	}
}
