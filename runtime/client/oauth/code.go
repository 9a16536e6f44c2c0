package oauth

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"golang.org/x/oauth2"

	"github.com/a2agen/a2agen/runtime/internal/keyset"
)

// loginTime is how long a person may take to log in in the browser.
const loginTime = 10 * time.Minute

// byCode has a person log in in the browser: authorization code with PKCE, answered to a listener on 127.0.0.1 (RFC 8252).
func (s *source) byCode(ctx context.Context, t target) (entry, error) {
	e, err := s.endpoints(ctx)
	if err != nil {
		return entry{}, err
	}
	switch {
	case e.auth == "":
		return entry{}, s.untrusted("its metadata have no authorization_endpoint: it has no logins in the browser")
	case !slices.Contains(e.challenges, "S256"):
		return entry{}, s.untrusted("its metadata do not offer PKCE with S256 (code_challenge_methods_supported), " +
			"without which a code can be stolen: if it has S256 all the same, give AuthURL and TokenURL in place of the issuer")
	}
	ctx, cancel := context.WithTimeout(ctx, loginTime)
	defer cancel()
	l, err := listen(s.Redirect)
	if err != nil {
		return entry{}, &Error{Server: s.server(), Kind: ErrConfig, Err: err}
	}
	defer l.close()
	state, verifier := rand.Text(), oauth2.GenerateVerifier()
	c := oauth2.Config{
		ClientID: s.ClientID, Endpoint: oauth2.Endpoint{AuthURL: e.auth}, RedirectURL: l.redirect, Scopes: strings.Fields(t.scopes),
	}
	opts := []oauth2.AuthCodeOption{oauth2.S256ChallengeOption(verifier)}
	for name, values := range s.params(t, url.Values{}) {
		opts = append(opts, oauth2.SetAuthURLParam(name, values[0]))
	}
	page, err := shown(c.AuthCodeURL(state, opts...))
	if err != nil {
		return entry{}, s.untrusted("%v", err)
	}
	if err := s.Prompt(ctx, Prompt{URL: page, Expires: time.Now().Add(loginTime)}); err != nil {
		return entry{}, &Error{Server: s.server(), Kind: ErrLogin, Err: err}
	}
	var answer url.Values
	select {
	case answer = <-l.answers:
	case <-ctx.Done():
		err := context.Cause(ctx)
		if errors.Is(err, context.DeadlineExceeded) {
			err = fmt.Errorf("nobody has logged in for %v", loginTime)
		}
		return entry{}, &Error{Server: s.server(), Kind: ErrLogin, Err: err, Remedy: "log in again"}
	}
	code, err := s.checkLogin(e, answer, state)
	if err != nil {
		return entry{}, err
	}
	return s.grant(ctx, e, s.params(t, url.Values{
		"grant_type": {"authorization_code"}, "code": {code}, "redirect_uri": {l.redirect}, "code_verifier": {verifier},
	}))
}

// shown checks a URL that a person opens: it is in ASCII, so that nothing in it looks like something else.
func shown(page string) (string, error) {
	if strings.ContainsFunc(page, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "", errors.New("the page that it names for logins has a URL with characters that are not ASCII")
	}
	return page, keyset.CheckURL(page, false)
}

// checkLogin returns the code of an answer that is of this login and of this issuer.
func (s *source) checkLogin(e *endpoints, answer url.Values, state string) (string, error) {
	for name, values := range answer {
		if len(values) > 1 {
			return "", s.untrusted("the answer to the login has %q twice", clean(name, nil))
		}
	}
	iss := answer.Get("iss")
	switch {
	case subtle.ConstantTimeCompare([]byte(answer.Get("state")), []byte(state)) != 1:
		return "", s.untrusted("the answer to the login is not of this login (state): somebody else may have sent it. Log in again")
	case e.issuer != "" && iss != "" && iss != e.issuer, e.namesItself && iss == "":
		return "", s.untrusted("the answer to the login is of the issuer %q (iss, RFC 9207)", clean(iss, nil))
	case answer.Get("error") != "":
		return "", s.refused(answer.Get("error"), answer.Get("error_description"))
	case answer.Get("code") == "":
		return "", s.untrusted("the answer to the login has neither a code nor an error")
	}
	return answer.Get("code"), nil
}

// listener waits on 127.0.0.1 for the one request by which the browser brings the answer.
type listener struct {
	redirect string // its URL
	path     string
	server   *http.Server
	answers  chan url.Values // the parameters of the first request
}

// defaultRedirect has a free port in place of 0.
const defaultRedirect = "http://127.0.0.1:0/callback"

// redirectOf checks a redirect URI; "" is the default one.
func redirectOf(text string) (*url.URL, error) {
	if text == "" {
		text = defaultRedirect
	}
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return nil, errors.New("the redirect URI is no URL")
	case u.Scheme != "http" || u.Hostname() != "127.0.0.1" && u.Hostname() != "localhost" || u.Port() == "" || u.User != nil ||
		u.RawQuery != "" || u.Fragment != "":
		return nil, errors.New("the redirect URI must be of the form http://127.0.0.1:PORT/PATH or http://localhost:PORT/PATH")
	}
	return u, nil
}

// listen starts a listener for a redirect URI. It is on 127.0.0.1 only, also for localhost.
func listen(redirect string) (*listener, error) {
	u, err := redirectOf(redirect)
	if err != nil {
		return nil, err
	}
	ln, err := net.Listen("tcp4", net.JoinHostPort("127.0.0.1", u.Port()))
	if err != nil {
		return nil, fmt.Errorf("listen for the browser: %w", err)
	}
	_, port, err := net.SplitHostPort(ln.Addr().String())
	if err != nil {
		return nil, err
	}
	u.Host = net.JoinHostPort(u.Hostname(), port)
	l := &listener{redirect: u.String(), path: u.EscapedPath(), answers: make(chan url.Values, 1)}
	if l.path == "" {
		l.path = "/"
	}
	l.server = &http.Server{
		Handler: l.handler(u.Host), ReadHeaderTimeout: 10 * time.Second, WriteTimeout: 10 * time.Second, MaxHeaderBytes: 32 << 10,
	}
	l.server.SetKeepAlivesEnabled(false)
	go func() { _ = l.server.Serve(ln) }() // until close
	return l, nil
}

// handler takes the first request to the redirect URI. A page of another site that has this address under a name of its own gets nothing.
func (l *listener) handler(host string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet || r.URL.EscapedPath() != l.path || r.Host != host {
			http.NotFound(w, r)
			return
		}
		query, err := url.ParseQuery(r.URL.RawQuery)
		if err != nil {
			query = url.Values{}
		}
		select {
		case l.answers <- query:
		default: // it has one already
			http.Error(w, "This login is over.", http.StatusGone)
			return
		}
		header := w.Header()
		header.Set("Content-Type", "text/html; charset=utf-8")
		header.Set("Cache-Control", "no-store")
		header.Set("Referrer-Policy", "no-referrer")
		header.Set("Content-Security-Policy", "default-src 'none'")
		_, _ = w.Write([]byte("<!doctype html><title>Login</title><p>You can close this page: the program that asked you to log in goes on.</p>\n"))
	})
}

// close stops listening. The page that is being written is finished.
func (l *listener) close() {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	if l.server.Shutdown(ctx) != nil {
		_ = l.server.Close()
	}
}
