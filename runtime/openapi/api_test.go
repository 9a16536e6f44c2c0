package openapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2agen/a2agen/runtime"
)

// sent is a request as a server saw it.
type sent struct {
	line, body, media string
	header            http.Header
}

// echo is an API that answers with a text, and what it was sent.
func echo(t *testing.T, answer string) (*API, *sent) {
	t.Helper()
	got := &sent{}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		*got = sent{line: r.Method + " " + r.URL.RequestURI(), body: string(body), media: r.Header.Get("Content-Type"), header: r.Header}
		io.WriteString(w, answer)
	}))
	t.Cleanup(srv.Close)
	return &API{Name: "Pets", URL: srv.URL + "/v1/"}, got
}

func TestMembersGoWhereTheDocumentSays(t *testing.T) {
	tests := []struct {
		name     string
		op       Operation
		in       string
		line     string
		body     string
		wantType string
	}{
		{"a path", Operation{Method: "GET", Path: "/pets/{id}", Params: []Param{{Name: "id", In: Path}}}, `{"id": "a/b c"}`, "GET /v1/pets/a%2Fb%20c", "", ""},
		{"a list in a path", Operation{Method: "GET", Path: "/pets/{ids}", Params: []Param{{Name: "ids", In: Path}}}, `{"ids": [1, 2]}`, "GET /v1/pets/1%2C2", "", ""},
		{"large numbers", Operation{Method: "GET", Path: "/{id}", Params: []Param{{Name: "id", In: Path}}}, `{"id": 9007199254740993}`, "GET /v1/9007199254740993", "", ""},
		{"a repeated parameter", Operation{Method: "GET", Path: "/", Params: []Param{{Name: "s", In: Query}}}, `{"s": ["a", "b&c"]}`, "GET /v1/?s=a&s=b%26c", "", ""},
		{"commas", Operation{Method: "GET", Path: "/", Params: []Param{{Name: "s", In: Query, Style: Commas}}}, `{"s": ["a", true]}`, "GET /v1/?s=a%2Ctrue", "", ""},
		{"pipes", Operation{Method: "GET", Path: "/", Params: []Param{{Name: "s", In: Query, Style: Pipes}}}, `{"s": ["a", "b"]}`, "GET /v1/?s=a%7Cb", "", ""},
		{"an object", Operation{Method: "GET", Path: "/", Params: []Param{{Name: "f", In: Query}}}, `{"f": {"a": 1, "b": "x"}}`, "GET /v1/?a=1&b=x", "", ""},
		{"a deep object", Operation{Method: "GET", Path: "/", Params: []Param{{Name: "f", In: Query, Style: DeepObject}}}, `{"f": {"a": {"b": 1}}}`, "GET /v1/?f%5Ba%5D%5Bb%5D=1", "", ""},
		{"JSON in a query", Operation{Method: "GET", Path: "/", Params: []Param{{Name: "f", In: Query, Style: JSON}}}, `{"f": {"a": 1}}`, "GET /v1/?f=%7B%22a%22%3A1%7D", "", ""},
		{"nothing for what is not there", Operation{Method: "GET", Path: "/", Params: []Param{{Name: "a", In: Query}, {Name: "b", In: Header}}}, `{"b": null}`, "GET /v1/", "", ""},
		{"a body of the rest", Operation{Method: "POST", Path: "/p/{id}", Params: []Param{{Name: "id", In: Path}}, Body: Body{From: BodyRest}}, `{"id": 1, "name": "rex"}`,
			"POST /v1/p/1", `{"name":"rex"}`, "application/json"},
		{"a body of its own", Operation{Method: "PUT", Path: "/", Body: Body{From: BodyMember, Type: "application/merge-patch+json"}}, `{"body": [1]}`,
			"PUT /v1/", `[1]`, "application/merge-patch+json"},
		{"no body", Operation{Method: "PUT", Path: "/", Body: Body{From: BodyMember}}, `{}`, "PUT /v1/", "", ""},
		{"a form", Operation{Method: "POST", Path: "/", Body: Body{From: BodyRest, Type: MediaForm}}, `{"a": 1, "m": {"k": ["x", "y"]}}`,
			"POST /v1/", "a=1&m%5Bk%5D=x&m%5Bk%5D=y", MediaForm},
		{"a member of another name", Operation{Method: "GET", Path: "/{id}", Params: []Param{{Name: "id", In: Path}, {Name: "id", In: Query, Member: "query_id"}}},
			`{"id": 1, "query_id": 2}`, "GET /v1/1?id=2", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			api, got := echo(t, `{}`)
			var out json.RawMessage
			if err := api.Call(t.Context(), tt.op, json.RawMessage(tt.in), &out); err != nil {
				t.Fatal(err)
			}
			if got.line != tt.line || got.body != tt.body || got.media != tt.wantType {
				t.Errorf("sent %q %q %q, want %q %q %q", got.line, got.body, got.media, tt.line, tt.body, tt.wantType)
			}
		})
	}
}

