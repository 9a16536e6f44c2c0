package conform

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// The paths of cards (A2A 1.0 §14.3, 0.2 §5.3).
const (
	cardPath    = "/.well-known/agent-card.json"
	oldCardPath = "/.well-known/agent.json"
)

// baseURL reads the URL of an agent, or of its card. local reports whether it is on a loopback address.
func baseURL(given string) (base string, local bool, err error) {
	u, err := url.Parse(given)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return "", false, fmt.Errorf("%q is no URL of an agent: write http://HOST[:PORT] or https://HOST", redacted(given))
	}
	if u.User != nil {
		return "", false, errors.New("the URL has a user in it: give credentials as a header")
	}
	u.RawQuery, u.Fragment = "", ""
	base = strings.TrimRight(u.String(), "/")
	for _, path := range []string{cardPath, oldCardPath} {
		base = strings.TrimSuffix(base, path)
	}
	ip := net.ParseIP(u.Hostname())
	return base, ip.IsLoopback() || u.Hostname() == "localhost", nil
}

func redacted(given string) string {
	if u, err := url.Parse(given); err == nil {
		return u.Redacted()
	}
	if _, _, err := net.SplitHostPort(given); err == nil && !strings.ContainsAny(given, "@/?#") {
		return given // host:port, as url.Parse reads no IP address without a scheme
	}
	return "…"
}

// get fetches something that is no operation.
func (r *runner) get(target string, header http.Header) *exchange {
	x := &exchange{}
	r.roundTrip(x, http.MethodGet, target, header, nil, options{})
	return x
}

// readCard fetches the card, and lists the interfaces that it has. The error says why there is nothing to try.
func (r *runner) readCard() error {
	h := http.Header{"Accept": {"application/json"}}
	r.card = r.get(r.base+cardPath, h)
	if r.card.err == nil && r.card.status == http.StatusNotFound {
		if old := r.get(r.base+oldCardPath, h); old.err == nil && old.status == http.StatusOK {
			r.card = old
		}
	}
	if err := r.noCard(r.card); err != nil {
		return err
	}
	r.value, _ = r.card.result.(object)
	r.report.Agent = clean(text(r.value, "name"), 100)
	r.contract = r.config.Contract.withCard(r.value)
	// The interfaces of 1.0, and those of older versions that the same card has.
	for _, i := range objects(r.value["supportedInterfaces"]) {
		r.listOne(Interface{URL: text(i, "url"), Binding: text(i, "protocolBinding"), Version: minor(text(i, "protocolVersion")), Tenant: text(i, "tenant")})
	}
	if main := text(r.value, "url"); main != "" {
		version := oldVersion(r.value)
		r.listOne(Interface{URL: main, Binding: cmp.Or(text(r.value, "preferredTransport"), bindingJSONRPC), Version: version})
		for _, i := range objects(r.value["additionalInterfaces"]) {
			r.listOne(Interface{URL: text(i, "url"), Binding: text(i, "transport"), Version: version})
		}
	}
	if len(r.report.Interfaces) == 0 {
		return fmt.Errorf("the card of %s lists no interface: it has neither supportedInterfaces nor url", r.base)
	}
	return nil
}

// noCard says why an answer is no card; nil if it is one.
func (r *runner) noCard(x *exchange) error {
	at := r.base + cardPath
	switch {
	case x.err != nil && x.status == 0:
		return fmt.Errorf("no agent answers at %s: %w", r.base, x.err)
	case x.err != nil:
		return fmt.Errorf("read the card at %s: %w", at, x.err)
	case x.isStream():
		return fmt.Errorf("%s answers with a stream of events, and with no agent card", at)
	case x.status >= 300 && x.status < 400:
		return fmt.Errorf("%s is redirected to %s: give the URL of the agent itself", at, clean(redacted(x.header.Get("Location")), 200))
	case x.status == http.StatusUnauthorized || x.status == http.StatusForbidden:
		return fmt.Errorf("%s answers %d: the card is for callers with credentials: give them as a header", at, x.status)
	case x.status != http.StatusOK:
		return fmt.Errorf("%s answers %d: there is no agent card", at, x.status)
	case mediaType(x.header) == "text/html":
		return fmt.Errorf("%s is a web page and no agent card", at)
	}
	v, err := decode(x.body)
	if err != nil {
		return fmt.Errorf("%s is no agent card: %w", at, err)
	}
	card, ok := v.(object)
	if !ok || text(card, "name") == "" && card["skills"] == nil {
		return fmt.Errorf("%s is JSON, but no agent card: it has neither a name nor skills", at)
	}
	x.result = card
	return nil
}

