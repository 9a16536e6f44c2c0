package carddiff

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/a2agen/a2agen/runtime"
)

// way is how an agent is called: over a binding, in a version of A2A.
type way struct{ binding, version string }

func (w way) String() string { return "A2A " + w.version + " over " + w.binding }

// ways groups the interfaces of a card, in its order.
func ways(list []runtime.Interface) (order []way, by map[way][]runtime.Interface) {
	by = map[way][]runtime.Interface{}
	for _, i := range list {
		w := way{i.Binding, i.Version}
		if by[w] == nil {
			order = append(order, w)
		}
		by[w] = append(by[w], i)
	}
	return order, by
}

// interfaces compares where and how the agent is called.
func (d *differ) interfaces() {
	const path = "supportedInterfaces"
	order, old := ways(d.old.Interfaces)
	now, by := ways(d.new.Interfaces)
	moved := map[string]bool{}
	gone := map[string]bool{}
	for _, w := range order {
		switch {
		case by[w] != nil:
			d.moved(old[w], by[w], moved)
		case !slices.ContainsFunc(now, func(n way) bool { return n.version == w.version }):
			if !gone[w.version] {
				d.add(Finding{Effect: Breaking, Kind: "version-removed", Path: path,
					Was: w.version, Is: versionsOf(now),
					Text: "A2A " + w.version + " is no longer spoken", Do: d.speak(now)})
			}
			gone[w.version] = true
		default:
			d.add(Finding{Effect: Breaking, Kind: "interface-removed", Path: path, Was: w.String(),
				Text: w.String() + " is gone", Do: d.speak(now)})
		}
	}
	for _, w := range now {
		if old[w] == nil {
			d.add(Finding{Effect: Compatible, Kind: "interface-added", Path: path, Is: w.String(),
				Text: w.String() + " is new"})
		}
	}
	if len(order) > 0 && len(now) > 0 && order[0] != now[0] && old[now[0]] != nil && by[order[0]] != nil {
		d.add(Finding{Effect: Compatible, Kind: "preferred-changed", Path: path,
			Was: order[0].String(), Is: now[0].String(),
			Text: "the preferred interface was " + order[0].String() + ", is " + now[0].String()})
	}
}

func versionsOf(list []way) string {
	var versions []string
	for _, w := range list {
		if !slices.Contains(versions, w.version) {
			versions = append(versions, w.version)
		}
	}
	return strings.Join(versions, ", ")
}

// speak says how callers reach the agent now.
func (d *differ) speak(now []way) string {
	if len(now) == 0 {
		return "the card names no interface: ask who runs the agent where it is"
	}
	return "call by " + now[0].String() + `; "a2agen update clients" makes the client do so`
}

// moved compares the addresses of one way.
func (d *differ) moved(old, now []runtime.Interface, said map[string]bool) {
	for _, o := range old {
		i := slices.IndexFunc(now, func(n runtime.Interface) bool { return n.URL == o.URL })
		if i < 0 {
			d.movedTo(o, now[0], said)
			continue
		}
		if n := now[i]; n.Tenant != o.Tenant && !slices.Contains(now, o) {
			d.add(Finding{Effect: Breaking, Kind: "tenant-changed", Path: "supportedInterfaces",
				Was: o.Tenant, Is: n.Tenant,
				Text: fmt.Sprintf("the tenant at %s was %s, is %s", o.URL, shown(o.Tenant), shown(n.Tenant)),
				Do:   "name the new tenant in every request"})
		}
	}
}

func (d *differ) movedTo(o, n runtime.Interface, said map[string]bool) {
	if said[o.URL+" "+n.URL] {
		return
	}
	said[o.URL+" "+n.URL] = true
	f := Finding{Effect: Breaking, Kind: "url-changed", Path: "supportedInterfaces", Was: o.URL, Is: n.URL,
		Text: "the address was " + o.URL + ", is " + n.URL, Do: "call the new address"}
	from, err := url.Parse(o.URL)
	to, err2 := url.Parse(n.URL)
	switch {
	case err != nil || err2 != nil:
	case from.Scheme == "https" && to.Scheme == "http":
		f.Kind = "encryption-removed"
		f.Do = "do not call it: what you send, credentials included, could be read and changed on the way"
	case from.Host != to.Host:
		f.Kind = "host-changed"
		f.Do = "make sure that " + shown(to.Host) +
			" is the same agent's: your messages and credentials go there from now on"
	}
	d.add(f)
}