func TestAnInputThatCannotBeSentIsInvalid(t *testing.T) {
	api, got := echo(t, "{}")
	op := Operation{Method: "GET", Path: "/pets/{id}", Params: []Param{{Name: "id", In: Path}, {Name: "X-A", In: Header}}}
	for _, in := range []string{`{}`, `{"id": ""}`, `{"id": ".."}`, `{"id": null}`, `{"id": 1, "X-A": "a\r\nHost: b"}`} {
		err := api.Call(t.Context(), op, json.RawMessage(in), new(json.RawMessage))
		if said := Explain(told{}, err); !errors.Is(said, runtime.ErrInvalidParams) || got.line != "" {
			t.Errorf("%s gives %v", in, said)
		}
	}
}

func TestCredentialsComeFromTheEnvironment(t *testing.T) {
	t.Setenv("P_KEY", "k y")
	t.Setenv("P_SECRET", "s")
	tests := []struct {
		c    Credential
		want func(*sent) string
		as   string
	}{
		{Credential{Kind: KeyInHeader, Name: "X-Key", Env: "P_KEY"}, func(s *sent) string { return s.header.Get("X-Key") }, "k y"},
		{Credential{Kind: KeyInQuery, Name: "key", Env: "P_KEY"}, func(s *sent) string { return s.line }, "GET /v1/?key=k+y"},
		{Credential{Kind: KeyInCookie, Name: "sid", Env: "P_SECRET"}, func(s *sent) string { return s.header.Get("Cookie") }, "sid=s"},
		{Credential{Kind: Bearer, Env: "P_KEY"}, func(s *sent) string { return s.header.Get("Authorization") }, "Bearer k y"},
		{Credential{Kind: Basic, Env: "P_SECRET", SecretEnv: "P_NONE"}, func(s *sent) string { return s.header.Get("Authorization") }, "Basic czo="},
	}
	for _, tt := range tests {
		t.Run(string(tt.c.Kind), func(t *testing.T) {
			api, got := echo(t, "{}")
			op := Operation{Method: "GET", Path: "/", Auth: []Credential{tt.c}}
			if err := api.Call(t.Context(), op, struct{}{}, new(json.RawMessage)); err != nil || tt.want(got) != tt.as {
				t.Errorf("sent %q, %v, want %q", tt.want(got), err, tt.as)
			}
		})
	}
}

func TestMissingCredentialsEndTheCallUnlessTheyAreOptional(t *testing.T) {
	api, got := echo(t, "{}")
	op := Operation{Method: "GET", Path: "/", Auth: []Credential{{Kind: Bearer, Env: "P_NOT_SET"}}}
	err := api.Call(t.Context(), op, struct{}{}, new(json.RawMessage))
	var missing *CredentialError
	if !errors.As(err, &missing) || missing.Env != "P_NOT_SET" || got.line != "" {
		t.Errorf("got %v", err)
	}
	if said := Explain(told{}, err); strings.Contains(said.Error(), "P_NOT_SET") {
		t.Errorf("the caller is told %q", said)
	}
	op.AuthOptional = true
	if err := api.Call(t.Context(), op, struct{}{}, new(json.RawMessage)); err != nil || got.header.Get("Authorization") != "" {
		t.Errorf("got %v", err)
	}
}

// transport answers requests without a network.
type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func answer(status int, body string, header ...string) *http.Response {
	h := http.Header{}
	for i := 0; i < len(header); i += 2 {
		h.Set(header[i], header[i+1])
	}
	return &http.Response{StatusCode: status, Header: h, Body: io.NopCloser(strings.NewReader(body))}
}

