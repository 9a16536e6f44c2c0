package oauth

import (
	"context"
	"net/url"
	"slices"
	"strings"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"
)

// obtainBy gets a token by a grant that asks for nothing but the token.
func (s *source) obtainBy(ctx context.Context, t target, grant url.Values) (entry, error) {
	e, err := s.endpoints(ctx)
	if err != nil {
		return entry{}, err
	}
	return s.grant(ctx, e, s.params(t, grant))
}

// params adds the parameters that name the resource and the audience of the token.
func (s *source) params(t target, v url.Values) url.Values {
	for name, value := range map[string]string{"resource": t.resource, "audience": s.Audience} {
		if value != "" {
			v.Set(name, value)
		}
	}
	return v
}

// grant asks the token endpoint. It goes on when the caller leaves, because a code or refresh token may be good only once.
func (s *source) grant(ctx context.Context, e *endpoints, params url.Values) (entry, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), requestTime)
	defer cancel()
	request := clientcredentials.Config{ // which takes the parameters of any grant
		ClientID: s.ClientID, ClientSecret: s.Secret, TokenURL: e.token, EndpointParams: params,
		AuthStyle: s.authStyle(e),
	}
	now := time.Now()
	token, err := request.Token(context.WithValue(ctx, oauth2.HTTPClient, s.http))
	if err != nil {
		return entry{}, s.failed(err, s.secrets(params)...)
	}
	switch {
	case !strings.EqualFold(token.TokenType, "Bearer"):
		return entry{}, s.untrusted("its token is of type %q, where only Bearer can be used", clean(token.TokenType, nil))
	case !fit(token.AccessToken):
		return entry{}, s.untrusted("its token is none: it has characters that a header cannot have, or is too long")
	}
	got := entry{Access: token.AccessToken, Refresh: token.RefreshToken, Obtained: now}
	if !token.Expiry.IsZero() {
		got.Expires = now.Add(token.Expiry.Sub(now).Round(0))
		if !got.Expires.After(now) {
			return entry{}, s.untrusted("its token has expired already")
		}
	}
	return got, nil
}

// authStyle is how the client authenticates itself. A public one names itself in the body.
func (s *source) authStyle(e *endpoints) oauth2.AuthStyle {
	bodyAlone := len(e.methods) > 0 && !slices.Contains(e.methods, "client_secret_basic") && slices.Contains(e.methods, "client_secret_post")
	if s.Secret == "" || s.SecretInBody || bodyAlone {
		return oauth2.AuthStyleInParams
	}
	return oauth2.AuthStyleInHeader
}

// secrets returns the texts that must not be in an error, the longest first.
func (s *source) secrets(params url.Values) []string {
	all := []string{s.Secret, url.QueryEscape(s.Secret)}
	for _, name := range []string{"refresh_token", "code", "code_verifier", "device_code"} {
		all = append(all, params.Get(name))
	}
	slices.SortFunc(all, func(a, b string) int { return len(b) - len(a) })
	return all
}

// mostToken is the longest token that is used, in bytes.
const mostToken = 32 << 10

// fit reports whether a token can stand in a header.
func fit(token string) bool {
	return len(token) <= mostToken && !strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' })
}

// entry is a token as the cache keeps it.
type entry struct {
	Access   string    `json:"access_token,omitzero"`
	Refresh  string    `json:"refresh_token,omitzero"`
	Obtained time.Time `json:"obtained,omitzero"`
	Expires  time.Time `json:"expires,omitzero"` // zero: the issuer does not say
}
