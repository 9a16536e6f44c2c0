package auth_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/a2agen/a2agen/runtime/auth"
)

// FuzzHeaders: whatever headers, query and cookies say, nobody comes in who has no good credential, and nothing that was
// sent is in what is told and logged.
func FuzzHeaders(f *testing.F) {
	for _, s := range []string{"Bearer abc", "bearer  x==", "Basic YTpi", "Basic " + strings.Repeat("A", 99), "", " ", "Bearer", "\x00", "a=b; k=c", "k=%zz&k=1"} {
		f.Add(s, s, s)
	}
	none := auth.Func(func(_ context.Context, c auth.Credential) (auth.Caller, error) {
		if c.Value == "" && c.User == "" {
			return auth.Caller{}, errors.New("a verifier is asked about nothing")
		}
		return auth.Caller{}, auth.ErrWrong
	})
	const card = `{"securitySchemes":{"t":{"httpAuthSecurityScheme":{"scheme":"bearer"}},"b":{"httpAuthSecurityScheme":{"scheme":"basic"}},
		"q":{"apiKeySecurityScheme":{"location":"query","name":"k"}},"c":{"apiKeySecurityScheme":{"location":"cookie","name":"k"}},
		"h":{"apiKeySecurityScheme":{"location":"header","name":"K"}}},
		"securityRequirements":[{"schemes":{"t":{}}},{"schemes":{"b":{}}},{"schemes":{"q":{}}},{"schemes":{"c":{}}},{"schemes":{"h":{}}}]}`
	d, err := auth.ReadCard([]byte(card))
	if err != nil {
		f.Fatal(err)
	}
	g, err := auth.New(d, auth.Verifiers{"t": none, "b": none, "q": none, "c": none, "h": none}, auth.Options{Realm: "Test"})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, authorization, query, cookie string) {
		r := request()
		r.Header["Authorization"], r.Header["K"] = []string{authorization}, []string{query}
		r.Header["Cookie"], r.URL.RawQuery = []string{cookie}, query
		grant, denial := g.Check(r)
		if denial == nil {
			t.Fatalf("%+v comes in", grant.Caller)
		}
		said := denial.Error() + strings.Join(denial.Challenges, "")
		if strings.Contains(said, "asked about nothing") || len(authorization) > 12 && strings.Contains(said, authorization) {
			t.Errorf("said is %q", said)
		}
	})
}
