package card

import (
	"regexp"
	"strings"
	"time"
	"unicode"

	"go.yaml.in/yaml/v4"

	"github.com/a2agen/a2agen/generator/diag"
	"github.com/a2agen/a2agen/generator/ir"
	"github.com/a2agen/a2agen/generator/shape"
	"github.com/a2agen/a2agen/generator/yamlx"
	"github.com/a2agen/a2agen/runtime"
)

// Import reads an agent card of the 1.0, 0.3, 0.2 or 0.1 shape, YAML or JSON, also a union of several (T68) or one with
// snake case names, and converts it to 1.0. Warnings say what was converted and what was lost. Errors remain only where
// there is nothing to work with: text that cannot be parsed, no map, no name. Schemas that the card publishes become the
// contract of its skills.
func Import(file string, src []byte) (*Card, diag.List) {
	root, list := yamlx.Parse(file, src)
	if root == nil || list.HasErrors() {
		return nil, list
	}
	root = yamlx.Copy(root)
	m := &importer{Checker: &shape.Checker{File: file, List: list, Lenient: true}, root: root, renamed: map[string]bool{}}
	if root.Kind == yaml.MappingNode {
		m.convert()
	}
	interfaces := interfacesOf(root)
	m.Check(root, agentCard)
	if m.List.HasErrors() {
		m.List.Sort()
		return nil, m.List
	}
	m.prune()
	card := fill(m.Checker, root)
	card.Interfaces = interfaces
	card.Origin, card.Extended, card.Repeats, card.lists = m.dialect, m.extended, m.repeats, m.lists
	dropped := card.importContracts(m.Checker)
	m.conventions(card, dropped)
	m.List.Sort()
	return card, m.List
}

// JSON returns a card, which may be YAML, as JSON; nil if it cannot be read.
func JSON(file string, src []byte) []byte {
	root, list := yamlx.Parse(file, src)
	if root == nil || list.HasErrors() {
		return nil
	}
	return yamlx.JSON(root)
}

// importer converts one card in place.
type importer struct {
	*shape.Checker
	root    *yaml.Node
	dialect string          // "0.1", "0.2", "0.3" or "1.0"
	spoken  string          // the protocol version that the card's url speaks
	renamed map[string]bool // short mode names already reported
	// extended: the card declares the a2agen extension.
	extended bool
	repeats  time.Duration // that it promises there
	// lists: scopes stand as plain lists under schemes.
	lists bool
	calls map[string]ir.Convention // by which the card says that skills are called, by id
}

func (m *importer) convert() {
	camelKeys(m.root, agentCard)
	m.detect()
	m.texts()
	m.interfaces()
	m.capabilities()
	m.modes(m.root, "defaultInputModes", "defaultOutputModes")
	m.authentication()
	m.security()
	m.provider()
	m.skills()
	m.contracts()
	if k, _ := yamlx.Take(m.root, "extended"); k != nil {
		m.note(k, "extended is left out: no published card has it")
	}
	if k, _ := yamlx.Take(m.root, "signatures"); k != nil {
		m.Warnf(k, SignaturesLeftOut, "", "the signatures are left out: they hold for the card as it was published")
	}
	for _, key := range []string{"protocolVersion", "preferredTransport", "additionalInterfaces", "url"} {
		yamlx.Take(m.root, key)
	}
}

// SignaturesLeftOut is the code of what is said of a card that is signed.
const SignaturesLeftOut = "signatures"

// note reports what became of something that 1.0 writes differently or not at all.
func (m *importer) note(n *yaml.Node, format string, args ...any) {
	m.Warnf(n, "converted", "", format, args...)
}

var majorMinor = regexp.MustCompile(`^[0-9]+\.[0-9]+`)