// minor takes the patch number off a version.
func minor(version string) string {
	if parts := strings.SplitN(version, ".", 3); len(parts) > 1 {
		return parts[0] + "." + parts[1]
	}
	return version
}

// oldVersion tells by its members of which version before 1.0 a card is.
func oldVersion(card object) string {
	switch v := minor(text(card, "protocolVersion")); {
	case v == "1.0": // a card of 1.0 with a url for older readers
		return "0.3"
	case v != "":
		return v
	case card["authentication"] != nil:
		return "0.1"
	case slices.Contains(texts(card["defaultInputModes"]), "text") && card["securitySchemes"] == nil:
		return "0.1"
	}
	return "0.3"
}

// wires are how the bindings are spoken.
var wires = map[string]wire{bindingJSONRPC: callRPC, bindingHTTP: callREST, bindingGRPC: callGRPC}

// protoBindings are those whose messages are of the proto in every version.
var protoBindings = []string{bindingHTTP, bindingGRPC}

func (r *runner) listOne(i Interface) {
	if slices.Contains(r.report.Interfaces, i) || len(r.report.Interfaces) == maxInterfaces {
		return
	}
	p := &probe{runner: r, Interface: i, wire: wires[i.Binding]}
	def := definitionOf(i.Version, i.Version == "1.0" || slices.Contains(protoBindings, i.Binding))
	u, err := url.Parse(i.URL)
	switch {
	case p.wire == nil:
		p.NotTried = fmt.Sprintf("the binding %s is none that is spoken here", clean(i.Binding, 60))
	case def == nil:
		p.NotTried = fmt.Sprintf("there is no definition of A2A %s over %s here", clean(i.Version, 20), i.Binding)
	case i.Binding != bindingGRPC && (err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https"):
		p.NotTried = fmt.Sprintf("%q is no absolute URL", clean(i.URL, 200))
	default:
		p.NotTried = r.foreign(i)
	}
	r.report.Interfaces = append(r.report.Interfaces, i)
	r.report.Interfaces[len(r.report.Interfaces)-1].NotTried = p.NotTried
	if p.NotTried == "" {
		p.dialect = &dialect{def: def, tenant: i.Tenant}
		r.probes = append(r.probes, p)
	}
}

// foreign says why an interface is not called: it is on a host that nobody named, or would send credentials in clear text; "" if it is
// called.
func (r *runner) foreign(i Interface) string {
	at := i.URL
	base, _ := url.Parse(r.base)
	if i.Binding == bindingGRPC {
		var err error
		if at, err = grpcBase(i.URL, base.Scheme == "https"); err != nil {
			return err.Error()
		}
	}
	u, err := url.Parse(at)
	switch {
	case err != nil:
		return fmt.Sprintf("%q is no address", clean(i.URL, 200))
	case hostName(u) != hostName(base) && !slices.Contains(r.config.Hosts, u.Hostname()):
		return fmt.Sprintf("it is on %s, which is another host than that of the card: name it with --host", clean(u.Hostname(), 200))
	case u.Scheme == "http" && base.Scheme == "https" && len(r.config.Header) > 0:
		return "it has no TLS, and the credentials are given for an agent that has"
	}
	return ""
}

// hostName returns the host of a URL, one name for this machine.
func hostName(u *url.URL) string {
	if name := strings.ToLower(u.Hostname()); name != "localhost" && !net.ParseIP(name).IsLoopback() {
		return name
	}
	return "localhost"
}

// maxInterfaces is how many of a card are looked at.
const maxInterfaces = 32

// speaks reports whether the card lists an interface of a version.
func (r *runner) speaks(version string) bool {
	return slices.ContainsFunc(r.report.Interfaces, func(i Interface) bool { return i.Version == version })
}

// capability returns what the card says of one: "streaming".
func (r *runner) capability(name string) bool { return member(r.value, "capabilities", name) == true }
