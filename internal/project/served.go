package project

import (
	"encoding/json"
	"strings"

	"github.com/a2agen/a2agen/generator"
)

// ServedVersion is a version of the protocol and its interfaces.
type ServedVersion struct {
	Version    string
	Interfaces []ServedInterface
}

// ServedInterface is one of the card's interfaces. A path is relative to the agent's address.
type ServedInterface struct{ Binding, URL string }

// Over lists the bindings: "JSONRPC, HTTP+JSON and GRPC".
func (v ServedVersion) Over() string {
	var names []string
	seen := map[string]bool{}
	for _, i := range v.Interfaces {
		if !seen[i.Binding] {
			seen[i.Binding] = true
			names = append(names, i.Binding)
		}
	}
	last := len(names) - 1
	if last < 1 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:last], ", ") + " and " + names[last]
}

// Served returns the interfaces of the agent's card by version, in the card's order; none without an agent.
func Served(out generator.Output) (list []ServedVersion) {
	if out.Model == nil || out.Model.Agent == nil {
		return nil
	}
	var card struct {
		SupportedInterfaces []struct{ URL, ProtocolBinding, ProtocolVersion string }
	}
	if json.Unmarshal(out.Model.Agent.Card, &card) != nil {
		return nil // it was made by us
	}
	at := map[string]int{}
	for _, i := range card.SupportedInterfaces {
		if _, ok := at[i.ProtocolVersion]; !ok {
			at[i.ProtocolVersion] = len(list)
			list = append(list, ServedVersion{Version: i.ProtocolVersion})
		}
		v := &list[at[i.ProtocolVersion]]
		v.Interfaces = append(v.Interfaces, ServedInterface{i.ProtocolBinding, i.URL})
	}
	return list
}
