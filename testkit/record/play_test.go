package record_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/a2agen/a2agen/a2a"
	"github.com/a2agen/a2agen/testkit/record"
)

// echo answers JSON-RPC requests with their parameters, and a number.
func echo() handler {
	var mu sync.Mutex
	n := 0
	return func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		_, after, _ := strings.Cut(string(body), `"params":`)
		mu.Lock()
		defer mu.Unlock()
		n++
		answer(w, "1", fmt.Sprintf(`{"jsonrpc":"2.0","id":$ID,"result":{"n":%d,"heard":%s}`, n, after))
	}
}

// request is a JSON-RPC request.
func request(id int, method, params string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, id, method, params)
}

const fresh1, fresh2 = "8a7c04f0-5b7e-4c8e-9e0f-7b0f5cf5d001", "01ARZ3NDEKTSV4RRFFQ69G5FAV"

// TestFreshIDsMatch: an id that the client makes anew stands for the recorded one, in what it says later and in what
// it is answered. One that a person has thought of does not.
func TestFreshIDsMatch(t *testing.T) {
	file := save(t, echo(), func(over http.RoundTripper) {
		for _, params := range []string{`{"message":{"messageId":"` + fresh1 + `","text":"re ` + fresh1 + `"}}`, `{"message":{"messageId":"m-1","taskId":"` + fresh1 + `"}}`} {
			if _, err := post(t, over, "/", request(1, "SendMessage", params)); err != nil {
				t.Fatal(err)
			}
		}
	})
	if written := text(t, file); strings.Contains(written, fresh1) || !strings.Contains(written, "re message-1") || !strings.Contains(written, `"m-1"`) {
		t.Errorf("written:\n%s", written)
	}
	p := open(t, file)
	got, err := post(t, p, "/", request(7, "SendMessage", `{"message":{"messageId":"`+fresh2+`","text":"re `+fresh2+`"}}`))
	if want := `{"id":7,"jsonrpc":"2.0","result":{"heard":{"message":{"messageId":"` + fresh2 + `","text":"re ` + fresh2 + `"}},"n":1}}`; got != want {
		t.Errorf("got %s, %v", got, err)
	}
	for _, params := range []string{`{"message":{"messageId":"m-2","taskId":"` + fresh2 + `"}}`, `{"message":{"messageId":"m-1","taskId":"` + fresh1 + `"}}`} {
		if _, err := post(t, p, "/", request(8, "SendMessage", params)); err == nil {
			t.Errorf("%s matches", params)
		}
	}
	if _, err := post(t, p, "/", request(8, "SendMessage", `{"message":{"messageId":"m-1","taskId":"`+fresh2+`"}}`)); err != nil || p.Unused() != nil {
		t.Error(err, p.Unused())
	}
}

// TestOnlyIDsOfTheClientMatchOthers: that of a task, which the agent makes, must be the recorded one. What the agent
// says that is like a name of an id is none.
func TestOnlyIDsOfTheClientMatchOthers(t *testing.T) {
	answered := `{"type":"response","n":%d,"status":200,"body":{"text":"message-2 waits","task":{"id":"task-1","status":{}}}}` + "\n"
	p := open(t, write(t, headLine+`{"type":"request","n":1,"method":"POST","path":"/","body":{"messageId":"message-1"}}`+"\n"+fmt.Sprintf(answered, 1)+
		`{"type":"request","n":2,"method":"POST","path":"/","body":{"messageId":"message-2","taskId":"task-1"}}`+"\n"+fmt.Sprintf(answered, 2)+
		`{"type":"request","n":3,"method":"GET","path":"/tasks/task-2"}`+"\n"+fmt.Sprintf(answered, 3)))
	const third = "01ARZ3NDEKTSV4RRFFQ69G5FBB"
	if got, err := post(t, p, "/", `{"messageId":"`+fresh1+`"}`); err != nil || !strings.Contains(got, "message-2 waits") {
		t.Error(got, err)
	}
	if _, err := post(t, p, "/", `{"messageId":"`+fresh2+`","taskId":"`+third+`"}`); err == nil {
		t.Error("another task matches")
	}
	if got, err := post(t, p, "/", `{"messageId":"`+fresh2+`","taskId":"task-1"}`); err != nil || !strings.Contains(got, fresh2+" waits") {
		t.Error(got, err)
	}
	if _, err := p.RoundTrip(must(http.NewRequest(http.MethodGet, agentURL+"/tasks/"+third, nil))); err != nil {
		t.Errorf("a task that the client knew before the recording: %v", err)
	}
}

