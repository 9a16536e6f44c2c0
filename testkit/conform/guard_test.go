package conform_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2agen/a2agen/testkit/a2atest"
	"github.com/a2agen/a2agen/testkit/conform"
)

// plain is the card of an agent of a test, with one interface.
const plain = `{"name":"x","description":"d","version":"1","capabilities":{"streaming":true},"defaultInputModes":["a/b"],"defaultOutputModes":["a/b"],
	"skills":[{"id":"a","name":"a","description":"a","tags":["a"]}],"supportedInterfaces":[{"url":"URL","protocolBinding":"JSONRPC","protocolVersion":"1.0"}]}`

// stranger serves a card at its address, and everything else by a function.
func stranger(t *testing.T, url string, other http.HandlerFunc) *a2atest.Agent {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("/.well-known/agent-card.json", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, strings.Replace(plain, "URL", url, 1))
	})
	mux.HandleFunc("/", other)
	return a2atest.Serve(t, mux)
}

func find(r *conform.Report, check string) conform.Result {
	for _, x := range r.Results {
		if x.Check == check {
			return x
		}
	}
	return conform.Result{}
}

// TestWhatIsNoAgentIsAnError that says what is there.
func TestWhatIsNoAgentIsAnError(t *testing.T) {
	never := func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	endless := func(mediaType string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", mediaType)
			for r.Context().Err() == nil {
				if _, err := w.Write(bytes.Repeat([]byte("data: 1\n\n"), 10_000)); err != nil {
					return
				}
			}
		}
	}
	answer := func(status int, mediaType, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", mediaType)
			w.Header().Set("Location", "https://user:secret@elsewhere.test/")
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body)
		}
	}
	for name, tt := range map[string]struct {
		h    http.HandlerFunc
		want string
	}{
		"never answers":     {never, "no agent answers at https://agent.test: no whole answer within 10s; --timeout, or conform.WithTimeout, gives it more"},
		"an endless body":   {endless("application/json"), "longer than 4194304 bytes"},
		"an endless stream": {endless("text/event-stream"), "longer than 4194304 bytes"},
		"a web page":        {answer(200, "text/html; charset=utf-8", "<html>"), "is a web page and no agent card"},
		"a redirect":        {answer(302, "", ""), "is redirected to https://user:xxxxx@elsewhere.test/: give the URL of the agent itself"},
		"nothing there":     {answer(404, "", ""), "answers 404: there is no agent card"},
		"a failure":         {answer(500, "", ""), "answers 500: there is no agent card"},
		"a lock":            {answer(401, "", ""), "answers 401: the card is for callers with credentials"},
		"no JSON":           {answer(200, "application/json", "{"), "is no agent card: it is not JSON"},
		"other JSON":        {answer(200, "application/json", `{"a":1}`), "is JSON, but no agent card"},
		"a member twice":    {answer(200, "application/json", `{"name":"a","name":"b"}`), `has the member "name" twice`},
		"too deep":          {answer(200, "application/json", strings.Repeat("[", 100_000)), "is nested more than 200 deep"},
		"no interface":      {answer(200, "application/json", `{"name":"a"}`), "lists no interface"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := a2atest.Serve(t, tt.h)
				_, err := conform.Run(t.Context(), conform.Config{URL: a.URL(), Dial: a.Dial})
				if err == nil || !strings.Contains(err.Error(), tt.want) {
					t.Errorf("got %v, want %s", err, tt.want)
				}
			})
		})
	}
}

// TestAnAgentThatStopsAnsweringIsGivenUp after two calls, in the time of these.
func TestAnAgentThatStopsAnsweringIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls atomic.Int32
		a := stranger(t, "https://agent.test/", func(w http.ResponseWriter, r *http.Request) {
			if calls.Add(1) > 1 {
				<-r.Context().Done()
				return
			}
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, `{"jsonrpc":"2.0","id":"conform-1","result":{"message":{"messageId":"m","contextId":"c","role":"ROLE_AGENT","parts":[{"text":"hi"}]}}}`)
		})
		began := time.Now()
		r, err := conform.Run(t.Context(), conform.Config{URL: a.URL(), Dial: a.Dial})
		if err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); calls.Load() != 3 || took != 20*time.Second {
			t.Errorf("%d calls in %s", calls.Load(), took)
		}
		if x := find(r, "jsonrpc.parse-error"); x.Outcome != conform.NotTried || !strings.Contains(x.Reason, "no longer answers") {
			t.Errorf("%+v", x)
		}
	})
}