// detect tells the dialect by the card's shape (A2A 1.0 §8, 0.3 §5.5): version numbers alone prove little, published
// cards carry old ones (T37).
func (m *importer) detect() {
	has := func(key string) bool { v := yamlx.Get(m.root, key); return v != nil && !yamlx.IsNull(v) }
	version := yamlx.Get(m.root, "protocolVersion")
	if version != nil && version.Kind == yaml.ScalarNode {
		m.spoken = majorMinor.FindString(version.Value)
	}
	switch {
	case len(yamlx.Items(yamlx.Get(m.root, "supportedInterfaces"))) > 0 || !has("url"):
		m.dialect = "1.0"
	case mapping(yamlx.Get(m.root, "authentication")) != nil || m.bareModes() && !m.later():
		m.dialect = "0.1"
	case m.spoken == "0.2" && !has("signatures"):
		m.dialect = "0.2"
	default:
		m.dialect = "0.3"
	}
	if m.spoken == "" { // else the number counts, as it does for the client that is made (T37)
		m.spoken = m.dialect
	}
	if m.dialect != "1.0" {
		m.note(yamlx.Get(m.root, "url"), "this is a card of A2A %s: converted to 1.0", m.dialect)
	}
}

// bareModes reports whether the card names modes as 0.1 did: "text" (T48).
func (m *importer) bareModes() bool {
	for _, mode := range yamlx.Texts(yamlx.Get(m.root, "defaultInputModes")) {
		if !strings.Contains(mode, "/") {
			return true
		}
	}
	return false
}

// later reports whether the card has a member that 0.1 did not have. Cards of 0.3 name modes as 0.1 did, too.
func (m *importer) later() bool {
	for _, key := range []string{"protocolVersion", "preferredTransport", "additionalInterfaces", "securitySchemes", "security"} {
		if v := yamlx.Get(m.root, key); v != nil && !yamlx.IsNull(v) {
			return m.spoken != "0.1"
		}
	}
	return false
}

// texts turns a version that YAML read as a number into text, and gives every text the form that agent.yaml needs.
func (m *importer) texts() {
	if v := yamlx.Get(m.root, "version"); v != nil && (v.Tag == "!!float" || v.Tag == "!!int") {
		v.Tag = "!!str"
	}
	m.oneLine(yamlx.Get(m.root, "name"))
	if yamlx.Text(yamlx.Get(m.root, "description")) == "" {
		if name := yamlx.Get(m.root, "name"); yamlx.Text(name) != "" {
			yamlx.Set(m.root, "description", yamlx.NewText(name, name.Value))
			m.note(name, "the card has no description: its name stands for it")
		}
	}
	m.cut(yamlx.Get(m.root, "description"))
}

// oneLine joins the lines of a name.
func (m *importer) oneLine(n *yaml.Node) {
	if yamlx.IsText(n) {
		n.Value = strings.Join(strings.FieldsFunc(n.Value, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }), " ")
	}
}

// cut shortens a description that is longer than agent.yaml allows.
func (m *importer) cut(n *yaml.Node) {
	if !yamlx.IsText(n) {
		return
	}
	if rs := []rune(n.Value); len(rs) > maxDescription {
		n.Value = string(rs[:maxDescription-1]) + "…"
		m.note(n, "the description is cut to %d characters", maxDescription)
	}
}

// interfaces makes supportedInterfaces of url, preferredTransport and additionalInterfaces, the main one first, without
// repetitions; interfaces of 1.0 lose patch numbers (R70).
func (m *importer) interfaces() {
	list := yamlx.Get(m.root, "supportedInterfaces")
	if main := yamlx.Get(m.root, "url"); len(yamlx.Items(list)) == 0 && yamlx.Text(main) != "" {
		transport := yamlx.Get(m.root, "preferredTransport")
		list = yamlx.NewList(main, newInterface(main, yamlx.Text(transport), m.spoken))
		for _, n := range yamlx.Items(yamlx.Get(m.root, "additionalInterfaces")) {
			if u := yamlx.Get(n, "url"); yamlx.Text(u) != "" {
				list.Content = append(list.Content, newInterface(u, yamlx.Text(yamlx.Get(n, "transport")), m.spoken))
			}
		}
		yamlx.Set(m.root, "supportedInterfaces", list)
	}
	seen := map[string]bool{}
	kept := []*yaml.Node{}
	for _, n := range yamlx.Items(list) {
		if n.Kind == yaml.MappingNode {
			m.modernInterface(n)
		}
		if key := string(yamlx.JSON(n)); !seen[key] {
			seen[key] = true
			kept = append(kept, n)
		}
	}
	if list != nil && list.Kind == yaml.SequenceNode {
		list.Content = kept
	}
}

