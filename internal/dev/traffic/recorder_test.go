package traffic

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/a2agen/a2agen/internal/dev/live"
	"github.com/a2agen/a2agen/internal/frames"
	"github.com/a2agen/a2agen/spec"
)

// exchange has a handler answer a request over HTTP, and returns what was recorded.
func exchange(t *testing.T, l *Log, h http.HandlerFunc, r *http.Request) (Exchange, string) {
	t.Helper()
	s := httptest.NewServer(l.Record(3, h))
	defer s.Close()
	r.URL.Scheme, r.URL.Host = "http", s.Listener.Addr().String()
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	body, _ := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	s.Close() // waits for the handler
	l.mu.Lock()
	id := l.last
	l.mu.Unlock()
	x, ok := l.Get(id)
	if !ok {
		t.Fatal("nothing was recorded")
	}
	return x, string(body)
}

func request(method, path, body string) *http.Request {
	r, err := http.NewRequest(method, "http://x"+path, strings.NewReader(body))
	if err != nil {
		panic(err)
	}
	r.Header.Set("Content-Type", "application/json")
	return r
}

func echo(answer string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, answer)
	}
}

// TestACallIsKeptAsItCame byte for byte, with what it says in brief.
func TestACallIsKeptAsItCame(t *testing.T) {
	l := &Log{Feed: &live.Feed{}}
	const asked = `{"jsonrpc":"2.0", "id":1,"method":"message/send","params":{"message":{"contextId":"c","metadata":{"skillId":"forecast"},"parts":[{"kind":"text","text":"hi"}]}}}`
	const said = `{"jsonrpc":"2.0","id":1,"result":{"kind":"task","id":"t","contextId":"c", "status":{"state":"completed"}}}`
	r := request("POST", "/rpc?tenant=acme", asked)
	r.Header.Set("User-Agent", "weather-client/1 (x)")
	r.Header.Set("A2A-Version", "0.3")
	x, got := exchange(t, l, echo(said), r)
	if got != said || string(x.Request.Bytes) != asked || string(x.Response.Bytes) != said {
		t.Errorf("%s\n%s\n%s", got, x.Request.Bytes, x.Response.Bytes)
	}
	x.Begun, x.FirstMS, x.TookMS = x.Begun.UTC(), 0, 0
	want := Summary{
		ID: 1, Agent: 3, Caller: "weather-client/1", Begun: x.Begun, Method: "POST", Path: "/rpc?tenant=acme", Proto: "HTTP/1.1", Operation: "SendMessage", Called: "message/send",
		Binding: "JSONRPC", Version: "0.3", Task: "t", Context: "c", Skill: "forecast", State: Done, Status: 200, Outcome: "completed", Sent: int64(len(asked)), Received: int64(len(said)),
	}
	if x.Summary != want {
		t.Errorf("%+v\nwant %+v", x.Summary, want)
	}
	items, _, err := l.Feed.Next(t.Context(), 0)
	if err != nil || len(items) != 3 || items[2].What.(*Summary).State != Done {
		t.Errorf("%d changes, %v", len(items), err)
	}
}

// TestEventsAreKeptOneByOne with what they say, whatever the pieces they come in.
func TestEventsAreKeptOneByOne(t *testing.T) {
	blocks := []string{
		"id: 1\ndata: {\"task\":{\"id\":\"t\",\"contextId\":\"c\",\"status\":{\"state\":\"TASK_STATE_WORKING\"}}}\n\n", ": ping\n\n",
		"id: 2\ndata: {\"artifactUpdate\":{\"taskId\":\"t\",\"append\":true,\"lastChunk\":true,\"artifact\":{\"artifactId\":\"a\",\"parts\":[{\"text\":\"one\"},{\"data\":{\"n\":1}},{\"url\":\"http://x\"}]}}}\n\n",
		"id: 3\ndata: {\"statusUpdate\":{\"taskId\":\"t\",\"status\":{\"state\":\"TASK_STATE_COMPLETED\",\"message\":{\"parts\":[{\"text\":\"done\"}]}}}}\n\n",
	}
	x, got := exchange(t, &Log{}, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		all := strings.Join(blocks, "")
		for len(all) > 0 {
			n := min(7, len(all))
			_, _ = io.WriteString(w, all[:n])
			_ = http.NewResponseController(w).Flush()
			all = all[n:]
		}
	}, request("POST", "/message:stream", "{}"))
	if got != strings.Join(blocks, "") || len(x.Events) != len(blocks) || x.Outcome != "TASK_STATE_COMPLETED" || x.Task != "t" || x.Received != int64(len(got)) {
		t.Fatalf("%q\n%+v", got, x)
	}
	for i, e := range x.Events {
		if string(e.Bytes) != blocks[i] || e.N != i+1 || e.Size != len(blocks[i]) {
			t.Errorf("%+v", e)
		}
	}
	if d := x.Events[2].Digest; d != (Digest{Kind: "artifact", Task: "t", Artifact: "a", Append: true, Last: true, Text: `one {"n":1} (file)`}) {
		t.Errorf("%+v", d)
	}
	if x.Events[1].Kind != "comment" || x.Events[1].Text != "ping" || x.Events[3].Text != "done" || x.Events[3].ID != "3" {
		t.Errorf("%+v", x.Events)
	}
}

