package guard

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/auth"
	"github.com/a2agen/a2agen/runtime/internal/security"
)

// TestAKindOfSchemeIsARow: a row of how cards write it, and one of how requests bring it, are all that a guard needs of a
// new kind.
func TestAKindOfSchemeIsARow(t *testing.T) {
	const ticket = security.APIKey + 1
	kinds, ways := security.Kinds, credentialKinds
	defer func() { security.Kinds, credentialKinds = kinds, ways }()
	security.Kinds = append(slices.Clip(kinds), security.KindInfo{Kind: ticket, Key: "ticketSecurityScheme", Type: "ticket", Read: func(s *security.Scheme, c *security.CardScheme) { s.Key = c.Name }})
	credentialKinds = append(slices.Clip(ways), &credentialKind{
		kind: ticket,
		take: func(_ *Guard, s *security.Scheme, r *http.Request) (c auth.Credential, err error) {
			if c.Value = r.Header.Get(s.Key); c.Value == "" {
				return c, auth.ErrNone
			}
			return c, nil
		},
		challenge: func(g *Guard, s *security.Scheme, _ []string, _ string) string {
			return challenge("Ticket", "name", s.Key)
		},
		curl: func(*security.Scheme, func(string) string) string { return " --ticket" },
	})
	for name, scheme := range map[string]string{
		"since 1.0":  `{"ticketSecurityScheme":{"name":"X-Ticket"}}`,
		"before 1.0": `{"type":"ticket","name":"X-Ticket"}`,
	} {
		t.Run(name, func(t *testing.T) {
			d, err := security.ReadCard([]byte(`{"securitySchemes":{"t":` + scheme + `},"security":[{"t":[]}]}`))
			if err != nil {
				t.Fatal(err)
			}
			accept := auth.Func(func(_ context.Context, c auth.Credential) (auth.Caller, error) { return auth.Caller{ID: c.Value}, nil })
			g, err := New(d, auth.Verifiers{"t": accept}, Options{})
			if err != nil {
				t.Fatal(err)
			}
			r := httptest.NewRequest("GET", "/", nil)
			if _, denial := g.Check(r); denial == nil || !slices.Equal(denial.Challenges, []string{`Ticket name="X-Ticket"`}) {
				t.Errorf("without a ticket: %+v", denial)
			}
			r.Header.Set("X-Ticket", "ann")
			if grant, denial := g.Check(r); denial != nil || grant.Caller.ID != "ann" {
				t.Errorf("with a ticket: %v", denial)
			}
			if got := Curl(&d.Schemes[0], nil); got != " --ticket" {
				t.Errorf("curl has %q", got)
			}
		})
	}
}

// TestEveryKindHasItsRows: cards can have no scheme whose credential nobody takes.
func TestEveryKindHasItsRows(t *testing.T) {
	for _, k := range security.Kinds {
		if s := (security.Scheme{Kind: k.Kind}); wayOf(&s) == nil || k.Kind.CardKey() != k.Key {
			t.Errorf("%+v", k)
		}
	}
}

func TestAKeyIsTakenFromEveryPlaceThatCardsMayName(t *testing.T) {
	for _, place := range runtime.KeyPlaces {
		d, err := security.ReadCard([]byte(`{"securitySchemes":{"k":{"apiKeySecurityScheme":{"location":"` + place + `","name":"key"}}},"security":[{"k":[]}]}`))
		if err != nil {
			t.Fatal(err)
		}
		g, err := New(d, auth.Verifiers{"k": auth.Func(func(_ context.Context, c auth.Credential) (auth.Caller, error) { return auth.Caller{ID: c.Value}, nil })}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		r := httptest.NewRequest("GET", "/?key=ofquery", nil)
		r.Header.Set("Key", "ofheader")
		r.Header.Set("Sec-Fetch-Site", "same-origin")
		r.AddCookie(&http.Cookie{Name: "key", Value: "ofcookie"})
		if grant, denial := g.Check(r); denial != nil || grant.Caller == nil || grant.Caller.ID != "of"+place {
			t.Errorf("%s: %+v", place, denial)
		}
	}
	if len(keyPlaces) != len(runtime.KeyPlaces) {
		t.Errorf("%d places are read, and cards name %d", len(keyPlaces), len(runtime.KeyPlaces))
	}
}
