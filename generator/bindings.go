package generator

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/a2agen/a2agen/generator/card"
	"github.com/a2agen/a2agen/generator/config"
	"github.com/a2agen/a2agen/generator/diag"
	"github.com/a2agen/a2agen/generator/ir"
	"github.com/a2agen/a2agen/generator/lower"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/spec"
)

// What a2agen.yaml says of bindings decides where the card says that the agent is, and in which encodings the protocol
// package writes.

// speaks says in which bindings the versions are served. A binding that a2agen.yaml names and no version has is a
// mistake. Without a lowered protocol the versions are shipped ones, or something is wrong with a definition, which was
// reported.
func speaks(c *config.Config, p *ir.Protocol) (spoken []lower.Spoken, list diag.List) {
	wanted := c.BindingNames()
	for _, v := range c.Protocol {
		has := wanted
		switch lowered := loweredVersion(p, v.Version); {
		case lowered != nil:
			has = lower.BindingsOf(lowered)
		case v.File == "" && v.URL == "":
			has = lower.ShippedBindings(v.Version)
		}
		spoken = append(spoken, lower.Speak(v.Version, has, wanted))
	}
	for _, b := range c.Bindings {
		has := func(s lower.Spoken) bool { return slices.Contains(s.Bindings, b.Name) }
		if b.Pos.Line > 0 && !slices.ContainsFunc(spoken, has) {
			list.Errorf(b.Pos, "no-binding", "it is for "+lower.Whose(b.Name),
				"none of the versions is spoken over %s", b.Name)
		}
	}
	return spoken, list
}

// Offers say how an agent of shipped versions is served over bindings; no versions are those of a new agent.
func Offers(versions, bindings []string) (list []card.Offer) {
	if len(versions) == 0 {
		versions = spec.Fresh()
	}
	for _, v := range config.Supported() {
		if slices.Contains(versions, v) {
			list = append(list, card.Offer{Version: v, Bindings: lower.Speak(v, lower.ShippedBindings(v), bindings).Bindings})
		}
	}
	return list
}

// loweredVersion finds a version, by its name: drafts of older versions stand behind all others. Nil if it was not lowered.
func loweredVersion(p *ir.Protocol, name string) *ir.Version {
	if p == nil {
		return nil
	}
	i := slices.IndexFunc(p.Versions, func(v *ir.Version) bool { return v.Name == name })
	if i < 0 {
		return nil
	}
	return p.Versions[i]
}

// encodings are those that the bindings need and those that the configuration lists, each once.
func encodings(c *config.Config) []ir.Encoding {
	names := c.BindingNames()
	for _, cl := range c.Clients {
		names = append(names, cl.Bindings...)
	}
	list := lower.EncodingsOf(names)
	for _, e := range c.Encodings {
		if !slices.Contains(list, ir.Encoding(e.Name)) {
			list = append(list, ir.Encoding(e.Name))
		}
	}
	return list
}

// shippedWires are those of the encodings that one of the versions has, if all of them are shipped.
func shippedWires(c *config.Config) []ir.Encoding {
	return slices.DeleteFunc(encodings(c), func(e ir.Encoding) bool {
		return !slices.ContainsFunc(lower.WithWire(e), func(v string) bool { return slices.Contains(c.Versions(), v) })
	})
}

// unservedTools refuses an MCP server where its tools could not call the agent: they do so as clients over HTTP do, and know
// no extensions.
func unservedTools(c *config.Config, agent *ir.Agent) (list diag.List) {
	if agent.MCP && !slices.ContainsFunc([]string{runtime.BindingJSONRPC, runtime.BindingHTTP}, func(b string) bool { return slices.Contains(agent.Bindings, b) }) {
		list.Errorf(c.MCP, "not-served", "list "+runtime.BindingJSONRPC+" under bindings, or take mcp out",
			"tools of MCP call the agent over %s or %s, and it is served over neither", runtime.BindingJSONRPC, runtime.BindingHTTP)
	}
	if uri := requiredExtension(agent.Card); agent.MCP && uri != "" {
		list.Errorf(c.MCP, "not-served", "let the card not require it, or take mcp out",
			"the card requires callers to know the extension %s, and tools of MCP do not", uri)
	}
	return list
}

// requiredExtension is the first one that a card requires, other than that of skills; "" if there is none.
func requiredExtension(src []byte) string {
	var c struct {
		Capabilities struct {
			Extensions []struct {
				URI      string `json:"uri"`
				Required bool   `json:"required"`
			} `json:"extensions"`
		} `json:"capabilities"`
	}
	if json.Unmarshal(src, &c) != nil {
		return ""
	}
	for _, x := range c.Capabilities.Extensions {
		if x.Required && !runtime.IsSkillsExtension(x.URI) {
			return x.URI
		}
	}
	return ""
}

// unserved says which versions a2agen.yaml names that have none of its bindings, and which bindings although agent.yaml
// lists the interfaces without them.
func unserved(c *config.Config, spoken []lower.Spoken, agent *ir.Agent) (list diag.List) {
	for i, s := range spoken {
		if len(s.Bindings) == 0 {
			hint := "list " + strings.Join(s.Has, " or ") + " under bindings, or take the version out"
			list.Warnf(c.Protocol[i].Pos, "not-served", hint,
				"version %s of the protocol has none of the bindings, so it is not served", s.Version)
		}
	}
	for _, b := range c.Bindings {
		if b.Pos.Line > 0 && !slices.Contains(agent.Bindings, b.Name) {
			hint := fmt.Sprintf("list an interface of it in %s, or leave supportedInterfaces out there", c.Card)
			list.Warnf(b.Pos, "not-served", hint,
				"the card lists its interfaces and none of %s, so it is not served", b.Name)
		}
	}
	return list
}