// TestEqualRequestsAreAnsweredInOrder, and those that are made at once are answered each by its own.
func TestEqualRequestsAreAnsweredInOrder(t *testing.T) {
	file := save(t, echo(), func(over http.RoundTripper) {
		for i := range 20 {
			_, _ = post(t, over, "/", request(i, "GetTask", fmt.Sprintf(`{"id":"t","historyLength":%d}`, i/2)))
		}
	})
	p := open(t, file)
	var all sync.WaitGroup
	for i := range 10 {
		all.Go(func() {
			for n := range 2 {
				got, err := post(t, p, "/", request(1, "GetTask", fmt.Sprintf(`{"id":"t","historyLength":%d}`, i)))
				if want := fmt.Sprintf(`"n":%d}`, 2*i+n+1); err != nil || !strings.Contains(got, want) {
					t.Errorf("%d: %s, %v", i, got, err)
				}
			}
		})
	}
	all.Wait()
	_, err := post(t, p, "/", request(1, "GetTask", `{"id":"t","historyLength":3}`))
	if err == nil || !strings.HasSuffix(err.Error(), "has no request like this POST / GetTask: it was recorded 2×, and is made once more") {
		t.Errorf("a third one: %v", err)
	}
}

// TestARequestWithoutAMatchShowsTheNearest, and says each reason why there can be none.
func TestARequestWithoutAMatchShowsTheNearest(t *testing.T) {
	file := save(t, echo(), func(over http.RoundTripper) {
		_, _ = post(t, over, "/", request(1, "SendMessage", `{"message":{"messageId":"`+fresh1+`","parts":[{"text":"Rome"}],"role":"ROLE_USER"}}`))
		_, _ = post(t, over, "/", request(2, "SendMessage", `{"message":{"messageId":"m","parts":[{"text":"Oslo"}]}}`))
		_, _ = post(t, over, "/", request(2, "GetTask", `{"id":"t-1"}`))
	})
	p := open(t, file, record.Command("go test -record"))
	_, err := post(t, p, "/", request(9, "SendMessage", `{"message":{"messageId":"`+fresh2+`","parts":[{"text":"Paris"}],"role":"ROLE_USER"}}`))
	var m *record.MismatchError
	if !errors.As(err, &m) || m.TryLater() || m.Line != 2 {
		t.Fatalf("%+v", err)
	}
	want := strings.ReplaceAll(`CALLER: FILE has no request like this POST / SendMessage; the nearest is in line 2
FILE:2 (-) and this request (+):
	        "parts": [
	          {
	-           "text": "Rome"
	+           "text": "Paris"
	          }
	        ],
If the change is meant, record again: go test -record`, "FILE", file)
	if want = strings.Replace(want, "CALLER", m.Caller, 1); m.Details() != want || !strings.HasPrefix(m.Caller, "harness_test.go:") {
		t.Errorf("got\n%s\nwant\n%s", m.Details(), want)
	}
	if _, err = post(t, p, "/message:send", `{"message":{}}`); err == nil || !strings.Contains(err.Error(), `made over HTTP+JSON, and the recording over JSONRPC; rpc.Prefer("JSONRPC") may help`) {
		t.Error(err)
	}
	if len(p.Mismatches()) != 2 || p.Unused() == nil {
		t.Errorf("%d mismatches, unused: %v", len(p.Mismatches()), p.Unused())
	}
}

// TestAnotherVersionIsSaid: a client that speaks another version than the recording.
func TestAnotherVersionIsSaid(t *testing.T) {
	versioned := func(over http.RoundTripper, version, method string) error {
		req := must(http.NewRequest(http.MethodPost, agentURL, strings.NewReader(request(1, method, `{}`))))
		req.Header.Set("A2A-Version", version)
		_, err := over.RoundTrip(req)
		return err
	}
	file := save(t, echo(), func(over http.RoundTripper) { _ = versioned(over, "0.3", "message/send") })
	err := versioned(open(t, file), "1.0", "SendMessage")
	if err == nil || !strings.HasSuffix(err.Error(), "it is of version 1.0 of the protocol, and the recording of 0.3") {
		t.Error(err)
	}
}

