package legacy

import (
	"cmp"
	"slices"
	"strings"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/wire"
)

// FullVersions are the values of protocolVersion in cards of a version (T37); cards of other versions have its name.
var FullVersions = map[string]string{"0.3": "0.3.0", "0.2": "0.2.6"}

// plainVersion begins the names of versions whose cards have no members for transport and version.
const plainVersion = "0.1"

// defaultTransport is the transport of a card that names none.
const defaultTransport = runtime.BindingJSONRPC

// Interfaces is what a card of 0.1 to 0.3 says of where the agent is: url, preferredTransport, additionalInterfaces and
// protocolVersion, as they come.
type Interfaces struct {
	URL, Transport, Version string
	More                    []runtime.Interface
}

// Read reads the value of one of the members.
func (i *Interfaces) Read(r *wire.Reader, member string) {
	switch member {
	case "url":
		i.URL = r.String()
	case "preferredTransport":
		i.Transport = r.String()
	case "protocolVersion":
		i.Version = r.String()
	default:
		for ok := r.Array(); ok; ok = r.Elem() {
			i.More = append(i.More, readInterface(r))
		}
	}
}

func readInterface(r *wire.Reader) (i runtime.Interface) {
	var seen wire.Seen
	for key, ok := r.Object(); ok; key, ok = r.Next() {
		switch string(key) {
		case "url":
			if r.Field(&seen, 0) {
				i.URL = r.String()
			}
		case "transport":
			if r.Field(&seen, 1) {
				i.Binding = r.String()
			}
		default:
			r.Unknown(key)
		}
	}
	return i
}

// List returns the interfaces, the main one first, each once, of the version that the card says or else of version.
func (i *Interfaces) List(version string) []runtime.Interface {
	if i.Version != "" {
		version = minor(i.Version)
	}
	var list []runtime.Interface
	add := func(url, binding string) {
		if binding == "" {
			binding = defaultTransport
		}
		if one := (runtime.Interface{URL: url, Binding: binding, Version: version}); url != "" && !slices.Contains(list, one) {
			list = append(list, one)
		}
	}
	add(i.URL, i.Transport)
	for _, more := range i.More {
		add(more.URL, more.Binding)
	}
	return list
}

// minor cuts a version after its second number.
func minor(version string) string {
	if parts := strings.SplitN(version, ".", 3); len(parts) == 3 {
		return parts[0] + "." + parts[1]
	}
	return version
}

// AppendInterfaces appends the members for the interfaces of a version, or for all if there are none of it.
func AppendInterfaces(b []byte, list []runtime.Interface, version string) []byte {
	main, whole := InterfacesFor(list, version)
	b = wire.AppendString(append(b, `,"url":`...), main.URL)
	if strings.HasPrefix(version, plainVersion) {
		return b
	}
	b = wire.AppendString(append(b, `,"preferredTransport":`...), main.Binding)
	if len(whole) > 0 {
		b = wire.AppendPlainList(append(b, `,"additionalInterfaces":`...), whole, appendInterface)
	}
	return wire.AppendString(append(b, `,"protocolVersion":`...), cmp.Or(FullVersions[version], version))
}

// InterfacesFor are the main interface of a version and, where there are several, all of them: a card lists the main one
// among them (0.3 §5.6.2, Q26, Q28). They are those of all versions if there are none of it.
func InterfacesFor(list []runtime.Interface, version string) (main runtime.Interface, whole []runtime.Interface) {
	var own []runtime.Interface
	for _, i := range list {
		if minor(i.Version) == version {
			own = append(own, i)
		}
	}
	if len(own) == 0 {
		own = list
	}
	switch len(own) {
	case 0:
		return runtime.Interface{Binding: defaultTransport}, nil
	case 1:
		return own[0], nil
	}
	return own[0], own
}

func appendInterface(b []byte, i runtime.Interface) []byte {
	b = wire.AppendString(append(b, `{"url":`...), i.URL)
	return append(wire.AppendString(append(b, `,"transport":`...), i.Binding), '}')
}

