package server

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/internal/engine"
)

// paths say where the bindings over HTTP are served.
type paths struct {
	rpc      map[string]bool            // where JSON-RPC is
	rest     []string                   // below which HTTP+JSON is, encoded, the longest first
	other    map[string]bool            // where the endpoint of another protocol is
	extended map[string]*engine.Version // where a version has the extended card that has no operation for it
}

// served says which bindings there are beside JSON-RPC.
type served struct {
	http   bool // HTTP+JSON
	beside bool // another transport
}

// read takes from the interfaces of the card where they are served and under which hosts. base is the path of the
// public URL: a proxy may pass it on or strip it.
func (p *paths) read(e *engine.Engine, base string, by served) (hosts []string, err error) {
	p.rpc, p.extended = map[string]bool{}, map[string]*engine.Version{}
	for _, i := range e.Info().Interfaces {
		host, err := p.readInterface(e, i, by)
		if err != nil {
			return nil, err
		}
		hosts = append(hosts, host)
	}
	if len(p.rpc)+len(p.rest) == 0 && !by.beside {
		p.addRPC(e, "/")
	}
	if base != "" {
		for _, at := range slices.Collect(maps.Keys(p.rpc)) {
			p.addRPC(e, base+at)
		}
		for _, at := range slices.Clone(p.rest) {
			p.addREST((&url.URL{Path: base}).EscapedPath() + at)
		}
	}
	return hosts, nil
}

// readInterface takes from an interface of the card where it is served, and under which host. One that is not served is
// an error, unless it may be somebody else's, since its URL has a host.
func (p *paths) readInterface(e *engine.Engine, i runtime.Interface, by served) (host string, err error) {
	b := runtime.BindingNamed(i.Binding)
	switch {
	case b == nil:
		return "", nil
	case b.HostPort && !strings.HasPrefix(i.URL, "/"):
		return i.URL, nil // host:port, which is no URL
	}
	u, err := url.Parse(i.URL)
	if err != nil {
		return "", fmt.Errorf("interface url: %w", err)
	}
	v := e.Spoken(i.Version)
	switch {
	case u.Host == "" && i.Version != "" && v == nil:
		return "", fmt.Errorf("the card offers version %s of the protocol at %q, which the protocol package "+
			"does not speak: list it under \"protocol\" where that package is generated", i.Version, i.URL)
	case u.Host == "" && v != nil && v.Over(i.Binding) == nil:
		return "", fmt.Errorf("the card offers version %s over %s at %q, for which the protocol package "+
			"has no codec: list it under \"bindings\" where that package is generated", i.Version, i.Binding, i.URL)
	case u.Host == "" && b.Server != "" && !by.beside:
		return "", fmt.Errorf("the card offers %s at %q: give the server %s.Serve()", i.Binding, i.URL, path.Base(b.Server))
	case u.Host == "" && b.Name == runtime.BindingHTTP && !by.http:
		return "", fmt.Errorf("the card offers %s at %q: make the server by server.New, not NewWithoutREST", i.Binding, i.URL)
	}
	switch {
	case b.Name == runtime.BindingHTTP && by.http:
		p.addREST(u.EscapedPath())
	case b.Name == runtime.BindingJSONRPC:
		p.addRPC(e, u.Path)
	}
	return u.Host, nil
}

// addRPC serves JSON-RPC at the path and at the path + "/", and beside it the extended card of versions that have it at
// a path (0.2.6 §7.10). Elsewhere that is an operation as others are.
func (p *paths) addRPC(e *engine.Engine, at string) {
	for _, v := range e.Versions() {
		if card := v.Rules.ExtendedPath; card != "" {
			p.extended[card] = v
			p.extended[path.Join("/", at, "..", card)] = v
		}
	}
	at = strings.TrimRight(at, "/")
	p.rpc[at] = true
	p.rpc[at+"/"] = true
}

// addREST serves HTTP+JSON below a path, which is encoded.
func (p *paths) addREST(at string) {
	if at = strings.TrimRight(at, "/"); slices.Contains(p.rest, at) {
		return
	}
	p.rest = append(p.rest, at)
	slices.SortFunc(p.rest, func(a, b string) int { return len(b) - len(a) })
}

// below finds what follows the path of an interface of HTTP+JSON in that of a request, encoded.
func (p *paths) below(r *http.Request) (rest string, ok bool) {
	if len(p.rest) == 0 {
		return "", false
	}
	whole := r.URL.EscapedPath()
	for _, base := range p.rest {
		if rest, ok = strings.CutPrefix(whole, base); ok && strings.HasPrefix(rest, "/") {
			return rest, true
		}
	}
	return "", false
}
