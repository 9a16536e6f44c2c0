package faults

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// start serves an agent that streams three events, behind a switch whose states come by the channel.
func start(t *testing.T) (*Switch, *httptest.Server, chan State) {
	t.Helper()
	states := make(chan State, 16)
	s := New(2, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "data: 1\n\ndata: 2\n\ndata: 3\n\n")
	}), func(s State) { states <- s })
	mux := http.NewServeMux()
	mux.HandleFunc("/faults", s.Serve)
	mux.Handle("/", s)
	web := httptest.NewServer(mux)
	t.Cleanup(web.Close)
	return s, web, states
}

func send(t *testing.T, method, url, body string) (int, string) {
	t.Helper()
	r, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, err.Error()
	}
	defer func() { _ = resp.Body.Close() }()
	said, err := io.ReadAll(resp.Body)
	if err != nil {
		return resp.StatusCode, string(said) + err.Error()
	}
	return resp.StatusCode, string(said)
}

// TestFaultsAreSwitchedOnAndOff for all calls, and say how many they hit.
func TestFaultsAreSwitchedOnAndOff(t *testing.T) {
	s, web, states := start(t)
	call := func() string {
		_, said := send(t, "POST", web.URL+"/rpc", `{"method":"message/stream"}`)
		return said
	}
	if said := call(); said != "data: 1\n\ndata: 2\n\ndata: 3\n\n" {
		t.Error(said)
	}
	if _, said := send(t, "PUT", web.URL+"/faults", `{"faults":[{"kind":"cut","with":"2:1"}]}`); !strings.Contains(said, `"is":"CutAfter(2).Times(1)","hits":0`) ||
		!strings.Contains(said, `"operations":["SendMessage"`) || !strings.Contains(said, `{"name":"delay","takes":"TIME"`) {
		t.Error(said)
	}
	<-states
	if said := call(); !strings.HasPrefix(said, "data: 1\n\ndata: 2\n\n") || !strings.Contains(said, "EOF") {
		t.Error(said)
	}
	if st := <-states; st.Agent != 2 || st.Faults[0].Hits != 1 {
		t.Errorf("%+v", st)
	}
	if said := call(); said != "data: 1\n\ndata: 2\n\ndata: 3\n\n" {
		t.Error(said)
	}
	if err := s.Set(nil); err != nil || len(s.State().Faults) != 0 {
		t.Error(err)
	}
}

// TestAFaultThatCannotBe changes nothing, and says why.
func TestAFaultThatCannotBe(t *testing.T) {
	s, web, _ := start(t)
	if err := s.Set([]Asked{{"status", "503"}}); err != nil {
		t.Fatal(err)
	}
	for body, want := range map[string]string{
		`{"faults":[{"kind":"cut","with":"x"}]}`:             `"x\" is no whole number`,
		`{"faults":[{"kind":"explode","with":"1"}]}`:         `no kind of fault \"explode\"`,
		`{"faults":[{"kind":"status","with":"200"}]}`:        `from 400 to 599`,
		`{"faults":[{"kind":"cut","with":"1@SendMessage"}]}`: `has no stream of events`,
		`{"faults":[` + strings.Repeat("{},", Most) + `{}]}`: `16 faults at once`,
		`{"faults":`: `not the JSON`,
	} {
		if code, said := send(t, "PUT", web.URL+"/faults", body); code != 400 || !strings.Contains(said, want) {
			t.Errorf("%s: %d %s", body, code, said)
		}
	}
	if st := s.State(); len(st.Faults) != 1 || st.Faults[0].Is != "Status(503)" {
		t.Errorf("%+v", st)
	}
}