// flows are the OAuth flows in the order of preference: the first keeps the scheme's name.
var flows = []string{"authorizationCode", "clientCredentials", "implicit", "password"}

// SplitFlows are the security schemes by name. A scheme with several OAuth flows, of which 1.0 knows one a scheme (T22),
// becomes several: NAME for the first and NAME-FLOW for each other, where that name is free.
var SplitFlows = wire.Rewrite{Read: readSplitFlows}

func readSplitFlows(r *wire.Reader) wire.Object {
	schemes := r.Struct()
	if r.Err() != nil {
		return nil
	}
	names := map[string]bool{}
	for name := range schemes.All() {
		names[name] = true
	}
	var b []byte
	for name, scheme := range schemes.All() {
		split := splitFlows(scheme)
		b = append(wire.AppendKey(b, name), split[0].scheme...)
		for _, more := range split[1:] {
			if own := name + "-" + more.flow; !names[own] {
				b = append(wire.AppendKey(b, own), more.scheme...)
			}
		}
	}
	return wire.EndObject(b, 0)
}

// oneFlow is a scheme that has one flow at most.
type oneFlow struct {
	flow   string
	scheme wire.Value
}

func splitFlows(scheme wire.Value) []oneFlow {
	whole := []oneFlow{{scheme: scheme}}
	if scheme.Kind() != wire.KindObject {
		return whole
	}
	all, ok := wire.Object(scheme).Get("flows")
	if !ok || all.Kind() != wire.KindObject {
		return whole
	}
	var split []oneFlow
	for _, flow := range flows {
		v, ok := wire.Object(all).Get(flow)
		if !ok || v.Kind() == wire.KindNull {
			continue
		}
		one, only := wire.Object(scheme), wire.Object{}
		if only.Set(flow, v) != nil || one.Set("flows", only) != nil {
			return whole
		}
		split = append(split, oneFlow{flow, wire.Value(one)})
	}
	if len(split) < 2 {
		return whole
	}
	return split
}

// Authentication is that of a card of 0.1, {"schemes": ["Bearer"]}: it is read as security schemes of HTTP in the shape
// of 0.3, without credentials, and written as the names of the HTTP schemes, and the types of the others.
var Authentication = wire.Rewrite{Read: readAuthentication, Write: writeAuthentication}

func readAuthentication(r *wire.Reader) wire.Object {
	var list []string
	var seen wire.Seen
	for key, ok := r.Object(); ok; key, ok = r.Next() {
		if string(key) != "schemes" {
			r.Unknown(key)
		} else if r.Field(&seen, 0) {
			list = r.Strings()
		}
	}
	var b []byte
	names := map[string]bool{}
	for _, scheme := range list {
		if !names[scheme] {
			names[scheme] = true
			b = append(wire.AppendString(append(wire.AppendKey(b, scheme), `{"scheme":`...), scheme), `,"type":"http"}`...)
		}
	}
	return wire.EndObject(b, 0)
}

// writeAuthentication writes an empty object if there are no schemes.
func writeAuthentication(b []byte, schemes wire.Object) []byte {
	list := authentication(schemes)
	if len(list) == 0 {
		return append(b, "{}"...)
	}
	return append(wire.AppendPlainList(append(b, `{"schemes":`...), list, wire.AppendString), '}')
}

// authentication lists the names of the HTTP schemes, and the types of the others.
func authentication(schemes wire.Object) (list []string) {
	listed := map[string]bool{}
	for _, scheme := range schemes.All() {
		var s struct{ Type, Scheme string }
		if scheme.Decode(&s) != nil {
			continue
		}
		if s.Type == "http" {
			s.Type = s.Scheme
		}
		if s.Type != "" && !listed[s.Type] {
			listed[s.Type] = true
			list = append(list, s.Type)
		}
	}
	return list
}