// TestWhatIsNotAskedForIsAnError, unless that is allowed. A card may be fetched as often as one likes.
func TestWhatIsNotAskedForIsAnError(t *testing.T) {
	file := save(t, func(w http.ResponseWriter, r *http.Request) { answer(w, "1", card("")) }, func(over http.RoundTripper) {
		dial(t, agentURL, over)
		for i := range 12 {
			_, _ = post(t, over, "/", request(1, "GetTask", fmt.Sprintf(`{"id":"t%d"}`, i)))
		}
	})
	p := open(t, file, record.Command("go test -record"))
	err := p.Unused()
	if err == nil || !strings.HasPrefix(err.Error(), "12 recorded requests were not made; record again: go test -record, or allow it by record.Lenient():\n\t"+file+":4: POST / GetTask\n") ||
		!strings.HasSuffix(err.Error(), "\n\tand 2 more") {
		t.Error(err)
	}
	if err := open(t, file, record.Lenient()).Unused(); err != nil {
		t.Error(err)
	}
	for range 3 {
		dial(t, "https://elsewhere.test", p)
	}
	if len(p.Mismatches()) != 0 {
		t.Error(p.Mismatches()[0])
	}
}

// TestIgnoredMembersDoNotCount, whether they are there or not.
func TestIgnoredMembersDoNotCount(t *testing.T) {
	file := save(t, echo(), func(over http.RoundTripper) {
		_, _ = post(t, over, "/", request(1, "SendMessage", `{"order":"17","traceparent":"00-1-1","at":1}`))
	})
	if _, err := post(t, open(t, file, record.Ignore("order")), "/", request(1, "SendMessage", `{"at":1,"order":{"no":18}}`)); err != nil {
		t.Error(err)
	}
	if _, err := post(t, open(t, file), "/", request(1, "SendMessage", `{"at":1,"order":"18"}`)); err == nil {
		t.Error("an order that is not ignored does not count")
	}
}

// events answers a stream.
func events(w http.ResponseWriter, cut bool, list ...string) {
	w.Header().Set("Content-Type", "text/event-stream")
	if cut {
		w.Header().Set("Cut", "1")
	}
	for _, e := range list {
		_, _ = io.WriteString(w, e)
	}
}

// event is one of a stream.
func event(id, result string) string {
	return "id: " + id + "\ndata: {\"jsonrpc\":\"2.0\",\"id\":$ID,\"result\":" + result + "}\n\n"
}

const streamed = "b7c04f05-5b7e-4c8e-9e0f-7b0f5cf5d777"

// TestACutStreamIsCutAgainAndTakenUp where it was: at the event with the id that the client sends.
func TestACutStreamIsCutAgainAndTakenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		task := `{"task":{"id":"` + streamed + `","contextId":"c","status":{"state":"TASK_STATE_WORKING"}}}`
		chunk := `{"artifactUpdate":{"taskId":"` + streamed + `","contextId":"c","artifact":{"artifactId":"a","parts":[{"text":"sun"}]}}}`
		done := `{"statusUpdate":{"taskId":"` + streamed + `","contextId":"c","status":{"state":"TASK_STATE_COMPLETED"}}}`
		var asked []string
		agent := handler(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodGet {
				answer(w, "", card(""))
				return
			}
			body, _ := io.ReadAll(r.Body)
			asked = append(asked, r.Header.Get("Last-Event-ID"))
			_, id, _ := strings.Cut(string(body), `"id":`)
			id, _, _ = strings.Cut(id, ",")
			if len(asked) == 1 {
				events(w, true, ": hello\n\n", strings.ReplaceAll(event(streamed+":1", task), "$ID", id), "retry: 1\ndata: {\"half\":")
				return
			}
			events(w, false, strings.ReplaceAll(event(streamed+":2", chunk)+event(streamed+":3", done), "$ID", id))
		})
		got := ""
		talk := func(over http.RoundTripper) {
			got = ""
			c := dial(t, agentURL, over)
			for e, err := range c.SendStreamingMessage(t.Context(), &a2a.SendMessageRequest{Message: a2a.NewMessage(a2a.RoleUser, a2a.Text("sun?"))}) {
				got += fmt.Sprintf("%T %v;", e, err)
			}
		}
		file := save(t, agent, talk)
		want := got
		p := open(t, file)
		talk(p)
		if got != want || strings.Count(got, ";") != 3 || p.Unused() != nil || len(p.Mismatches()) > 0 {
			t.Errorf("got %s, want %s: %v", got, want, p.Unused())
		}
		if len(asked) != 2 || asked[1] != streamed+":1" || !strings.Contains(text(t, file), `"Last-Event-ID":"event-1"`) {
			t.Errorf("asked for %q:\n%s", asked, text(t, file))
		}
	})
}

