package faultproxy

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/testkit/fault"
)

// wellKnown are the places of a card below an agent's URL; the second one is that of protocols before 0.3.
var wellKnown = []string{"/.well-known/agent-card.json", "/.well-known/agent.json"}

// start fetches the card, so that it is known what there is.
func (p *Proxy) start(ctx context.Context) error {
	places := []string{p.base.String()}
	if !strings.HasSuffix(p.base.Path, ".json") {
		places = nil
		for _, at := range wellKnown {
			places = append(places, p.base.JoinPath(at).String())
		}
	}
	for _, at := range places {
		card, status, err := p.fetch(ctx, at)
		switch {
		case status == http.StatusNotFound:
			continue
		case errors.Is(err, context.DeadlineExceeded):
			return fmt.Errorf("the agent at %s did not answer within %v", at, startTime)
		case err != nil:
			return fmt.Errorf("fetch the card of the agent: %w", err)
		}
		if len(addressesIn(card)) == 0 {
			return fmt.Errorf("%s is no agent card: it has no address, neither \"url\" nor \"supportedInterfaces\"", at)
		}
		p.name, _ = card["name"].(string)
		p.rewrite(card, "127.0.0.1")
		return nil
	}
	return fmt.Errorf("there is no agent at %s: no card at %s", p.base, strings.Join(places, " or "))
}

// fetch gets a card. The status is 0 if there was no answer.
func (p *Proxy) fetch(ctx context.Context, at string) (card map[string]any, status int, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
	if err != nil {
		return nil, 0, err
	}
	r.Header.Set("Accept", "application/json")
	resp, err := (&http.Client{Transport: p.plain}).Do(r)
	if err != nil {
		return nil, 0, err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return nil, resp.StatusCode, fmt.Errorf("%s answers %s", at, resp.Status)
	}
	body, whole, err := readSome(resp.Body)
	switch {
	case err != nil:
		return nil, resp.StatusCode, err
	case !whole:
		return nil, resp.StatusCode, fmt.Errorf("the card at %s is over %d bytes", at, maxCard)
	}
	if kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); kind == "text/html" {
		return nil, resp.StatusCode, fmt.Errorf("%s is a web page and no agent card", at)
	}
	if card, err = object(body); err != nil {
		return nil, resp.StatusCode, fmt.Errorf("%s is no agent card: %w", at, err)
	}
	return card, resp.StatusCode, nil
}

// readSome reads as much as a card may have, and whether that is all.
func readSome(src io.Reader) (body []byte, whole bool, err error) {
	body, err = io.ReadAll(io.LimitReader(src, maxCard+1))
	return body, len(body) <= maxCard, err
}

// object reads a JSON object, whose numbers keep their digits.
func object(body []byte) (o map[string]any, err error) {
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber()
	err = dec.Decode(&o)
	var other *json.UnmarshalTypeError
	switch {
	case errors.Is(err, io.EOF):
		return nil, errors.New("it is empty")
	case errors.Is(err, io.ErrUnexpectedEOF):
		return nil, errors.New("it ends too early")
	case errors.As(err, &other):
		return nil, fmt.Errorf("it is no object, but JSON of the kind %s", other.Value)
	case err == nil && o == nil:
		return nil, errors.New("it is null")
	}
	return o, err
}

// address is where a card has the address of an interface.
type address struct {
	in      map[string]any // under "url"
	binding string
}

// shapes are the members of a card that list interfaces, and those that name an interface's binding: 1.0 and, behind
// it, 0.3.
var shapes = []struct{ list, binding string }{
	{"supportedInterfaces", "protocolBinding"}, {"supported_interfaces", "protocol_binding"},
	{"additionalInterfaces", "transport"}, {"additional_interfaces", "transport"},
}

// addressesIn finds the addresses in a card of any version: before 1.0 it has one of its own.
func addressesIn(card map[string]any) (list []address) {
	add := func(in map[string]any, binding string) {
		name, _ := in[binding].(string)
		if _, ok := in["url"].(string); ok {
			list = append(list, address{in, name})
		}
	}
	add(card, "preferredTransport")
	for _, shape := range shapes {
		interfaces, _ := card[shape.list].([]any)
		for _, i := range interfaces {
			if in, ok := i.(map[string]any); ok {
				add(in, shape.binding)
			}
		}
	}
	return list
}

// rewrite gives a card the addresses of the proxy, which its caller knows by host, and takes the signatures away,
// which do not cover that.
func (p *Proxy) rewrite(card map[string]any, host string) {
	for _, a := range addressesIn(card) {
		a.in["url"] = p.address(a.in["url"].(string), a.binding, host)
	}
	if list, ok := card["signatures"].([]any); ok && len(list) > 0 {
		p.tell("the card is signed, which does not cover the addresses of this proxy: it is served without its signatures, " +
			"and clients that demand one refuse it")
	}
	delete(card, "signatures")
}

