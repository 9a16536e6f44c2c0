package binding

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"html"
	"log/slog"
	"net/http"
	"strings"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/auth"
	"github.com/a2agen/a2agen/runtime/internal/engine"
	"github.com/a2agen/a2agen/runtime/internal/guard"
)

// pageStyle is all the page has beside text.
const pageStyle = "body{font-family:sans-serif;max-width:50em;margin:3em auto;padding:0 1em}pre{background:#eee;padding:1em;white-space:pre-wrap;word-break:break-all}"

// pagePolicy lets a browser use nothing but that style.
var pagePolicy = func() string {
	sum := sha256.Sum256([]byte(pageStyle))
	return "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
}()

// Page shows an agent.
type Page struct {
	engine *engine.Engine
	cards  *Cards
	needs  PageCredentials
	rpc    bool // JSON-RPC is served
	logger *slog.Logger
}

// New makes the page of an agent whose callers need credentials. rpc says that it answers JSON-RPC.
func NewPage(e *engine.Engine, cards *Cards, needs PageCredentials, rpc bool, logger *slog.Logger) *Page {
	return &Page{e, cards, needs, rpc, logger}
}

// Wanted reports whether a browser asks.
func WantsPage(r *http.Request) bool {
	return (r.Method == http.MethodGet || r.Method == http.MethodHead) && strings.Contains(r.Header.Get("Accept"), "text/html")
}

// described is what the page takes from the card, which has it in all versions.
type described struct {
	Name, Description, Version string
	Skills                     []struct {
		ID, Name, Description string
		Examples              []string
	}
}

// ServeHTTP shows in words what the agent is and how to talk to it.
func (p *Page) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := p.cards.Newest(r)
	var card described
	if err == nil {
		err = json.Unmarshal(body, &card)
	}
	if err != nil {
		p.logger.Error("card could not be read", "error", err)
		http.Error(w, "the card is not available", http.StatusInternalServerError)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", pagePolicy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-cache")
	h.Add("Vary", "Accept")
	if r.Method == http.MethodGet {
		_, _ = w.Write([]byte(p.write(&card, r)))
	}
}

// write writes the page. Whatever it shows is escaped.
func (p *Page) write(page *described, r *http.Request) string {
	var b strings.Builder
	write := func(markup ...string) {
		for i, part := range markup { // markup and text take turns
			if i%2 == 1 {
				part = html.EscapeString(part)
			}
			b.WriteString(part)
		}
	}
	example, skill := "hello", ""
	write(`<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>`, page.Name, `</title><style>`+pageStyle+`</style></head><body>`)
	write(`<h1>`, page.Name, `</h1><p>`, page.Description, `</p><p>An agent of the A2A protocol, versions `, p.engine.SpokenNames(), `.`)
	write(` Its <a href="`, p.cards.BaseOf(r)+CardPath, `">card</a> says all about it.</p>`)
	if len(page.Skills) > 0 {
		write(`<h2>Skills</h2><ul>`)
		for _, sk := range page.Skills {
			write(`<li><b>`, sk.Name, `</b> `, sk.Description, `</li>`)
			if len(sk.Examples) > 0 && skill == "" {
				example, skill = sk.Examples[0], sk.ID
			}
		}
		write(`</ul>`)
	}
	write(`<h2>Talk to it</h2>`)
	if len(p.needs.Demands.Needed(skill)) > 0 {
		write(`<p>To call it, `, placeholders, `.</p>`)
	}
	write(`<pre>`, p.curl(r, example, skill), `</pre></body></html>`, "")
	return b.String()
}

// Directions says in a sentence or two how to talk to the agent, for somebody who asked for something else.
func (p *Page) Directions(r *http.Request) string {
	hint := ""
	if len(p.needs.Demands.Needed("")) > 0 {
		hint = " (" + placeholders + ")"
	}
	return "This is an agent of the A2A protocol: its card is at " + p.cards.BaseOf(r) + CardPath + ", and it is talked to like this" + hint + ":\n\n" + p.curl(r, "hello", "")
}

// curl is a command that sends a text in the newest version, to a skill if it is not "".
func (p *Page) curl(r *http.Request, text, skill string) string {
	shown := showing{p.needs.Demands.Needed(skill), p.needs.Curl}
	v, at := p.engine.Versions()[0], p.cards.BaseOf(r)
	quoted, _ := json.Marshal(text)
	interfaces := p.cards.For(r, p.engine.Card(), v).CardInfo().Interfaces
	urlOf := func(binding string) string {
		for _, i := range interfaces {
			if i.Binding == binding {
				return i.URL
			}
		}
		return ""
	}
	var path, method string // of the operation that sends a message
	for _, op := range v.Operations {
		if op.Role == runtime.RoleSend {
			method = cmp.Or(method, op.RPC)
		}
		if op.Role == runtime.RoleSend && len(op.HTTP) > 0 {
			path = cmp.Or(path, op.HTTP[0].Path)
		}
	}
	if below := urlOf(runtime.BindingHTTP); below != "" && !p.rpc {
		return shown.curl(strings.TrimSuffix(below, "/")+path, v, sampleOf(v, string(quoted)))
	}
	at = cmp.Or(urlOf(runtime.BindingJSONRPC), at)
	call := `{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":` + sampleOf(v, string(quoted)) + `}`
	return shown.curl(at, v, call)
}

// sampleOf returns send parameters for a text, which is JSON, as the version has them.
func sampleOf(v *engine.Version, text string) string {
	switch {
	case v.Rules.ClientIDs:
		return `{"id":"1","message":{"role":"user","parts":[{"type":"text","text":` + text + `}]}}`
	case v.Unnamed:
		return `{"message":{"kind":"message","messageId":"1","role":"user","parts":[{"kind":"text","text":` + text + `}]}}`
	}
	return `{"message":{"messageId":"1","role":"ROLE_USER","parts":[{"text":` + text + `}]}}`
}

// shellQuote quotes an argument for a shell.
func shellQuote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// Curl shows a scheme's credential: [guard.Curl].
type Curl = func(s *auth.Scheme, quote func(string) string) string

// Credentials are what callers need. Without demands Curl may be nil.
type PageCredentials struct {
	Demands *auth.Demands
	Curl    Curl
}

// showing are the schemes whose credentials a command shows, as placeholders.
type showing struct {
	schemes []auth.Scheme
	show    Curl
}

// placeholders explains commands that show credentials.
const placeholders = "put your own credential in place of YOUR_…"

// curl is a command that posts a body, with the credentials.
func (all showing) curl(at string, v *engine.Version, body string) string {
	b := strings.Builder{}
	b.WriteString("curl " + shellQuote(all.url(at)) + " -H 'Content-Type: application/json' -H 'A2A-Version: " + v.Name + "'")
	for i := range all.schemes {
		b.WriteString(all.show(&all.schemes[i], shellQuote))
	}
	return b.String() + " -d " + shellQuote(body)
}

// url is an address with the keys that stand in its query.
func (all showing) url(at string) string {
	separator := "?"
	for i := range all.schemes {
		if key := guard.Query(&all.schemes[i]); key != "" {
			at += separator + key
			separator = "&"
		}
	}
	return at
}
