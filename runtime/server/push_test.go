package server_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/server"
)

var pushCard = strings.Replace(testCard, `{"streaming":true}`, `{"streaming":true,"pushNotifications":true}`, 1)

var open = server.WithPushTargets("127.0.0.0/8")

// inbox is a receiver that keeps what came.
type inbox struct {
	*httptest.Server
	mu     sync.Mutex
	got    []got
	answer func(n int, r *http.Request) int // status of the n-th request
	came   chan struct{}
}

type got struct {
	header http.Header
	body   string
}

func receiver(t *testing.T) *inbox {
	d := &inbox{came: make(chan struct{}, 1)}
	d.Server = httptest.NewServer(d)
	t.Cleanup(d.Close)
	return d
}

func (d *inbox) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	d.mu.Lock()
	d.got = append(d.got, got{r.Header, string(body)})
	n, answer := len(d.got), d.answer
	d.mu.Unlock()
	status := http.StatusOK
	if answer != nil {
		status = answer(n, r)
	}
	w.WriteHeader(status)
	select {
	case d.came <- struct{}{}:
	default:
	}
}

// wait returns what came as soon as there are n of them.
func (d *inbox) wait(t *testing.T, n int) []got {
	t.Helper()
	end := time.After(10 * time.Second)
	for {
		d.mu.Lock()
		all := append([]got(nil), d.got...)
		d.mu.Unlock()
		if len(all) >= n {
			return all
		}
		select {
		case <-d.came:
		case <-end:
			t.Fatalf("%d notifications came, want %d: %v", len(all), n, all)
		}
	}
}

// sequences are the numbers of what came.
func sequences(all []got) (list []string) {
	for _, g := range all {
		list = append(list, g.header.Get(runtime.PushSequenceHeader))
	}
	return list
}

// talker is a skill that streams words into an artifact.
func talker(words ...string) server.Skill {
	return run("talk", func(ctx context.Context, t *server.Task) (string, error) {
		w := t.Stream("story")
		for _, word := range words {
			if _, err := w.Write([]byte(word)); err != nil {
				return "", err
			}
		}
		return "", w.Close()
	})
}

// inline is a send configuration with a push configuration.
func inline(url string, more string) string {
	return `{"returnImmediately":true,"taskPushNotificationConfig":{"url":"` + url + `"` + more + `}}`
}

func TestEveryEventGoesToEveryConfigurationInOrder(t *testing.T) { // R18, R84
	begun, second := make(chan string), make(chan struct{})
	skill := run("talk", func(_ context.Context, task *server.Task) (string, error) {
		if err := task.Progress("thinking"); err != nil {
			return "", err
		}
		begun <- task.ID()
		<-second
		if err := task.Artifact("story", runtime.Text("Once.")); err != nil {
			return "", err
		}
		return "Done.", nil
	})
	a := start(t, pushCard, []server.Skill{skill}, open)
	one, two := receiver(t), receiver(t)
	go a.ok("SendMessage", with(message("go"), inline(one.URL, `,"token":"k","id":"p"`)))
	id := <-begun
	one.wait(t, 1)
	made := a.ok("CreateTaskPushNotificationConfig", `{"taskId":"`+id+`","url":"`+two.URL+`","authentication":{"scheme":"Bearer","credentials":"c"}}`)
	if str(made, "id") == "" || str(made, "taskId") != id || str(made, "url") != two.URL {
		t.Errorf("created: %v", made)
	}
	close(second)
	first := one.wait(t, 4)
	if got := fmt.Sprint(sequences(first)); got != "[2 3 4 5]" {
		t.Errorf("the first got %s", got)
	}
	var kinds []string
	for i, g := range first {
		var body map[string]any
		if err := json.Unmarshal([]byte(g.body), &body); err != nil {
			t.Fatal(err)
		}
		for k, v := range body {
			kinds = append(kinds, k+":"+str(v, "status", "state"))
			if str(v, "taskId") != id {
				t.Errorf("%s is of another task", g.body)
			}
		}
		h := g.header
		if h.Get("X-A2A-Notification-Token") != "k" || h.Get("A2A-Notification-Token") != "k" || h.Get("Content-Type") != "application/json" ||
			h.Get("A2A-Version") != "1.0" || h.Get("X-A2A-Notification-Task") != id || h.Get("X-A2A-Notification-Config") != "p" ||
			len(h.Get("X-A2A-Notification-Id")) != 32 || h.Get("Authorization") != "" {
			t.Errorf("header %d: %v", i, h)
		}
	}
	if got := strings.Join(kinds, " "); got != "statusUpdate:TASK_STATE_WORKING artifactUpdate: artifactUpdate: statusUpdate:TASK_STATE_COMPLETED" {
		t.Errorf("the first got %s", got)
	}
	later := two.wait(t, 3)
	if got := fmt.Sprint(sequences(later)); got != fmt.Sprint(sequences(first)[1:]) {
		t.Errorf("the second got %s", got)
	}
	if h := later[0].header; h.Get("Authorization") != "Bearer c" || h.Get("X-A2A-Notification-Id") == first[1].header.Get("X-A2A-Notification-Id") {
		t.Errorf("to the second: %v", h) // R79, R190
	}
}
