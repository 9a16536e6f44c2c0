package record_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/a2agen/a2agen/a2a/a2aclient"
	rpc "github.com/a2agen/a2agen/runtime/client"
	"github.com/a2agen/a2agen/testkit/record"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// handler answers requests without a network, as a transport.
type handler http.HandlerFunc

func (h handler) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	if r.Body == nil {
		r.Body = http.NoBody
	}
	h(w, r)
	resp := w.Result()
	resp.Request = r
	if cut := resp.Header.Get("Cut"); cut != "" {
		resp.Body = io.NopCloser(io.MultiReader(resp.Body, broken{}))
	}
	return resp, nil
}

// broken is a connection that breaks.
type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// agentURL is where the agent of these tests is.
const agentURL = "http://127.0.0.1:8080"

// card is one with security, or without.
func card(security string) string {
	return `{"name":"weather","description":"d","version":"1","supportedInterfaces":[{"url":"` + agentURL + `/a2a","protocolBinding":"JSONRPC","protocolVersion":"1.0"}],` +
		security + `"capabilities":{"streaming":true,"pushNotifications":true},"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],
		"skills":[{"id":"chat","name":"Chat","description":"d","tags":["t"]}]}`
}

// answer answers a JSON-RPC request with what stands in its place: $ID is the request's id.
func answer(w http.ResponseWriter, id, text string) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, strings.ReplaceAll(text, "$ID", id))
}

// save records what talk says to an agent, and returns the file.
func save(t *testing.T, agent handler, talk func(http.RoundTripper), opts ...record.Option) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "recording.jsonl")
	r := record.NewRecorder(append(opts, record.Over(agent))...)
	talk(r)
	if err := r.Save(file); err != nil {
		t.Fatal(err)
	}
	return file
}

func open(t *testing.T, file string, opts ...record.Option) *record.Player {
	t.Helper()
	p, err := record.Open(file, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func text(t *testing.T, file string) string {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// dial returns a client that talks over a transport.
func dial(t *testing.T, url string, over http.RoundTripper, opts ...rpc.Option) *a2aclient.Client {
	t.Helper()
	c, err := a2aclient.New(t.Context(), url, append(opts, rpc.HTTPClient(&http.Client{Transport: over}))...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// post makes a request without a client.
func post(t *testing.T, over http.RoundTripper, path, body string) (string, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, agentURL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := over.RoundTrip(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	got, err := io.ReadAll(resp.Body)
	return string(got), err
}