func TestTokensAreKeptUntilTheyExpire(t *testing.T) {
	t.Setenv("P_ID", "me")
	t.Setenv("P_SECRET", "s")
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		api := &API{Name: "Pets", URL: "https://pets.example", Client: &http.Client{Transport: transport(func(r *http.Request) (*http.Response, error) {
			if r.URL.Path == "/token" {
				asked++
				return answer(200, fmt.Sprintf(`{"access_token": "t%d", "expires_in": 100}`, asked)), nil
			}
			return answer(200, `"`+r.Header.Get("Authorization")+`"`), nil
		})}}
		op := Operation{Method: "GET", Path: "/", Auth: []Credential{{Kind: ClientCredentials, Env: "P_ID", SecretEnv: "P_SECRET", TokenURL: "https://pets.example/token"}}}
		call := func() (out string) {
			t.Helper()
			if err := api.Call(t.Context(), op, struct{}{}, (*jsonText)(&out)); err != nil {
				t.Fatal(err)
			}
			return out
		}
		if a, b := call(), call(); a != "Bearer t1" || b != a {
			t.Errorf("called with %q and %q", a, b)
		}
		time.Sleep(80 * time.Second)
		if c := call(); c != "Bearer t2" {
			t.Errorf("called with %q", c)
		}
	})
}

// jsonText is a text in JSON.
type jsonText string

func (s *jsonText) UnmarshalJSON(src []byte) error { return json.Unmarshal(src, (*string)(s)) }

func TestABusyAPIIsAskedAgain(t *testing.T) {
	tests := []struct {
		name    string
		answers []*http.Response
		status  int // of the error; 0: none
		took    time.Duration
	}{
		{"once", []*http.Response{answer(429, "", "Retry-After", "7"), answer(200, "{}")}, 0, 7 * time.Second},
		{"twice", []*http.Response{answer(503, ""), answer(503, ""), answer(200, "{}")}, 0, 1500 * time.Millisecond},
		{"too often", []*http.Response{answer(503, ""), answer(503, ""), answer(503, "")}, 503, 1500 * time.Millisecond},
		{"too long", []*http.Response{answer(429, "", "Retry-After", "3600")}, 429, 0},
		{"broken", []*http.Response{answer(500, "")}, 500, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				api := &API{Name: "Pets", URL: "https://pets.example", Client: &http.Client{Transport: transport(func(*http.Request) (*http.Response, error) {
					next := tt.answers[0]
					tt.answers = tt.answers[1:]
					return next, nil
				})}}
				start := time.Now()
				err := api.Call(t.Context(), Operation{Method: "POST", Path: "/"}, struct{}{}, new(json.RawMessage))
				var status *StatusError
				if errors.As(err, &status) != (tt.status != 0) || status != nil && status.Status != tt.status || time.Since(start) != tt.took {
					t.Errorf("got %v after %v", err, time.Since(start))
				}
			})
		})
	}
}

// told is a task that says what it is told.
type told struct{}

func (told) Logger() *slog.Logger { return slog.New(slog.DiscardHandler) }

func (told) Fail(reason string, args ...any) error { return fmt.Errorf("failed: "+reason, args...) }

func TestErrorsAreExplainedInTermsOfA2A(t *testing.T) {
	tests := []struct {
		status int
		body   string
		want   string
	}{
		{400, `{"message": "no such size"}`, `Invalid parameters: Pets answered 400 Bad Request: {"message": "no such size"}`},
		{422, "", "Invalid parameters: Pets answered 422 Unprocessable Entity"},
		{401, "key k1 is wrong", "failed: Pets does not accept the credentials of this agent for that."},
		{403, "", "failed: Pets does not accept the credentials of this agent for that."},
		{404, "no pet 7", "failed: Pets answered 404 Not Found: no pet 7"},
		{500, "<html>", "failed: Pets answered 500 Internal Server Error"},
		{302, "", "failed: Pets answered 302 Found"},
	}
	for _, tt := range tests {
		api := &API{Name: "Pets", URL: "https://pets.example", Client: &http.Client{Transport: transport(func(*http.Request) (*http.Response, error) {
			return answer(tt.status, tt.body), nil
		})}}
		err := api.Call(t.Context(), Operation{Method: "GET", Path: "/"}, struct{}{}, new(json.RawMessage))
		if said := Explain(told{}, err); !strings.Contains(said.Error(), tt.want) {
			t.Errorf("%d is %q, want %q", tt.status, said, tt.want)
		}
	}
}