// TestNoSecretIsKept wherever it is said: in headers, paths, members of JSON, and again in answers and events.
func TestNoSecretIsKept(t *testing.T) {
	r := request("POST", "/rpc?key=Squery1&tenant=acme", `{"a":"\"token\":","params":{"pushNotificationConfig":{"url":"https://u:Spass11@x.test/?sig=Ssign11","to\u006ben" : "Stoken1","authentication":{"schemes":["Bearer"],"credentials":"Screds1"}}},"echo":"Stoken1","cut":{"password":"Scut111`)
	r.Header.Set("Authorization", "Bearer Sbearer")
	r.Header.Set("X-Weather-Pass", "Sheader")
	r.Header.Set("Cookie", "a=Scookie; b=2")
	x, _ := exchange(t, &Log{}, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Set-Cookie", "a=Sanswer")
		w.Header().Set("X-Said", "Sheader again")
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "data: {\"token\":\ndata: \"Slines1\",\"text\":\"you said Sbearer and Scookie\"}\n\n")
	}, r)
	kept := fmt.Sprintf("%+v %s %s %s", x, x.Request.Bytes, x.Events[0].Bytes, x.Header)
	all, _ := json.Marshal(x)
	for _, secret := range []string{"Squery1", "Spass11", "Ssign11", "Stoken1", "Screds1", "Sbearer", "Sheader", "Scookie", "Sanswer", "Slines1", "Scut111"} {
		if strings.Contains(kept, secret) || bytes.Contains(all, []byte(secret)) || bytes.Contains(all, []byte(base64.StdEncoding.EncodeToString([]byte(secret))[:8])) {
			t.Errorf("%s is kept:\n%s", secret, kept)
		}
	}
	if got := x.RequestHeader.Get("Authorization"); got != "Bearer [masked]" {
		t.Error(got)
	}
	if !strings.Contains(string(x.Request.Bytes), `{"a":"\"token\":","params":{"pushNotificationConfig":{"url":"https://`) || !strings.Contains(string(x.Request.Bytes), `"schemes":["Bearer"]`) {
		t.Errorf("more than secrets is masked: %s", x.Request.Bytes)
	}
	form := request("POST", "/token", "client_secret=Sform11")
	form.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if x, _ := exchange(t, &Log{}, echo("{}"), form); x.Request.Bytes != nil || !x.Request.Cut {
		t.Errorf("%+v", x.Request)
	}
}

// TestMessagesOfGRPCAreReadByTheirDefinition and their secrets masked in the bytes, too.
func TestMessagesOfGRPCAreReadByTheirDefinition(t *testing.T) {
	doc, err := spec.ShippedProto("1.0")
	if err != nil {
		t.Fatal(err)
	}
	d, err := NewDefinitions(doc.Descriptor)
	if err != nil {
		t.Fatal(err)
	}
	const path = "/lf.a2a.v1.A2AService/CreateTaskPushNotificationConfig"
	m := dynamicpb.NewMessage(d.method(path).Input())
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		if f := fields.Get(i); string(f.Name()) == "token" || string(f.Name()) == "task_id" {
			m.Set(f, protoreflect.ValueOfString(map[string]string{"token": "Stoken1", "task_id": "t"}[string(f.Name())]))
		}
	}
	raw, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	frame := append([]byte{0, 0, 0, 0, byte(len(raw))}, raw...)
	l := &Log{}
	r := request("POST", path, string(frame))
	r.Header.Set("Content-Type", "application/grpc")
	answer := func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/grpc")
		_, _ = w.Write(frame)
		w.Header().Set(http.TrailerPrefix+"Grpc-Status", "0")
	}
	if x, _ := exchange(t, l, answer, r); x.Request.Bytes != nil || !x.Request.Cut {
		t.Errorf("without a definition nobody knows what is secret: %q", x.Request.Bytes)
	}
	l.Define(d)
	r = request("POST", path, string(frame))
	r.Header.Set("Content-Type", "application/grpc")
	x, got := exchange(t, l, answer, r)
	want := strings.Replace(string(frame), "Stoken1", "*******", 1)
	if got != string(frame) || string(x.Request.Bytes) != want || string(x.Response.Bytes) != want {
		t.Errorf("%q\n%q", x.Request.Bytes, x.Response.Bytes)
	}
	if len(x.Request.JSON) != 1 || strings.ReplaceAll(string(x.Request.JSON[0]), " ", "") != `{"taskId":"t","token":"[masked]"}` {
		t.Errorf("%s", x.Request.JSON)
	}
	if x.Called != "CreateTaskPushNotificationConfig" || x.Binding != "GRPC" || x.Trailer.Get("Grpc-Status") != "0" || x.Outcome == "error" {
		t.Errorf("%+v", x.Summary)
	}
}

