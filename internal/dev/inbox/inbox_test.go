package inbox

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/a2agen/a2agen/internal/dev/live"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/push"
)

const event = `{"statusUpdate":{"taskId":"t1","contextId":"c","status":{"state":"TASK_STATE_WORKING"}}}`

func start(t *testing.T, agents ...string) (*Inbox, *live.Feed) {
	t.Helper()
	feed := &live.Feed{}
	b := &Inbox{Token: "s3cret-token", Feed: feed, Agents: func() []string { return agents }}
	web := httptest.NewServer(b)
	t.Cleanup(web.Close)
	b.URL = web.URL + "/abc"
	return b, feed
}

// deliver sends a notification, and returns the status and Retry-After of the answer.
func deliver(t *testing.T, url, body string, headers ...string) (int, string) {
	t.Helper()
	r, err := http.NewRequest("POST", url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Set(name, value)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, resp.Body)
	_ = resp.Body.Close()
	return resp.StatusCode, resp.Header.Get("Retry-After")
}

// TestDeliveriesAreKept with what they say, and without their secrets.
func TestDeliveriesAreKept(t *testing.T) {
	b, feed := start(t)
	status, _ := deliver(t, b.URL+"/x", event, "X-A2A-Notification-Token: s3cret-token", "Authorization: Bearer abcdefgh", "X-A2A-Notification-Id: n1",
		"X-A2A-Notification-Sequence: 3", "X-A2A-Notification-Config: a%2Fb", "A2A-Version: 1.0")
	if status != 200 {
		t.Error(status)
	}
	deliver(t, b.URL, event, "X-A2A-Notification-Token: other", "X-A2A-Notification-Id: n1", "X-A2A-Notification-Config: a%2Fb")
	list := b.List()
	if len(list) != 2 || feed.Last() != 2 {
		t.Fatalf("%+v", list)
	}
	d := list[0]
	if d.Task != "t1" || d.Config != "a/b" || d.Notification != "n1" || d.Sequence != "3" || d.Version != "1.0" || d.State != "TASK_STATE_WORKING" || d.Kind != "status" ||
		d.Token != Good || d.Signature.Check != Absent || d.Path != "/x" || d.Size != len(event) || d.Body != nil || d.Repeat {
		t.Errorf("%+v", d)
	}
	if text, _ := json.Marshal(list); strings.Contains(string(text), "s3cret") || strings.Contains(string(text), "abcdefgh") {
		t.Errorf("%s", text)
	}
	if list[1].Token != Bad || !list[1].Repeat {
		t.Errorf("%+v", list[1])
	}
	if one, ok := b.Get(1); !ok || string(one.Body) != event {
		t.Errorf("%s", one.Body)
	}
}

// TestDeliveriesAreRefusedOnPurpose as often as is asked for.
func TestDeliveriesAreRefusedOnPurpose(t *testing.T) {
	b, _ := start(t)
	w := httptest.NewRecorder()
	b.Serve(w, httptest.NewRequest("PUT", "/", strings.NewReader(`{"status":500,"left":2,"retryAfter":7}`)))
	if !strings.Contains(w.Body.String(), `"answer":{"status":500,"left":2,"retryAfter":7},"deliveries":[]`) {
		t.Error(w.Body)
	}
	for _, want := range []int{500, 500, 200} {
		status, retry := deliver(t, b.URL, event)
		if status != want || (retry == "7") != (want == 500) {
			t.Errorf("%d %q, not %d", status, retry, want)
		}
	}
	for _, wrong := range []string{`{"status":199}`, `{"status":600}`, `{"status":500,"left":-1}`, `{`} {
		w := httptest.NewRecorder()
		b.Serve(w, httptest.NewRequest("PUT", "/", strings.NewReader(wrong)))
		if w.Code != 400 {
			t.Errorf("%s: %d", wrong, w.Code)
		}
	}
	b.Serve(httptest.NewRecorder(), httptest.NewRequest("DELETE", "/", nil))
	if len(b.List()) != 0 {
		t.Error("what came is still there")
	}
}

// TestOnlyTheAddressIsAWebhook: paths that were guessed, and web pages, reach nothing.
func TestOnlyTheAddressIsAWebhook(t *testing.T) {
	b, _ := start(t)
	base := strings.TrimSuffix(b.URL, "/abc")
	for _, at := range []string{"/", "/ab", "/abd", "/abcd", "/x/abc"} {
		if status, _ := deliver(t, base+at, event); status != 404 {
			t.Errorf("%s: %d", at, status)
		}
	}
	if status, _ := deliver(t, b.URL, event, "Origin: http://evil.test"); status != 404 {
		t.Error(status)
	}
	if len(b.List()) != 0 {
		t.Errorf("%+v", b.List())
	}
}

// TestSignaturesAreChecked by the keys of the agents that are here, whatever address they sign in the name of.
func TestSignaturesAreChecked(t *testing.T) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := push.NewSigner("https://weather.example.com", key)
	if err != nil {
		t.Fatal(err)
	}
	agent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = w.Write(signer.Keys()) }))
	t.Cleanup(agent.Close)
	b, _ := start(t, agent.URL)
	jwt, err := signer.Sign(&runtime.Notification{Config: runtime.PushConfig{ID: "c1", URL: b.URL}, ID: "n1", TaskID: "t1", Sequence: "1", Body: []byte(event)})
	if err != nil {
		t.Fatal(err)
	}
	deliver(t, b.URL, event, "X-A2A-Notification-Signature: "+jwt)
	deliver(t, b.URL, event+" ", "X-A2A-Notification-Signature: "+jwt)
	deliver(t, b.URL, event, "X-A2A-Notification-Signature: x.y.z")
	list := b.List()
	if s := list[0].Signature; s.Check != Good || s.Issuer != "https://weather.example.com" || s.Agent != agent.URL {
		t.Errorf("%+v", s)
	}
	if s := list[1].Signature; s.Check != Bad || s.Why == "" {
		t.Errorf("%+v", s)
	}
	if s := list[2].Signature; s.Check != Bad || !strings.Contains(s.Why, "no JWT") {
		t.Errorf("%+v", s)
	}
}
