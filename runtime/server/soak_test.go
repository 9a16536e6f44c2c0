package server_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/a2agen/a2agen/internal/test/faultstore"
	"github.com/a2agen/a2agen/internal/test/gotool"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/server"
	"github.com/a2agen/a2agen/runtime/store/memory"
)

// soak is a server that many clients use and leave at the same time.
type soak struct {
	*server.Server
	t         *testing.T
	artifacts sync.Map // by task: *atomic.Int64, what handlers gave
	ids       atomic.Int64
	calls     atomic.Int64
}

// worked is the handler: it says things of all kinds, and most of the time asks for more.
func (s *soak) worked(ctx context.Context, t *server.Task) (string, error) {
	given := new(atomic.Int64)
	if v, ok := s.artifacts.LoadOrStore(t.Call().TaskID(), given); ok {
		given = v.(*atomic.Int64)
	}
	if err := t.Progress("at %s", t.Text()); err != nil {
		return "", err
	}
	w := t.Stream("log")
	for range rand.IntN(4) {
		if _, err := io.WriteString(w, "piece "); err != nil {
			return "", err
		}
	}
	if err := t.Artifact("note", runtime.Text(t.Text())); err != nil {
		return "", err
	}
	given.Add(1)
	if rand.IntN(3) == 0 {
		select {
		case <-time.After(time.Duration(rand.IntN(2000)) * time.Microsecond):
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
	if err := t.Save(t.Text()); err != nil {
		return "", err
	}
	switch rand.IntN(12) {
	case 0:
		return "", t.Say(runtime.StateCompleted, runtime.MessageOf(runtime.Text("that is all")))
	case 1:
		return "", errors.New("bad luck")
	}
	return "", errors.Join(w.Close(), t.Ask("what else?"))
}

// do answers a request whose client leaves after a while, if that is not 0. It fails the test if the answer does not come.
func (s *soak) do(method, params string, leave time.Duration) map[string]any {
	ctx, cancel := context.WithCancel(s.t.Context())
	defer cancel()
	if leave > 0 {
		ctx, cancel = context.WithTimeout(ctx, leave)
		defer cancel()
	}
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, "/rpc", strings.NewReader(rpcBody(method, params)))
	r.Header.Set("A2A-Version", "1.0")
	w, done := httptest.NewRecorder(), make(chan struct{})
	go func() {
		defer close(done)
		s.ServeHTTP(w, r)
	}()
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		s.t.Errorf("%s %s is not answered", method, params)
		cancel()
		return nil
	}
	s.calls.Add(1)
	body := w.Body.Bytes()
	if w.Header().Get("Content-Type") != "application/json" {
		_, body, _ = bytes.Cut(body, []byte("data: "))
		body, _, _ = bytes.Cut(body, []byte("\n"))
	}
	var answer struct {
		Result map[string]any
		Error  *struct{ Message string }
	}
	if err := json.Unmarshal(body, &answer); err != nil && leave == 0 {
		s.t.Errorf("%s: %v in %q", method, err, w.Body)
	}
	if answer.Error != nil && answer.Error.Message == runtime.ErrInternal.Message && !strings.Contains(string(body), "RESOURCE_EXHAUSTED") {
		s.t.Errorf("%s: %s", method, body)
	}
	return answer.Result
}

func (s *soak) message(more string) string {
	n := s.ids.Add(1)
	return fmt.Sprintf(`{"message":{"messageId":"m%d","role":"ROLE_USER","parts":[{"text":"%d"}]%s}}`, n, n, more)
}

// client begins tasks and sends several messages to each at once, some of which are not waited for.
func (s *soak) client(until time.Time) {
	patience := func() time.Duration {
		return time.Duration(rand.IntN(3)) * time.Duration(rand.IntN(1500)) * time.Microsecond
	}
	for time.Now().Before(until) {
		id := str(s.do("SendMessage", s.message(""), 0), "task", "id")
		for range 4 {
			var wg sync.WaitGroup
			for range 4 {
				wg.Go(func() { s.do("SendMessage", s.message(`,"taskId":"`+id+`"`), patience()) })
			}
			wg.Go(func() { s.do("SendStreamingMessage", s.message(`,"taskId":"`+id+`"`), patience()) })
			wg.Go(func() { s.do("SubscribeToTask", `{"id":"`+id+`"}`, patience()+time.Millisecond) })
			wg.Go(func() { s.do("GetTask", `{"id":"`+id+`"}`, 0) })
			if rand.IntN(20) == 0 {
				wg.Go(func() { s.do("CancelTask", `{"id":"`+id+`"}`, 0) })
			}
			wg.Wait()
		}
	}
}

// check looks at a task when all is quiet: nothing works on it, nothing is twice, nothing is lost.
func (s *soak) check(task map[string]any) {
	state, id := str(task, "status", "state"), str(task, "id")
	if state == "TASK_STATE_WORKING" || state == "TASK_STATE_SUBMITTED" {
		s.t.Errorf("task %s stays %s", id, state)
	}
	seen, notes := map[string]bool{}, int64(0)
	artifacts, _ := at(task, "artifacts").([]any)
	for _, a := range artifacts {
		if name := str(a, "artifactId"); seen[name] {
			s.t.Errorf("task %s has two artifacts %s", id, name)
		}
		seen[str(a, "artifactId")] = true
		if str(a, "name") == "note" {
			notes++
		}
	}
	if v, ok := s.artifacts.Load(id); ok && notes < v.(*atomic.Int64).Load() {
		s.t.Errorf("task %s has %d notes of %d", id, notes, v.(*atomic.Int64).Load())
	}
	history, _ := at(task, "history").([]any)
	for _, m := range history {
		if name := str(m, "messageId"); seen[name] {
			s.t.Errorf("task %s has message %s twice", id, name)
		}
		seen[str(m, "messageId")] = true
	}
}

// Many clients with concurrent follow-ups who leave at any time, on a store with hiccups: everybody is answered, and in the end nobody works or
// waits. It is meant for the race detector (make race).
func TestSoak(t *testing.T) {
	length := 300 * time.Millisecond
	if gotool.IsLong() {
		length = 3 * time.Second
	}
	tasks := faultstore.New(memory.New(memory.Limits{}), func(c faultstore.Call) faultstore.Fault {
		return faultstore.Fault{Before: c.Op == "apply" && rand.IntN(200) == 0}
	})
	s := &soak{t: t}
	s.Server = newServer(t, testCard, []server.Skill{run("work", s.worked)}, server.WithStore(tasks))
	var wg sync.WaitGroup
	until := time.Now().Add(length)
	for range 6 {
		wg.Go(func() { s.client(until) })
	}
	wg.Wait()
	for range 1000 {
		if live, running := s.Leftovers(); live == 0 && running == 0 {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if live, running := s.Leftovers(); live+running > 0 {
		t.Errorf("when all is quiet %d tasks are live and %d calls run", live, running)
	}
	total := 0
	for next := ""; ; {
		page := s.do("ListTasks", `{"includeArtifacts":true,"historyLength":1000,"pageToken":"`+next+`"}`, 0)
		list, _ := page["tasks"].([]any)
		for _, task := range list {
			s.check(task.(map[string]any))
		}
		total += len(list)
		if next = str(page, "nextPageToken"); next == "" {
			break
		}
	}
	if total == 0 {
		t.Error("there are no tasks")
	}
	t.Logf("%d calls, %d tasks", s.calls.Load(), total)
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
