package server_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/a2agen/a2agen/a2a"
	"github.com/a2agen/a2agen/internal/a2awires"
	"github.com/a2agen/a2agen/internal/sse"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/server"
	"github.com/a2agen/a2agen/runtime/server/webhooks"
)

// polyglot serves one skill in several versions at /rpc.
func polyglot(t *testing.T, versions []string, opts ...server.Option) *agent {
	t.Helper()
	var interfaces []string
	for _, v := range versions {
		interfaces = append(interfaces, `{"url":"/rpc","protocolBinding":"JSONRPC","protocolVersion":"`+v+`"}`)
	}
	return polyglotCard(t, versions, `{"name":"Desk","description":"for tests","version":"1.0.0","supportedInterfaces":[`+strings.Join(interfaces, ",")+`],
		"capabilities":{"streaming":true},"securitySchemes":{"key":{"apiKeySecurityScheme":{"location":"header","name":"X-Key"}}},
		"securityRequirements":[{"schemes":{"key":{}}}],"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],
		"skills":[{"id":"desk","name":"Desk","description":"Answers.","tags":["travel"]}]}`, opts...)
}

func polyglotCard(t *testing.T, versions []string, source string, opts ...server.Option) *agent {
	t.Helper()
	p := a2awires.Protocol()
	p.Versions = slices.DeleteFunc(slices.Clone(p.Versions), func(v *runtime.Version) bool { return !slices.Contains(versions, v.Name) })
	card, err := p.DecodeCard([]byte(source))
	if err != nil {
		t.Fatal(err)
	}
	noon := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	opts = append([]server.Option{
		server.WithLogger(slog.New(slog.DiscardHandler)), server.WithClock(func() time.Time { return noon }), server.WithProxyIdentity(anybody),
		webhooks.Send(),
	}, opts...)
	s, err := server.New(server.Config{Protocol: p, Card: card, Skills: []server.Skill{run("desk", desk)}}, opts...)
	if err != nil {
		t.Fatal(err)
	}
	h := httptest.NewServer(s)
	web := &http.Client{Transport: &http.Transport{}}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
		web.CloseIdleConnections()
		h.Close()
	})
	return &agent{s, t, h.URL + "/rpc", web}
}

// anybody takes callers whatever the card demands.
func anybody(*http.Request) (string, error) { return "", nil }

// desk does what the message says. Resumed, it says what it was told.
func desk(ctx context.Context, t *server.Task) (string, error) {
	if t.Resumed() {
		return "Booked for " + t.Text() + ".", nil
	}
	switch t.Text() {
	case "hello":
		return "", t.Reply(runtime.Text("Good morning."))
	case "maps":
		town, coast := t.Stream("town"), t.Stream("coast")
		err := errors.Join(town.Part(runtime.Text("N")), coast.Part(runtime.Text("E")), town.Last(runtime.Text("S")), coast.Last(runtime.Text("W")))
		return "Two maps.", err
	case "forecast":
		return "Dry.", nil
	case "book":
		return "", t.Ask("For which day?")
	case "pay":
		return "", t.RequireAuth(server.AuthRequest{Prompt: "Whose card?"})
	case "wait":
		if err := t.Progress("Waiting."); err != nil {
			return "", err
		}
		<-ctx.Done()
		return "", context.Cause(ctx)
	}
	return "", t.Reject("No.")
}

// all are the versions of these tests.
var all = []string{"1.0", "0.3", "0.2", "0.1"}