// TestMemoryIsBounded over many calls, large ones, and streams that do not end: the oldest make way.
func TestMemoryIsBounded(t *testing.T) {
	l := &Log{}
	big := strings.Repeat("x", 8<<20)
	for range 10 {
		w := httptest.NewRecorder()
		l.Record(0, echo(big)).ServeHTTP(w, httptest.NewRequest("GET", "/", nil))
		if l.Bytes() > MaxBytes {
			t.Fatalf("%d bytes", l.Bytes())
		}
	}
	if list := l.List(0, 100); len(list) != 7 || list[len(list)-1].ID != 10 {
		t.Errorf("%d large calls are kept", len(list))
	}
	small := l.Record(0, echo("{}"))
	for range MaxCalls + 100 {
		small.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil))
	}
	if list := l.List(0, 2*MaxCalls); len(list) != MaxCalls || list[0].ID != 111 {
		t.Errorf("%d calls are kept, from %d", len(list), list[0].ID)
	}
	endless := l.Record(0, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for range MaxEvents + 1000 {
			_, _ = io.WriteString(w, "data: 0123456789012345678901234567890123456789012345678901234567890123456789\n\n")
		}
	}))
	endless.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil))
	last := l.List(0, 1)[0]
	if x, _ := l.Get(last.ID); len(x.Events) != MaxEvents || x.EventN != MaxEvents+1000 {
		t.Errorf("%d of %d events are kept", len(x.Events), x.EventN)
	}
	l.Clear()
	if l.Bytes() != 0 || len(l.List(0, 1)) != 0 {
		t.Errorf("%d bytes after clearing", l.Bytes())
	}
}

// TestACallThatBreaksOffSaysSo.
func TestACallThatBreaksOffSaysSo(t *testing.T) {
	l := &Log{}
	func() {
		defer func() { _ = recover() }()
		l.Record(0, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { panic(http.ErrAbortHandler) })).
			ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil))
	}()
	if s := l.List(0, 1)[0]; s.State != Broken || s.Problem != "the answer broke off" {
		t.Errorf("%+v", s)
	}
}

// TestACallerThatLeavesMakesNoError: clients of gRPC cancel a stream when they have its last event.
func TestACallerThatLeavesMakesNoError(t *testing.T) {
	l := &Log{}
	ctx, leave := context.WithCancel(t.Context())
	r := httptest.NewRequestWithContext(ctx, "POST", "/lf.a2a.v1.A2AService/GetTask", nil)
	r.Header.Set("Content-Type", "application/grpc")
	l.Record(0, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { leave() })).ServeHTTP(httptest.NewRecorder(), r)
	if s := l.List(0, 1)[0]; s.Outcome != "" {
		t.Errorf("%+v", s)
	}
}

// TestAnEventOverTheLimitIsSaid: it passes, and nobody wonders where it is.
func TestAnEventOverTheLimitIsSaid(t *testing.T) {
	x, got := exchange(t, &Log{}, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "data: {\"a\":1}\n\n")
		_, _ = w.Write(bytes.Repeat([]byte("x"), frames.MaxEvent))
		_, _ = io.WriteString(w, "x\n\ndata: {\"a\":2}\n\n")
	}, request("POST", "/", `{}`))
	if len(got) < frames.MaxEvent || x.EventN != 1 || x.State != Done || !strings.Contains(x.Problem, "an event is over 24 MiB: it passed") {
		t.Errorf("%d bytes passed, %+v", len(got), x.Summary)
	}
}

// TestAFaultIsSaidOfTheCallItHits while that goes on.
func TestAFaultIsSaidOfTheCallItHits(t *testing.T) {
	l := &Log{}
	x, _ := exchange(t, l, func(w http.ResponseWriter, r *http.Request) {
		Hit(r.Context(), "Delay(1s)")
		Hit(r.Context(), "CutAfter(3)")
		if s := l.List(0, 1); s[0].Faults != "Delay(1s), CutAfter(3)" || s[0].State != Running {
			t.Errorf("%+v", s[0])
		}
	}, request("POST", "/", `{}`))
	if x.Faults != "Delay(1s), CutAfter(3)" {
		t.Errorf("%+v", x.Summary)
	}
	Hit(t.Context(), "Delay(1s)") // of a request that is not recorded
}