// address returns the proxy's address for one of the card.
func (p *Proxy) address(old, binding, host string) string {
	if binding == runtime.BindingGRPC {
		return p.grpcAddress(old, host)
	}
	u, err := p.base.Parse(old)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		p.tell("requests to %q, over %s, do not go through this proxy", old, binding)
		return old
	}
	n := p.origin(u)
	if n < 0 {
		p.tell("requests to %q do not go through this proxy: the card names more than %d hosts", old, maxOrigins)
		return old
	}
	local := &url.URL{Scheme: "http", Host: host, Path: u.Path, RawPath: u.RawPath, RawQuery: u.RawQuery}
	if n > 0 {
		prefix := elsewhere + strconv.Itoa(n)
		local.Path, local.RawPath = prefix+u.Path, prefix+u.EscapedPath()
	}
	return local.String()
}

// origin returns the number of a URL's origin; -1 if there are too many.
func (p *Proxy) origin(u *url.URL) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	for n, o := range p.origins {
		if o.Scheme == u.Scheme && strings.EqualFold(o.Host, u.Host) {
			return n
		}
	}
	if len(p.origins) == maxOrigins {
		return -1
	}
	p.origins = append(p.origins, originOf(u))
	return len(p.origins) - 1
}

// grpcAddress is address for gRPC, which has no paths: all of it goes to the first such interface of the card.
func (p *Proxy) grpcAddress(old, host string) string {
	target := p.grpcURL(old)
	p.mu.Lock()
	if p.grpc == nil {
		p.grpc = target
	}
	same := target != nil && *p.grpc == *target
	p.mu.Unlock()
	if !same {
		p.tell("gRPC requests to %q do not go through this proxy: over gRPC one address can", old)
		return old
	}
	if _, _, err := net.SplitHostPort(host); err != nil {
		host = net.JoinHostPort(host, "80")
	}
	if strings.HasPrefix(old, "http") || strings.HasPrefix(old, "grpc") {
		return "http://" + host
	}
	return host
}

// grpcURL reads an address of gRPC: host:port, dns:///host:port, or a URL. Without a scheme it has TLS at port 443,
// and where the agent's card comes by https. It is nil for any other address.
func (p *Proxy) grpcURL(old string) *url.URL {
	if scheme, rest, ok := strings.Cut(old, "://"); ok && scheme != "dns" {
		secure := map[string]string{"http": "http", "grpc": "http", "https": "https", "grpcs": "https"}[scheme]
		hostport, _, _ := strings.Cut(rest, "/")
		if secure == "" || hostport == "" {
			return nil
		}
		return &url.URL{Scheme: secure, Host: hostport}
	}
	hostport := strings.TrimPrefix(strings.TrimPrefix(old, "dns:///"), "dns:")
	_, port, err := net.SplitHostPort(hostport)
	if err != nil {
		return nil
	}
	u := &url.URL{Scheme: "http", Host: hostport}
	if port == "443" || p.base.Scheme == "https" {
		u.Scheme = "https"
	}
	return u
}

// isCard reports whether a request asks for a card.
func (s *seen) isCard() bool {
	return s.operation == fault.Card || s.operation == runtime.RoleExtendedCard.Info().RPC
}

// localize rewrites the card in an answer that is one.
func (p *Proxy) localize(resp *http.Response) error {
	s := seenOf(resp.Request)
	switch {
	case !s.isCard() || resp.StatusCode != http.StatusOK:
		return nil
	case s.binding == runtime.BindingGRPC:
		p.tell("the extended card passes over gRPC as it is: requests to the addresses in it do not go through this proxy")
		return nil
	}
	src := resp.Body
	body, whole, err := readSome(src)
	if err != nil {
		_ = src.Close()
		return err
	}
	if !whole {
		p.tell("a card over %d bytes passes as it is: requests to the addresses in it do not go through this proxy", maxCard)
		resp.Body = struct {
			io.Reader
			io.Closer
		}{io.MultiReader(bytes.NewReader(body), src), src}
		return nil
	}
	_ = src.Close()
	if local, ok := p.localized(body, s); ok {
		body = local
	}
	resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	resp.Header.Set("Content-Length", strconv.Itoa(len(body)))
	return nil
}

// localized rewrites an answer that is a card, or has one as the result of JSON-RPC.
func (p *Proxy) localized(body []byte, s *seen) ([]byte, bool) {
	answer, err := object(body)
	if err != nil {
		return nil, false
	}
	card := answer
	if s.binding == runtime.BindingJSONRPC {
		if card, _ = answer["result"].(map[string]any); card == nil {
			return nil, false
		}
	}
	p.rewrite(card, s.host)
	local, err := json.Marshal(answer)
	return local, err == nil
}
