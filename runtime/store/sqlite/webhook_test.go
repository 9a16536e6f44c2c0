package sqlite

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/a2agen/a2agen/internal/a2awires"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/server"
	"github.com/a2agen/a2agen/runtime/server/webhooks"
)

const pushCard = `{"name":"Test","description":"for tests","version":"1","supportedInterfaces":[
	{"url":"/","protocolBinding":"JSONRPC","protocolVersion":"1.0"},{"url":"/","protocolBinding":"JSONRPC","protocolVersion":"0.3"}],
	"capabilities":{"pushNotifications":true},"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],"skills":[]}`

// instance is an agent on a file, as it is from one start to the end.
func instance(t *testing.T, path string) (*Store, *server.Server) {
	t.Helper()
	p := a2awires.Protocol()
	s, err := Open(path, p, Options{})
	if err != nil {
		t.Fatal(err)
	}
	card, err := p.DecodeCard([]byte(pushCard))
	if err != nil {
		t.Fatal(err)
	}
	talk := server.Skill{ID: "talk", Run: func(_ context.Context, c *server.Task, _ any) ([]byte, error) {
		w := c.Stream("story")
		for _, word := range strings.Fields("once upon a time") {
			if err := w.Part(runtime.Text(word)); err != nil {
				return nil, err
			}
		}
		return nil, w.Close()
	}}
	a, err := server.New(server.Config{Protocol: p, Card: card, Skills: []server.Skill{talk}}, server.WithStore(s),
		webhooks.Send(), server.WithPushTargets("127.0.0.1"), server.WithLogger(slog.New(slog.DiscardHandler)))
	if err != nil {
		t.Fatal(err)
	}
	return s, a
}

// A process that ends in the middle of a delivery, with or without a word, costs a repeat at most: the next one goes on
// at
// once, and tells the rest in order. Before 1.0 it shows the task as it was.
func TestPushNotificationsGoOnAfterTheProcess(t *testing.T) {
	for _, version := range []string{"1.0", "0.3"} {
		for _, killed := range []bool{true, false} {
			t.Run(version+map[bool]string{true: " killed", false: " ended"}[killed], func(t *testing.T) {
				goesOn(t, version, killed)
			})
		}
	}
}

func goesOn(t *testing.T, version string, killed bool) {
	var mu sync.Mutex
	var bodies, ids []string
	begun, ended, hold := make(chan struct{}), make(chan struct{}), make(chan struct{})
	hook := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		defer mu.Unlock()
		bodies, ids = append(bodies, string(body)), append(ids, r.Header.Get(runtime.PushIDHeader))
		if len(bodies) == 1 {
			close(begun)
			mu.Unlock()
			<-hold
			mu.Lock()
		}
		if strings.Contains(string(body), "ompleted") || strings.Contains(string(body), "COMPLETED") {
			close(ended)
		}
	}))
	defer hook.Close()
	path := filepath.Join(t.TempDir(), "tasks.db")
	s, a := instance(t, path)
	send := `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"x"}]},
		"configuration":{"taskPushNotificationConfig":{"url":"` + hook.URL + `"}}}}`
	if version == "0.3" {
		send = `{"jsonrpc":"2.0","id":1,"method":"message/send","params":{"message":{"kind":"message","messageId":"m","role":"user",
			"parts":[{"kind":"text","text":"x"}]},"configuration":{"pushNotificationConfig":{"url":"` + hook.URL + `"}}}}`
	}
	r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(send))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("A2A-Version", version)
	answer := httptest.NewRecorder()
	a.ServeHTTP(answer, r)
	if !strings.Contains(answer.Body.String(), "ompleted") && !strings.Contains(answer.Body.String(), "COMPLETED") {
		t.Fatal(answer.Body)
	}
	<-begun
	if killed {
		_ = s.Close() // what the server says from now on is not heard
	}
	_ = a.Close()
	_ = s.Close()
	close(hold)
	s, a = instance(t, path)
	defer func() { _ = a.Close(); _ = s.Close() }()
	select {
	case <-ended:
	case <-time.After(20 * time.Second):
		t.Error("the end does not come")
	}
	mu.Lock()
	defer mu.Unlock()
	if len(ids) < 3 || ids[0] != ids[1] || bodies[0] != bodies[1] {
		t.Fatalf("the first is not repeated as it was: %q", bodies)
	}
	told := ""
	for _, body := range bodies[1:] {
		for _, word := range strings.Fields("once upon a time") {
			if strings.Contains(body, `"`+word+`"`) {
				told += word + " "
			}
		}
	}
	if version == "1.0" && told != "once upon a time " {
		t.Errorf("it is told %q", told)
	}
	if version == "0.3" && (!strings.Contains(told, "once upon a time") || strings.Contains(bodies[1], "once upon")) {
		t.Errorf("it is told %q", bodies)
	}
}
