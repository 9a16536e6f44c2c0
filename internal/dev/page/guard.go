package page

import (
	"crypto/subtle"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"github.com/a2agen/a2agen/internal/dev/traffic"
)

// TokenHeader is the header by which programs show the token.
const TokenHeader = "A2agen-Dev-Token"

// policy is what a browser may do with the page: run and show what comes from this address, and nothing else.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; font-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

// guard refuses requests of strangers.
func (p *Page) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		switch {
		case !isLoopbackName(r.Host):
			refuse(w, http.StatusForbidden, "this page answers under loopback names alone, such as 127.0.0.1 and localhost")
		case isForeign(r):
			refuse(w, http.StatusForbidden, "requests from pages of other origins are refused")
		case r.URL.Path == "/" && r.Method == http.MethodGet && r.URL.Query().Get("token") != "":
			p.enter(w, r)
		case !p.known(r):
			refuse(w, http.StatusUnauthorized, "open the address that a2agen dev printed when it was started last: its token is another one after each start")
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// enter makes the token of an address a cookie, so that it is neither in the history nor in a Referer.
func (p *Page) enter(w http.ResponseWriter, r *http.Request) {
	if !p.is(r.URL.Query().Get("token")) {
		refuse(w, http.StatusUnauthorized, "this token is that of an earlier start: open the address that a2agen dev printed last")
		return
	}
	http.SetCookie(w, &http.Cookie{Name: cookieName(r), Value: p.Token, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode})
	http.Redirect(w, r, "/", http.StatusSeeOther)
}

// cookieName has the port: cookies do not, and each port is another page.
func cookieName(r *http.Request) string {
	_, port, _ := net.SplitHostPort(r.Host)
	return "a2agen_dev_" + port
}

func (p *Page) is(token string) bool {
	return subtle.ConstantTimeCompare([]byte(token), []byte(p.Token)) == 1
}

// known reports whether a request has the token.
func (p *Page) known(r *http.Request) bool {
	if t := r.Header.Get(TokenHeader); t != "" {
		return p.is(t)
	}
	c, err := r.Cookie(cookieName(r))
	return err == nil && p.is(c.Value)
}

// isLoopbackName reports whether a Host is a name of the machine itself. Another one is that of a web page whose name
// was pointed here (DNS rebinding).
func isLoopbackName(host string) bool {
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	name = strings.Trim(name, "[]")
	if strings.EqualFold(name, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(name)
	return err == nil && ip.IsLoopback()
}

// isForeign reports whether a browser sends a request for a page of another origin. Whoever opens an address, or
// follows a link to it, sends no Origin, and may see the first page alone.
func isForeign(r *http.Request) bool {
	if origin := r.Header.Get("Origin"); origin != "" {
		u, err := url.Parse(origin)
		if err != nil || u.Scheme != "http" || !strings.EqualFold(u.Host, r.Host) {
			return true
		}
	}
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "same-origin":
		return false
	case "none":
		return r.Method != http.MethodGet
	}
	return r.URL.Path != "/" || r.Method != http.MethodGet || r.Header.Get("Sec-Fetch-Mode") != "navigate"
}

// browserHeaders are those that browsers add, and the page's own: no agent gets them.
var browserHeaders = []string{"Cookie", "Origin", "Referer", TokenHeader, "Sec-Fetch-Site", "Sec-Fetch-Mode", "Sec-Fetch-Dest", "Sec-Fetch-User"}

// pass passes a request on to an agent.
func (p *Page) pass(w http.ResponseWriter, r *http.Request) {
	h := p.Handler(int(number(r, "agent")))
	if h == nil {
		refuse(w, http.StatusNotFound, "there is no such agent")
		return
	}
	if r.Header.Get("Sec-Fetch-Mode") == "navigate" {
		refuse(w, http.StatusForbidden, "the answers of agents are not shown as pages")
		return
	}
	out := r.Clone(r.Context())
	for _, name := range browserHeaders {
		out.Header.Del(name)
	}
	out.Header.Set(traffic.CallerHeader, "page")
	prefix := "/agent/" + r.PathValue("agent")
	out.URL.Path = strings.TrimPrefix(out.URL.Path, prefix)
	out.URL.RawPath = strings.TrimPrefix(out.URL.RawPath, prefix)
	out.RequestURI = out.URL.RequestURI()
	h.ServeHTTP(&agentWriter{ResponseWriter: w}, out)
}

// agentWriter writes the answer of an agent so that it does nothing in the origin of the page.
type agentWriter struct {
	http.ResponseWriter
	begun bool
}

// WriteHeader writes the head.
func (w *agentWriter) WriteHeader(status int) {
	if h := w.Header(); !w.begun {
		for _, name := range []string{"Set-Cookie", "Clear-Site-Data", "Refresh", "Link", "Service-Worker-Allowed"} {
			h.Del(name)
		}
		h.Set("Content-Security-Policy", "default-src 'none'; sandbox; frame-ancestors 'none'")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Content-Disposition", "attachment")
		h.Set("Cache-Control", "no-store")
	}
	w.begun = w.begun || status >= http.StatusOK
	w.ResponseWriter.WriteHeader(status)
}

// Write writes on.
func (w *agentWriter) Write(b []byte) (int, error) {
	if !w.begun {
		w.WriteHeader(http.StatusOK)
	}
	return w.ResponseWriter.Write(b)
}

// Unwrap is for [http.ResponseController].
func (w *agentWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