// TestAStreamWithoutEndIsReadToABound.
func TestAStreamWithoutEndIsReadToABound(t *testing.T) {
	a := stranger(t, "https://agent.test/", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if !bytes.Contains(body, []byte("SendStreaming")) {
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		for r.Context().Err() == nil {
			if _, err := io.WriteString(w, "data: {}\n\n"); err != nil {
				return
			}
		}
	})
	r, err := conform.Run(t.Context(), conform.Config{URL: a.URL(), Dial: a.Dial, Only: []string{"stream.ends"}})
	if err != nil {
		t.Fatal(err)
	}
	if x := find(r, "stream.ends"); x.Outcome != conform.Failed {
		t.Errorf("%+v", x)
	}
}

// TestTheNumberOfRequestsIsBounded, and what is beyond it is not tried.
func TestTheNumberOfRequestsIsBounded(t *testing.T) {
	a := desk(t, nil)
	r, err := conform.Run(t.Context(), conform.Config{URL: a.URL(), Dial: a.Dial, Requests: 20})
	if err != nil {
		t.Fatal(err)
	}
	if r.Requests != 20 {
		t.Errorf("%d requests", r.Requests)
	}
	if x := r.Results[len(r.Results)-1]; x.Outcome != conform.NotTried {
		t.Errorf("%+v", x)
	}
}

// TestOtherHostsAreNotCalled: a card could lead requests and their credentials anywhere.
func TestOtherHostsAreNotCalled(t *testing.T) {
	for url, want := range map[string]string{
		"https://elsewhere.test/":    "it is on elsewhere.test, which is another host",
		"http://169.254.169.254/x":   "it is on 169.254.169.254, which is another host",
		"https://a@elsewhere.test/":  "it is on elsewhere.test",
		"https://agent.test.evil/":   "it is on agent.test.evil",
		"http://agent.test/":         "it has no TLS",
		"file:///etc/passwd":         "is no absolute URL",
		"//agent.test/":              "is no absolute URL",
		"https://user:pw@agent.test": "",
	} {
		a := stranger(t, url, func(http.ResponseWriter, *http.Request) {})
		r, err := conform.Run(t.Context(), conform.Config{URL: a.URL(), Dial: a.Dial, Header: http.Header{"X-Key": {"swordfish"}}})
		if err != nil {
			t.Fatal(err)
		}
		if got := r.Interfaces[0].NotTried; want == "" && strings.Contains(got, "host") || !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", url, got, want)
		}
	}
	a := stranger(t, "https://agent.test/", func(http.ResponseWriter, *http.Request) {})
	r, err := conform.Run(t.Context(), conform.Config{URL: a.URL(), Dial: a.Dial, Hosts: []string{"other.test"}})
	if err != nil || r.Interfaces[0].NotTried != "" {
		t.Errorf("%v %+v", err, r.Interfaces)
	}
}

// TestSecretsAndControlCharactersAreInNoReport, although the agent sends them back.
func TestSecretsAndControlCharactersAreInNoReport(t *testing.T) {
	a := stranger(t, "https://agent.test/", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"error":%q,"x":"`+"\x1b[2J"+`"}`, "who is "+r.Header.Get("X-Key")+" "+r.Header.Get("Authorization"))
	})
	r, err := conform.Run(t.Context(), conform.Config{URL: a.URL(), Dial: a.Dial,
		Header: http.Header{"X-Key": {"swordfish"}, "Authorization": {"Bearer op3n-sesame"}}})
	if err != nil {
		t.Fatal(err)
	}
	if r.Count(conform.Failed, conform.Must) == 0 {
		t.Error("nothing was found")
	}
	for name, write := range map[string]func(io.Writer) error{"text": r.WriteText, "JSON": r.WriteJSON, "JUnit": r.WriteJUnit} {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(b.String(), "who is …") {
			t.Errorf("%s does not have what came", name)
		}
		for _, bad := range []string{"swordfish", "sesame", "\x1b"} {
			if strings.Contains(b.String(), bad) {
				t.Errorf("%s has %q", name, bad)
			}
		}
	}
}

// TestReportsLoad as what they are said to be.
func TestReportsLoad(t *testing.T) {
	r := run(t, desk(t, nil))
	var b bytes.Buffer
	if err := r.WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	var back conform.Report
	if err := json.Unmarshal(b.Bytes(), &back); err != nil || len(back.Results) != len(r.Results) {
		t.Errorf("%v, %d results of %d", err, len(back.Results), len(r.Results))
	}
	b.Reset()
	if err := r.WriteJUnit(&b); err != nil {
		t.Fatal(err)
	}
	var suites struct {
		Suites []struct {
			Tests int        `xml:"tests,attr"`
			Cases []struct{} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	if err := xml.Unmarshal(b.Bytes(), &suites); err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, s := range suites.Suites {
		if s.Tests != len(s.Cases) {
			t.Errorf("a suite of %d tests has %d", s.Tests, len(s.Cases))
		}
		n += s.Tests
	}
	if n != len(r.Results) {
		t.Errorf("%d cases of %d results", n, len(r.Results))
	}
}
