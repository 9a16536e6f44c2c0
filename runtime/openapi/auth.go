package openapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"
)

// Kind is a way of saying who calls.
type Kind string

// The kinds of credentials.
const (
	KeyInHeader Kind = "key in header"
	KeyInQuery  Kind = "key in query"
	KeyInCookie Kind = "key in cookie"
	Bearer      Kind = "bearer"
	Basic       Kind = "basic"
	// ClientCredentials gets a bearer token of an OAuth 2.0 server.
	ClientCredentials Kind = "client credentials"
)

// Credential is what a security scheme of an API takes from the environment.
type Credential struct {
	Kind Kind
	Name string // of the header, the parameter or the cookie
	// Env is the variable with the key or the token; with Basic the one with the user's name, and with ClientCredentials
	// the one with the client's id. SecretEnv is the one with the password or the client's secret.
	Env, SecretEnv string
	TokenURL       string // of ClientCredentials
	TokenURLEnv    string // the variable that says otherwise
	Scopes         []string
}

// authorize adds the credentials of the environment to a request.
func (a *API) authorize(ctx context.Context, req *http.Request, op Operation) error {
	for _, c := range op.Auth {
		value, secret, missing := c.read()
		if missing != "" && op.AuthOptional {
			continue
		}
		if missing != "" {
			return &CredentialError{API: a.Name, Env: missing}
		}
		switch c.Kind {
		case KeyInHeader:
			req.Header.Set(c.Name, value)
		case KeyInQuery:
			query := req.URL.Query()
			query.Set(c.Name, value)
			req.URL.RawQuery = query.Encode()
		case KeyInCookie:
			req.AddCookie(&http.Cookie{Name: c.Name, Value: value})
		case Bearer:
			req.Header.Set("Authorization", "Bearer "+value)
		case Basic:
			req.SetBasicAuth(value, secret)
		case ClientCredentials:
			token, err := a.tokens.get(ctx, a.client(), c, value, secret)
			if err != nil {
				return fmt.Errorf("get a token for %s: %w", a.Name, err)
			}
			req.Header.Set("Authorization", "Bearer "+token)
		default:
			return fmt.Errorf("%s: %q is no kind of credentials", a.Name, c.Kind)
		}
	}
	return nil
}

// read reads the environment; missing is the variable that is not set.
func (c Credential) read() (value, secret, missing string) {
	if value = os.Getenv(c.Env); value == "" {
		return "", "", c.Env
	}
	if c.SecretEnv != "" {
		secret = os.Getenv(c.SecretEnv)
	}
	if secret == "" && c.Kind == ClientCredentials { // a password may be empty
		return "", "", c.SecretEnv
	}
	return value, secret, ""
}

// tokens keeps the tokens of an API until shortly before they expire.
type tokens struct {
	mu  sync.Mutex
	all map[string]token
}

type token struct {
	text    string
	expires time.Time
}

// Limits of tokens.
const (
	maxToken     = 64 << 10 // bytes of an answer with a token
	tokenMargin  = 30 * time.Second
	tokenDefault = 5 * time.Minute // for which a token counts whose server does not say
)

// get returns a token. Callers at once wait for one request.
func (k *tokens) get(ctx context.Context, client *http.Client, c Credential, id, secret string) (string, error) {
	at := c.TokenURL
	if set := os.Getenv(c.TokenURLEnv); c.TokenURLEnv != "" && set != "" {
		at = set
	}
	key := strings.Join(append([]string{at, id, secret}, c.Scopes...), "\x00")
	k.mu.Lock()
	defer k.mu.Unlock()
	if t, has := k.all[key]; has && time.Now().Before(t.expires) {
		return t.text, nil
	}
	t, err := fetchToken(ctx, client, at, id, secret, c.Scopes)
	if err != nil {
		return "", err
	}
	k.all = map[string]token{key: t} // a changed secret makes older tokens useless
	return t.text, nil
}

// fetchToken asks for a token by the grant of client credentials (RFC 6749 §4.4).
func fetchToken(ctx context.Context, client *http.Client, at, id, secret string, scopes []string) (token, error) {
	form := url.Values{"grant_type": {"client_credentials"}}
	if len(scopes) > 0 {
		form.Set("scope", strings.Join(scopes, " "))
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, at, strings.NewReader(form.Encode()))
	if err != nil {
		return token{}, err
	}
	req.Header.Set("Content-Type", MediaForm)
	req.Header.Set("Accept", mediaJSON)
	req.SetBasicAuth(url.QueryEscape(id), url.QueryEscape(secret))
	resp, err := client.Do(req)
	if err != nil {
		return token{}, withoutURL(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxToken))
	if err != nil {
		return token{}, err
	}
	if resp.StatusCode != http.StatusOK {
		return token{}, fmt.Errorf("its server answered %d", resp.StatusCode)
	}
	var got struct {
		Token   string      `json:"access_token"`
		Expires json.Number `json:"expires_in"`
	}
	if err := json.NewDecoder(bytes.NewReader(body)).Decode(&got); err != nil || got.Token == "" {
		return token{}, errors.Join(errors.New("its server answered no token"), err)
	}
	lives := tokenDefault
	if n, err := got.Expires.Int64(); err == nil && n > 0 && n < 1<<31 {
		lives = time.Duration(n) * time.Second
	}
	return token{text: got.Token, expires: time.Now().Add(lives - min(tokenMargin, lives/2))}, nil
}
