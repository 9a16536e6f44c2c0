package runtime

import (
	"net"
	"net/url"
	"slices"
	"strings"
)

// The bindings of A2A, as cards name them (A2A 1.0 §5.8).
const (
	BindingJSONRPC = "JSONRPC"
	BindingHTTP    = "HTTP+JSON"
	BindingGRPC    = "GRPC"
)

// Binding is a way in which requests and answers travel (A2A 1.0 §5). It is a row of [Bindings], which the generator, the
// server, the client and the tests range over.
type Binding struct {
	Name    string   // on cards (A2A 1.0 §5.8): "JSONRPC"
	Title   string   // for people: "JSON-RPC"
	Aliases []string // what people write for the name, in capitals, without hyphens, slashes and blanks: "REST"

	// Encoding is that of the wire in which a version is spoken ([Wire.Encoding]). A version that has no such wire is
	// spoken in the JSON of its JSON-RPC if JSON is set and, for Routed, its operations have HTTP routes.
	Encoding     string
	JSON, Routed bool
	// Definitions says which definitions of a user's own have the binding: "in .proto files". "" is all.
	Definitions string

	// HostPort: an interface's address is host:port, without a path. Otherwise it is a URL.
	HostPort bool
	// Base: operations are paths below the URL, which does not end with a slash.
	Base bool
	// Keys are those of [KeyPlaces] that the binding has.
	Keys []string

	// Server and Client are the packages of this module that serve the binding (by Serve, a server.Option) and call it
	// (by Binding, a client.Binding that takes an Option named TLS): "runtime/server/grpcserver". "" is package server and
	// client itself, over net/http.
	Server, Client string
	// BuildTag is a tag for building programs that serve the binding, and BuildNote says what it is good for.
	BuildTag, BuildNote string
	// System is the name of the binding in the conventions of OpenTelemetry ("rpc.system.name"); "" for none.
	System string
}

// KeyPlaces are where a request may have an API key, as cards name the places (A2A 1.0 §4.5.2).
var KeyPlaces = []string{"header", "query", "cookie"}

// Bindings are all bindings, the one that every version has first. Only tests change it.
var Bindings = []*Binding{
	{
		Name: BindingJSONRPC, Title: "JSON-RPC", JSON: true,
		Keys: KeyPlaces, System: "jsonrpc",
	},
	{
		Name: BindingHTTP, Title: "HTTP+JSON", Aliases: []string{"REST", "HTTP", "HTTPJSON", "JSON"},
		Encoding: EncodingProtoJSON, JSON: true, Routed: true, Definitions: "with google.api.http options",
		Base: true, Keys: KeyPlaces,
	},
	{
		Name: BindingGRPC, Title: "gRPC", Encoding: EncodingProto, Definitions: "in .proto files",
		HostPort: true, Keys: []string{"header"},
		Server: "runtime/server/grpcserver", Client: "runtime/client/grpcclient",
		BuildTag: "grpcnotrace", BuildNote: "The tag leaves grpc-go's debug pages out, which are a fifth of the binary.",
		System: "grpc",
	},
}

// BindingNamed returns the binding that cards give the name; nil for one that is not in [Bindings].
func BindingNamed(name string) *Binding {
	for _, b := range Bindings {
		if b.Name == name {
			return b
		}
	}
	return nil
}

// Over returns the table with which a binding speaks the version; nil if it cannot, as the package was generated.
func (v *Version) Over(binding string) *Table {
	b := BindingNamed(binding)
	if b == nil {
		return nil
	}
	if t := v.wire(b.Encoding); t != nil {
		return t
	}
	if b.JSON && (!b.Routed || v.routed()) {
		return &v.Table
	}
	return nil
}

func (v *Version) wire(encoding string) *Table {
	for _, w := range v.Wires {
		if w.Encoding == encoding && len(w.Operations) > 0 {
			return &w.Table
		}
	}
	return nil
}

func (t *Table) routed() bool {
	return slices.ContainsFunc(t.Operations, func(op *Operation) bool { return len(op.HTTP) > 0 })
}

// Rebase returns the URL of an interface below base, in the form of its binding: the scheme and host of base, and the path
// of base before its own. A URL that operations are below has no slash at the end: clients append a path, and readers of
// 0.3 need a URL of its own for each binding. A path of a binding that dials host:port becomes that, the form that all
// official clients take (T70). A URL that is neither HTTP nor a path stays as it is; so does every URL if base is not an
// HTTP URL.
func Rebase(base string, i Interface) string {
	to, err := url.Parse(base)
	if err != nil || to.Host == "" || (to.Scheme != "http" && to.Scheme != "https") {
		return i.URL
	}
	binding := BindingNamed(i.Binding)
	if binding == nil {
		binding = &Binding{}
	}
	from, err := url.Parse(i.URL)
	switch {
	case err != nil, from.Opaque != "", from.User != nil:
		return i.URL
	case from.Scheme != "" && from.Scheme != "http" && from.Scheme != "https":
		return i.URL
	case from.Scheme == "" && i.URL != "" && !strings.HasPrefix(i.URL, "/"):
		return i.URL
	case binding.HostPort && from.Scheme == "":
		return hostPort(to)
	}
	rebased := to.Scheme + "://" + to.Host + strings.TrimSuffix(to.EscapedPath(), "/") + from.EscapedPath()
	if binding.Base {
		rebased = strings.TrimRight(rebased, "/")
	}
	if from.RawQuery != "" {
		rebased += "?" + from.RawQuery
	}
	return rebased
}

// hostPort returns the host and port of an HTTP URL.
func hostPort(u *url.URL) string {
	port := u.Port()
	switch {
	case port != "":
	case u.Scheme == "https":
		port = "443"
	default:
		port = "80"
	}
	return net.JoinHostPort(u.Hostname(), port)
}
