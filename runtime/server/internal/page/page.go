package server

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"html"
	"net/http"
	"strings"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/internal/engine"
)

// pageStyle is all the page has beside text.
const pageStyle = "body{font-family:sans-serif;max-width:50em;margin:3em auto;padding:0 1em}pre{background:#eee;padding:1em;white-space:pre-wrap;word-break:break-all}"

// pagePolicy lets a browser use nothing but that style.
var pagePolicy = func() string {
	sum := sha256.Sum256([]byte(pageStyle))
	return "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
}()

// wantsPage reports whether a browser asks.
func wantsPage(r *http.Request) bool {
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

// servePage shows in words what the agent is and how to talk to it.
func (s *Server) servePage(w http.ResponseWriter, r *http.Request) {
	b, err := s.card.under(s, s.card.shapes[0], s.baseOf(r))
	var card described
	if err == nil {
		err = json.Unmarshal(b.body, &card)
	}
	if err != nil {
		s.logger.Error("card could not be read", "error", err)
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
		_, _ = w.Write([]byte(s.page(&card, r)))
	}
}

// page writes the page. Whatever it shows is escaped.
func (s *Server) page(card *described, r *http.Request) string {
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
	write(`<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>`, card.Name, `</title><style>`+pageStyle+`</style></head><body>`)
	write(`<h1>`, card.Name, `</h1><p>`, card.Description, `</p><p>An agent of the A2A protocol, versions `, s.engine.SpokenNames(), `.`)
	write(` Its <a href="`, s.baseOf(r)+CardPath, `">card</a> says all about it.</p>`)
	if len(card.Skills) > 0 {
		write(`<h2>Skills</h2><ul>`)
		for _, sk := range card.Skills {
			write(`<li><b>`, sk.Name, `</b> `, sk.Description, `</li>`)
			if len(sk.Examples) > 0 && skill == "" {
				example, skill = sk.Examples[0], sk.ID
			}
		}
		write(`</ul>`)
	}
	write(`<h2>Talk to it</h2>`)
	if len(s.access.demands.Needed(skill)) > 0 {
		write(`<p>To call it, `, placeholders, `.</p>`)
	}
	write(`<pre>`, s.curl(r, example, skill), `</pre></body></html>`, "")
	return b.String()
}

// directions says in a sentence or two where what is, for somebody who asked for something else.
func (s *Server) directions(r *http.Request) string {
	hint := ""
	if len(s.access.demands.Needed("")) > 0 {
		hint = " (" + placeholders + ")"
	}
	return "This is an agent of the A2A protocol: its card is at " + s.baseOf(r) + CardPath + ", and it is talked to like this" + hint + ":\n\n" + s.curl(r, "hello", "")
}

// curl is a command that sends a text in the newest version, to a skill if it is not "".
func (s *Server) curl(r *http.Request, text, skill string) string {
	shown := showing(s.access.demands.Needed(skill))
	v, at := s.engine.Versions()[0], s.baseOf(r)
	quoted, _ := json.Marshal(text)
	interfaces := s.cardAt(s.card.card, at).CardInfo().Interfaces
	urlOf := func(binding string) string {
		for _, i := range interfaces {
			if i.Binding == binding {
				return i.URL
			}
		}
		return ""
	}
	if below := urlOf(runtime.BindingHTTP); below != "" && len(s.paths) == 0 {
		return shown.curl(strings.TrimSuffix(below, "/")+sendPath(v), v, sampleOf(v, string(quoted)))
	}
	at = cmp.Or(urlOf(runtime.BindingJSONRPC), at)
	call := `{"jsonrpc":"2.0","id":1,"method":"` + sendMethod(v) + `","params":` + sampleOf(v, string(quoted)) + `}`
	return shown.curl(at, v, call)
}

// sendPath is where a message is sent to over HTTP+JSON.
func sendPath(v *engine.Version) string {
	for _, op := range v.Operations {
		if op.Role == runtime.RoleSend && len(op.HTTP) > 0 {
			return op.HTTP[0].Path
		}
	}
	return ""
}

// sendMethod is the name of the method that sends a message.
func sendMethod(v *engine.Version) string {
	for _, op := range v.Operations {
		if op.Role == runtime.RoleSend {
			return op.RPC
		}
	}
	return ""
}

// sampleOf returns send parameters for a text, which is JSON, as the version has them.
func sampleOf(v *engine.Version, text string) string {
	switch {
	case v.Rules.ClientIDs:
		return `{"id":"1","message":{"role":"user","parts":[{"type":"text","text":` + text + `}]}}`
	case v.Unnamed():
		return `{"message":{"kind":"message","messageId":"1","role":"user","parts":[{"kind":"text","text":` + text + `}]}}`
	}
	return `{"message":{"messageId":"1","role":"ROLE_USER","parts":[{"text":` + text + `}]}}`
}

// shellQuote quotes an argument for a shell.
func shellQuote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
