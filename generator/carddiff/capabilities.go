package carddiff

import (
	"encoding/json"
	"reflect"

	"go.yaml.in/yaml/v4"

	"github.com/a2agen/a2agen/generator/yamlx"
)

// options are the capabilities that an agent has or has not, with what callers do without them.
var options = []struct{ key, name, without string }{
	{"streaming", "streaming", "send messages without streaming, and ask for the task until it is done"},
	{"pushNotifications", "push notifications", "ask for the task instead, or subscribe to it"},
	{"extendedAgentCard", "the extended card",
		"go by the public card; what only the extended card said is not known any more"},
}

// capabilities compares what the agent offers beside skills.
func (d *differ) capabilities() {
	was, is := get(d.old.Root, "capabilities"), get(d.new.Root, "capabilities")
	for _, o := range options {
		path := "capabilities." + o.key
		switch had, has := yamlx.IsTrue(yamlx.Get(was, o.key)), yamlx.IsTrue(yamlx.Get(is, o.key)); {
		case had && !has:
			d.add(Finding{Effect: Breaking, Kind: "capability-removed", Path: path, Was: "true", Is: "false",
				Text: o.name + ": no longer offered", Do: o.without})
		case !had && has:
			d.add(Finding{Effect: Compatible, Kind: "capability-added", Path: path, Was: "false", Is: "true",
				Text: o.name + ": offered now"})
		}
	}
	if d.old.Extended && !d.new.Extended {
		d.add(Finding{Effect: Breaking, Kind: "skills-extension-removed", Path: "capabilities.extensions",
			Text: "skills can no longer be called by name with data",
			Do:   "write what you want as text; the contracts of the skills are not published any more"})
	}
	if !d.old.Extended && d.new.Extended {
		d.add(Finding{Effect: Compatible, Kind: "skills-extension-added", Path: "capabilities.extensions",
			Text: "skills can be called by name with data"})
	}
	d.extensions(extensions(was), extensions(is))
}

// extensions are those that capabilities list, by their URIs in order.
func extensions(capabilities *yaml.Node) (list []*yaml.Node) {
	return yamlx.Items(yamlx.Get(capabilities, "extensions"))
}

func (d *differ) extensions(was, is []*yaml.Node) {
	old, now := map[string]*yaml.Node{}, map[string]*yaml.Node{}
	for _, e := range was {
		old[yamlx.Text(yamlx.Get(e, "uri"))] = e
	}
	for _, e := range is {
		now[yamlx.Text(yamlx.Get(e, "uri"))] = e
	}
	for _, e := range was {
		uri := yamlx.Text(yamlx.Get(e, "uri"))
		if now[uri] == nil {
			d.add(Finding{Effect: Breaking, Kind: "extension-removed", Path: "capabilities.extensions", Was: uri,
				Text: "the extension " + shown(uri) + " is gone", Do: "do without it"})
		}
	}
	for _, e := range is {
		uri := yamlx.Text(yamlx.Get(e, "uri"))
		o := old[uri]
		required := yamlx.IsTrue(yamlx.Get(e, "required"))
		f := Finding{Path: "capabilities.extensions", Is: uri}
		switch {
		case required && !yamlx.IsTrue(yamlx.Get(o, "required")):
			f.Effect, f.Kind, f.Text = Breaking, "extension-required", "callers must support the extension "+shown(uri)
			f.Do = "support it and name it in the header A2A-Extensions, or the agent refuses your requests"
		case o == nil:
			f.Effect, f.Kind, f.Text = Compatible, "extension-added", "the extension "+shown(uri)+" is new"
		case !required && yamlx.IsTrue(yamlx.Get(o, "required")):
			f.Effect, f.Kind, f.Text = Compatible, "extension-optional", "callers need not support the extension "+shown(uri)
		case !sameParams(o, e):
			f.Effect, f.Kind, f.Text = Unknown, "extension-changed", "the extension "+shown(uri)+" has other parameters"
			f.Do = "read what they mean where the extension is described"
		default:
			continue
		}
		d.add(f)
	}
}

// sameParams reports whether two extensions have the same parameters, in any order.
func sameParams(a, b *yaml.Node) bool {
	value := func(e *yaml.Node) (v any) {
		if p := yamlx.Get(e, "params"); p != nil {
			_ = json.Unmarshal(yamlx.JSON(p), &v) // what is printed is JSON
		}
		return v
	}
	return reflect.DeepEqual(value(a), value(b))
}
