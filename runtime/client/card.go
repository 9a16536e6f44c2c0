package client

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/a2agen/a2agen/runtime"
)

// wellKnown are the places of a card below an agent's base URL; the second one is that of protocols before 0.3 (A2A 1.0 §8.2).
var wellKnown = []string{"/.well-known/agent-card.json", "/.well-known/agent.json"}

// FetchCard fetches and decodes an agent's card. url is the agent's base URL, below which the card is at
// /.well-known/agent-card.json, or the URL of the card itself when its path ends in ".json". Faults of the card that calls can do without
// are overlooked (see [Client.Warnings]). With [VerifyCard] it is the card that a signature covers.
func FetchCard(ctx context.Context, p *runtime.Protocol, url string, opts ...Option) (runtime.Card, error) {
	c := configure(p, opts)
	defer c.Close()
	return c.agent.fetch(ctx, &c.network, url, c.cards)
}

// ParseCard decodes a card that is at hand, with the same indulgence.
func ParseCard(p *runtime.Protocol, src []byte) (runtime.Card, error) {
	a := agentCard{protocol: p}
	card, err := a.decode(src)
	if err != nil {
		return nil, a.notACard(src, err)
	}
	return card, nil
}

// agentCard is the agent's card as the client has it. It fetches, verifies and reads the card.
type agentCard struct {
	protocol *runtime.Protocol // that it is read by
	card     runtime.Card
	info     runtime.CardInfo
	keys     bool // the card promises that a message with an idempotency key is worked on once
	warnings []string
	verifier CardVerifier          // nil: cards are not verified
	verified *runtime.VerifiedCard // what it said of the card
}

// use makes a card the one that the client has.
func (a *agentCard) use(card runtime.Card) {
	a.card, a.info = card, card.CardInfo()
	a.keys = knowsKeys(a.info.Extensions)
}

// fetch gets the card of base. known is what was fetched before, and takes note of what is fetched now.
func (a *agentCard) fetch(ctx context.Context, n *network, base string, known *cards) (runtime.Card, error) {
	if _, err := webURL(base); err != nil {
		return nil, err
	}
	var first error
	for _, u := range cardURLs(base) {
		card, status, err := a.fetchAt(ctx, n, u, known)
		if err == nil {
			return card, nil
		}
		if first == nil {
			first = fmt.Errorf("fetch agent card %s: %w", u, err)
		}
		if status != http.StatusNotFound {
			break
		}
	}
	return nil, first
}

// cardURLs lists where the card of base may be, a valid absolute URL.
func cardURLs(base string) []string {
	u, err := url.Parse(base)
	if err != nil || strings.HasSuffix(u.Path, ".json") {
		return []string{base}
	}
	var urls []string
	for _, p := range wellKnown {
		at := *u
		at.Path, at.RawPath = strings.TrimRight(u.Path, "/")+p, ""
		urls = append(urls, at.String())
	}
	return urls
}

// fetchAt returns the HTTP status with an error, 0 when there was none.
func (a *agentCard) fetchAt(ctx context.Context, n *network, url string, known *cards) (runtime.Card, int, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, 0, err
	}
	req.Header = n.header.Clone()
	req.Header.Set("Accept", "application/json")
	req.Header.Set("A2A-Version", a.protocol.Versions[0].Name)
	if known.etag != "" && known.from == url {
		req.Header.Set("If-None-Match", known.etag)
	}
	w := web{http: n.guarded(true), idle: n.idle}
	r, err := w.do(req, true)
	if err != nil {
		return nil, 0, err
	}
	defer r.close()
	if status := r.resp.StatusCode; status/100 != 2 {
		return nil, status, httpError(r.resp, r.start(64<<10), runtime.ReadStatus)
	}
	body, err := r.read(maxCard)
	if err != nil {
		return nil, 0, err
	}
	covered, verified, err := a.covered(ctx, url, body)
	if err != nil {
		return nil, 0, err
	}
	card, err := a.decode(covered)
	if err != nil {
		return nil, 0, a.notACard(covered, err)
	}
	a.verifiedBy(verified)
	known.from, known.etag = url, validator(r.resp.Header)
	return card, 0, nil
}

// notACard tells a card of an old protocol, which has url instead of supportedInterfaces (A2A 0.3 §5.5), from no card.
func (a *agentCard) notACard(body []byte, err error) error {
	var old struct {
		URL             string            `json:"url"`
		ProtocolVersion string            `json:"protocolVersion"`
		Interfaces      []json.RawMessage `json:"supportedInterfaces"`
	}
	if json.Unmarshal(body, &old) != nil || old.URL == "" || len(old.Interfaces) > 0 {
		return fmt.Errorf("not a valid card: %w", err)
	}
	version := cmp.Or(printable([]byte(old.ProtocolVersion)), "unnamed")
	return fmt.Errorf("the card was made for an older protocol version (%s) than %s", version, spoken(a.protocol))
}