// TestAStreamThatTheClientLeftStaysOpen until the client leaves it again.
func TestAStreamThatTheClientLeftStaysOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		open1, ready := io.Pipe()
		agent := roundTrip(func(r *http.Request) (*http.Response, error) {
			go func() { _, _ = io.WriteString(ready, "data: 1\n\n") }()
			return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: open1, Request: r}, nil
		})
		watch := func(over http.RoundTripper) (string, error) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			resp, err := over.RoundTrip(must(http.NewRequestWithContext(ctx, http.MethodPost, agentURL, nil)))
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			b := make([]byte, 100)
			n, _ := io.ReadAtLeast(resp.Body, b, 9)
			closed := make(chan error)
			go func() {
				_, err := resp.Body.Read(make([]byte, 1))
				closed <- err
			}()
			synctest.Wait()
			select {
			case err := <-closed:
				t.Errorf("it ended by itself: %v", err)
			default:
			}
			if over, played := over.(*record.Player); played {
				_ = over
				cancel()
				return string(b[:n]), <-closed
			}
			_ = resp.Body.Close()
			return string(b[:n]), <-closed
		}
		r := record.NewRecorder(record.Over(agent))
		if got, err := watch(r); got != "data: 1\n\n" || err == nil {
			t.Error(got, err)
		}
		file := t.TempDir() + "/r"
		if err := r.Save(file); err != nil {
			t.Fatal(err)
		}
		if got, err := watch(open(t, file)); got != "data: 1\n\n" || !errors.Is(err, context.Canceled) {
			t.Error(got, err)
		}
	})
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// TestAConnectionThatFailedFailsAgain in the same way, so that a client does what it did.
func TestAConnectionThatFailedFailsAgain(t *testing.T) {
	for how, fault := range map[string]error{"unreached": &net.OpError{Op: "dial", Err: errors.New("refused")}, "cut": io.ErrUnexpectedEOF} {
		r := record.NewRecorder(record.Over(roundTrip(func(*http.Request) (*http.Response, error) { return nil, fault })))
		if _, err := post(t, r, "/", "{}"); err != fault {
			t.Error(err)
		}
		lines, err := r.Lines()
		if err != nil || !strings.HasSuffix(string(lines), `{"type":"end","n":1,"how":"`+how+`"}`+"\n") {
			t.Errorf("%s, %v", lines, err)
		}
		file := t.TempDir() + "/r"
		if err := r.Save(file); err != nil {
			t.Fatal(err)
		}
		_, err = post(t, open(t, file), "/", "{}")
		var op *net.OpError
		if reached := !errors.As(err, &op); reached != (how == "cut") || err == nil {
			t.Errorf("%s: %v", how, err)
		}
	}
}

// TestOtherBodiesAreKept: what is no JSON, and bytes.
func TestOtherBodiesAreKept(t *testing.T) {
	for name, body := range map[string]string{"text": "not\nfound", "bytes": "\xff\x00", "null": "null", "nothing": "", "two values": "{} {}", "a number": "1.50", "html": "<a>&"} {
		agent := handler(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusTeapot)
			_, _ = io.WriteString(w, body)
		})
		file := save(t, agent, func(over http.RoundTripper) { _, _ = post(t, over, "/", body) })
		if got, err := post(t, open(t, file), "/", body); got != body || err != nil {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

// TestAnAnswerThatWasNotReadIsAnError for a client that reads it: nobody knows what it was.
func TestAnAnswerThatWasNotReadIsAnError(t *testing.T) {
	file := save(t, echo(), func(over http.RoundTripper) {
		_, _ = over.RoundTrip(must(http.NewRequest(http.MethodPost, agentURL, nil)))
	})
	if _, err := post(t, open(t, file), "", ""); err == nil || !strings.HasSuffix(err.Error(), "/recording.jsonl:2: the client read no more of this answer when it was recorded") {
		t.Error(err)
	}
}