func TestAnAnswerThatDoesNotFitIsTold(t *testing.T) {
	api, _ := echo(t, `{"name": 1}`)
	err := api.Call(t.Context(), Operation{Method: "GET", Path: "/"}, struct{}{}, &struct{ Name string }{})
	if said := Explain(told{}, err); !strings.HasPrefix(said.Error(), "failed: the answer of Pets does not fit its description") {
		t.Errorf("got %v", said)
	}
}

func TestTextIsTakenAsItIs(t *testing.T) {
	api, got := echo(t, "hello")
	var out string
	if err := api.Call(t.Context(), Operation{Method: "GET", Path: "/", Text: true}, struct{}{}, &out); err != nil || out != "hello" {
		t.Errorf("%q, %v", out, err)
	}
	if !strings.HasPrefix(got.header.Get("Accept"), "text/plain") {
		t.Errorf("Accept is %q", got.header.Get("Accept"))
	}
}

func TestACallIsBounded(t *testing.T) {
	api, _ := echo(t, `"`+strings.Repeat("x", 1000)+`"`)
	api.MaxBytes = 100
	err := api.Call(t.Context(), Operation{Method: "GET", Path: "/"}, struct{}{}, new(json.RawMessage))
	if err == nil || !strings.Contains(err.Error(), "more than 100 bytes") {
		t.Errorf("got %v", err)
	}
	synctest.Test(t, func(t *testing.T) {
		api := &API{Name: "Pets", URL: "https://pets.example/?secret", Client: &http.Client{Transport: transport(func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		})}}
		err := api.Call(t.Context(), Operation{Method: "GET", Path: "/"}, struct{}{}, new(json.RawMessage))
		var away *UnreachableError
		if !errors.As(err, &away) || !errors.Is(err, context.DeadlineExceeded) || strings.Contains(err.Error(), "secret") {
			t.Errorf("got %v", err)
		}
	})
}

func TestCredentialsDoNotFollowARedirectElsewhere(t *testing.T) {
	t.Setenv("P_KEY", "k")
	elsewhere, got := echo(t, "{}")
	var here *httptest.Server
	here = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/away":
			http.Redirect(w, r, elsewhere.URL, http.StatusFound)
		case "/here":
			http.Redirect(w, r, here.URL+"/end", http.StatusFound)
		default:
			io.WriteString(w, `"`+r.Header.Get("X-Key")+`"`)
		}
	}))
	defer here.Close()
	api := &API{Name: "Pets", URL: here.URL}
	auth := []Credential{{Kind: KeyInHeader, Name: "X-Key", Env: "P_KEY"}}
	err := api.Call(t.Context(), Operation{Method: "GET", Path: "/away", Auth: auth}, struct{}{}, new(json.RawMessage))
	var status *StatusError
	if !errors.As(err, &status) || status.Status != http.StatusFound || got.line != "" {
		t.Errorf("got %v, and elsewhere was asked %q", err, got.line)
	}
	var out json.RawMessage
	if err := api.Call(t.Context(), Operation{Method: "GET", Path: "/here", Auth: auth}, struct{}{}, &out); err != nil || string(out) != `"k"` {
		t.Errorf("%s, %v", out, err)
	}
}

func TestTheEnvironmentSaysWhereAnAPIIs(t *testing.T) {
	api, got := echo(t, "{}")
	t.Setenv("P_URL", api.URL)
	api.URL, api.URLEnv = "https://pets.example", "P_URL"
	if err := api.Call(t.Context(), Operation{Method: "GET", Path: "/a"}, struct{}{}, new(json.RawMessage)); err != nil || got.line != "GET /v1/a" {
		t.Errorf("%q, %v", got.line, err)
	}
	t.Setenv("P_URL", "")
	api.URL = ""
	if err := api.Call(t.Context(), Operation{Method: "GET", Path: "/a"}, struct{}{}, new(json.RawMessage)); err == nil || !strings.Contains(err.Error(), "P_URL") {
		t.Errorf("got %v", err)
	}
}