var uuid = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}`)

// masker gives ids that the agent chose names in the order in which they come.
type masker map[string]string

func (m masker) mask(s string) string {
	return uuid.ReplaceAllStringFunc(s, func(id string) string {
		if m[id] == "" {
			m[id] = fmt.Sprintf("#%d", len(m)+1)
		}
		return m[id]
	})
}

// real puts the ids back.
func (m masker) real(s string) string {
	for id, name := range m {
		s = strings.ReplaceAll(s, `"`+name+`"`, `"`+id+`"`)
	}
	return s
}

// ask sends one request as a script has it, "[VERSION|?VERSION] METHOD [PARAMS]", and returns what comes back: the body, or the data of
// each event on a line of its own, without what is the same in all of them.
func (m masker) ask(a *agent, line string) string {
	a.t.Helper()
	first, rest, _ := strings.Cut(line, " ")
	at, header := *a, ""
	switch {
	case strings.HasPrefix(first, "?"):
		at.url += "?A2A-Version=" + first[1:]
	case strings.Trim(first, "0123456789.") == "":
		header = first
	default:
		rest = line
	}
	method, params, _ := strings.Cut(rest, " ")
	body := `{"jsonrpc":"2.0","id":1,"method":"` + method + `"`
	if params != "" {
		body += `,"params":` + m.real(params)
	}
	resp, text := at.post(body+"}", "A2A-Version: "+header, "Accept: application/json, text/event-stream")
	if resp.Header.Get("Content-Type") == sse.ContentType {
		var events []string
		for line := range strings.Lines(text) {
			if data, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "data: "); ok {
				events = append(events, data)
			}
		}
		text = strings.Join(events, "\n")
	}
	return m.mask(strings.ReplaceAll(text, `{"jsonrpc":"2.0","id":1,`, "{"))
}

// TestConversations holds a server of all versions to the conversations of testdata/versions.txt: "> " is what a client sends, "< " what it
// gets, each event of a stream on a line of its own.
func TestConversations(t *testing.T) {
	src, err := os.ReadFile("testdata/versions.txt")
	if err != nil {
		t.Fatal(err)
	}
	talks := strings.Split(string(src), "\n== ")[1:]
	for _, talk := range talks {
		name, script, _ := strings.Cut(talk, "\n")
		t.Run(name, func(t *testing.T) {
			a, m := polyglot(t, all), masker{}
			for _, turn := range strings.Split("\n"+script, "\n> ")[1:] {
				request, want, _ := strings.Cut(strings.TrimSpace(turn), "\n")
				want = strings.ReplaceAll(strings.TrimPrefix(want, "< "), "\n< ", "\n")
				if got := m.ask(a, request); got != want {
					t.Errorf("%s\ngot  %s\nwant %s", request, got, want)
				}
			}
		})
	}
}

// TestWhoWaitsForTheEnd: 0.3 unless it says otherwise, as its official servers do, and 0.1 always (T1).
func TestWhoWaitsForTheEnd(t *testing.T) {
	a, m := polyglot(t, all), masker{}
	first := m.ask(a, `message/send {"message":{"messageId":"m1","role":"user","parts":[{"kind":"text","text":"wait"}]},"configuration":{"blocking":false}}`)
	if !strings.Contains(first, `"state":"submitted"`) && !strings.Contains(first, `"state":"working"`) {
		t.Errorf("0.3 not blocking: %s", first)
	}
	for name, request := range map[string]string{
		"0.3 blocking":                 `message/send {"message":{"messageId":"m1","role":"user","parts":[{"kind":"text","text":"forecast"}]},"configuration":{"blocking":true}}`,
		"0.3 without a configuration":  `message/send {"message":{"messageId":"m1","role":"user","parts":[{"kind":"text","text":"forecast"}]}}`,
		"0.3 with a configuration":     `message/send {"message":{"messageId":"m1","role":"user","parts":[{"kind":"text","text":"forecast"}]},"configuration":{"historyLength":1}}`,
		"0.3 with a null for blocking": `message/send {"message":{"messageId":"m1","role":"user","parts":[{"kind":"text","text":"forecast"}]},"configuration":{"blocking":null}}`,
		"0.1":                          `tasks/send {"id":"t1","message":{"role":"user","parts":[{"type":"text","text":"forecast"}]}}`,
	} {
		if got := m.ask(a, request); !strings.Contains(got, `"state":"completed"`) {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// TestStreamsOfTwoVersionsFollowOneTask: each begins it for the other, and both see its end in their own words.
func TestStreamsOfTwoVersionsFollowOneTask(t *testing.T) {
	begin := map[string][2]string{
		"1.0": {"SendStreamingMessage", message("wait")},
		"0.3": {"message/stream", `{"message":{"kind":"message","messageId":"m1","role":"user","parts":[{"kind":"text","text":"wait"}]}}`},
		"0.1": {"tasks/sendSubscribe", `{"id":"t1","message":{"role":"user","parts":[{"type":"text","text":"wait"}]}}`},
	}
	subscribe := map[string]string{"1.0": "SubscribeToTask", "0.3": "tasks/resubscribe", "0.1": "tasks/resubscribe"}
	id := func(first map[string]any) string {
		return str(first, "task", "id") + str(first, "id")
	}
	last := map[string]func(map[string]any) bool{
		"1.0": func(e map[string]any) bool { return str(e, "statusUpdate", "status", "state") == "TASK_STATE_CANCELED" },
		"0.3": func(e map[string]any) bool {
			return str(e, "status", "state") == "canceled" && at(e, "final") == true && str(e, "kind") == "status-update"
		},
		"0.1": func(e map[string]any) bool {
			return str(e, "status", "state") == "canceled" && at(e, "final") == true && at(e, "kind") == nil
		},
	}
	for _, pair := range [][2]string{{"1.0", "0.3"}, {"0.3", "1.0"}, {"0.1", "1.0"}, {"1.0", "0.1"}, {"0.1", "0.3"}} {
		t.Run(pair[0]+" begins, "+pair[1]+" subscribes", func(t *testing.T) {
			a := polyglot(t, all)
			from, to := pair[0], pair[1]
			one := a.stream(begin[from][0], begin[from][1], "A2A-Version: "+from)
			task := id(one.next().result)
			two := a.stream(subscribe[to], `{"id":"`+task+`"}`, "A2A-Version: "+to)
			if got := id(two.next().result); got != task {
				t.Fatalf("subscribed to %q, not %q", got, task)
			}
			a.ok("tasks/cancel", `{"id":"`+task+`"}`, "A2A-Version: 0.3")
			for v, s := range map[string]*events{from: one, to: two} {
				if all := s.rest(); len(all) == 0 || !last[v](all[len(all)-1].result) {
					t.Errorf("the stream of %s ends with %v", v, all)
				}
			}
		})
	}
}

// TestASubscriptionOf03ToATaskThatWaitsStaysOpen until the next update with an end mark.
func TestASubscriptionOf03ToATaskThatWaitsStaysOpen(t *testing.T) {
	a := polyglot(t, all)
	task := str(a.ok("SendMessage", message("book")), "task", "id")
	s := a.stream("tasks/resubscribe", `{"id":"`+task+`"}`, "A2A-Version: 0.3")
	if got := str(s.next().result, "status", "state"); got != "input-required" {
		t.Fatalf("first state %q", got)
	}
	a.ok("SendMessage", message("Friday", `"taskId":"`+task+`"`))
	rest := s.rest()
	if n := len(rest); n != 3 || str(rest[0].result, "status", "state") != "working" || at(rest[n-1].result, "final") != true {
		t.Errorf("events %v", rest)
	}
}

// R122: a card promises no version that is not spoken.
func TestACardThatOffersAVersionWhichIsNotSpokenIsRefused(t *testing.T) {
	for url, refused := range map[string]bool{"/": true, "https://other.example/a2a": false} {
		text := strings.Replace(testCard, `"supportedInterfaces":[`, `"supportedInterfaces":[{"url":"`+url+`","protocolBinding":"JSONRPC","protocolVersion":"0.3"},`, 1)
		s, err := server.New(server.Config{Protocol: a2a.Protocol(), Card: readCard(t, text)})
		if refused != (err != nil && strings.Contains(err.Error(), `version 0.3 of the protocol at "/"`)) {
			t.Errorf("%s: %v", url, err)
		}
		if err == nil {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}