func newInterface(u *yaml.Node, transport, version string) *yaml.Node {
	n := yamlx.NewMap(u)
	yamlx.Set(n, "url", yamlx.NewText(u, u.Value))
	yamlx.Set(n, "protocolBinding", yamlx.NewText(u, orElse(transport, runtime.BindingJSONRPC)))
	yamlx.Set(n, "protocolVersion", yamlx.NewText(u, version))
	return n
}

func (m *importer) modernInterface(n *yaml.Node) {
	if k, v := yamlx.Take(n, "transport"); k != nil && yamlx.Get(n, "protocolBinding") == nil {
		yamlx.Set(n, "protocolBinding", v)
	}
	if binding := yamlx.Get(n, "protocolBinding"); yamlx.IsText(binding) {
		if b := bindingMeant(binding.Value); b != nil {
			binding.Value = b.Name
		}
	}
	version := yamlx.Get(n, "protocolVersion")
	switch {
	case version == nil || yamlx.IsNull(version):
		yamlx.Set(n, "protocolVersion", yamlx.NewText(n, m.spoken))
	case version.Kind == yaml.ScalarNode:
		version.Tag, version.Value = "!!str", orElse(majorMinor.FindString(version.Value), version.Value)
	}
	if t := yamlx.Get(n, "tenant"); yamlx.IsText(t) && t.Value == "" {
		yamlx.Take(n, "tenant")
	}
}

func (m *importer) capabilities() {
	caps := yamlx.Get(m.root, "capabilities")
	extendedKey, extended := yamlx.Take(m.root, "supportsAuthenticatedExtendedCard")
	if extendedKey == nil {
		extendedKey, extended = yamlx.Take(m.root, "supportsExtendedAgentCard")
	}
	if caps == nil || caps.Kind != yaml.MappingNode {
		caps = yamlx.NewMap(m.root)
		yamlx.Set(caps, "streaming", yamlx.NewBool(m.root, false)) // what an absent capability means in every version
		yamlx.Set(m.root, "capabilities", caps)
	}
	if yamlx.Get(caps, "streaming") == nil {
		yamlx.Set(caps, "streaming", yamlx.NewBool(caps, false))
	}
	if extendedKey != nil && yamlx.Get(caps, "extendedAgentCard") == nil {
		yamlx.Set(caps, "extendedAgentCard", extended)
	}
	if k, v := yamlx.Take(caps, "stateTransitionHistory"); yamlx.IsTrue(v) {
		m.note(k, "stateTransitionHistory is left out: 1.0 has no such capability")
	}
}

// modes converts the short names of 0.1 to media types (T48) and removes an empty list.
func (m *importer) modes(n *yaml.Node, keys ...string) {
	for _, key := range keys {
		list := yamlx.Get(n, key)
		if list == nil {
			continue
		}
		if yamlx.IsNull(list) || list.Kind == yaml.SequenceNode && len(list.Content) == 0 {
			yamlx.Take(n, key)
			continue
		}
		for _, mode := range yamlx.Items(list) {
			if full := shape.MediaTypes[strings.ToLower(yamlx.Text(mode))]; full != "" {
				if !m.renamed[mode.Value] {
					m.note(mode, "mode %s became the media type %s", quote(mode.Value), full)
				}
				m.renamed[mode.Value] = true
				mode.Value = full
			}
		}
	}
	if n == m.root && m.dialect == "0.1" {
		for _, key := range keys {
			if yamlx.Get(n, key) == nil {
				yamlx.Set(n, key, yamlx.NewTexts(n, []string{"text/plain"})) // the default of 0.1
			}
		}
	}
}

// provider drops a provider without the URL that 1.0 requires; 0.1 did not.
func (m *importer) provider() {
	p := yamlx.Get(m.root, "provider")
	if p == nil || p.Kind != yaml.MappingNode {
		return
	}
	m.oneLine(yamlx.Get(p, "organization"))
	if yamlx.Text(yamlx.Get(p, "url")) == "" {
		k, _ := yamlx.Take(m.root, "provider")
		m.note(k, "the provider is left out: 1.0 requires its url")
	}
}
