package server_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/a2agen/a2agen/a2a"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/server"
	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/store/memory"
	"github.com/a2agen/a2agen/runtime/store/sqlite"
)

// counter streams n chunks, waiting for a signal before each if there is a channel.
func counter(n int, next chan struct{}) server.Skill {
	return run("count", func(ctx context.Context, t *server.Task) (string, error) {
		w := t.Stream("numbers")
		for i := range n {
			if next != nil {
				select {
				case <-next:
				case <-ctx.Done():
					return "", ctx.Err()
				}
			}
			if _, err := fmt.Fprintf(w, "%d,", i); err != nil {
				return "", err
			}
		}
		return "", w.Close()
	})
}

// R66: a task is no younger than the first status that its handler gives it, whether that is a word on the way or the end.
func TestStatusesOfAStreamNeverGoBackInTime(t *testing.T) {
	for name, handler := range map[string]server.Skill{
		"a word first": run("count", func(_ context.Context, t *server.Task) (string, error) { return "done", t.Progress("on it") }),
		"the end":      echo(),
	} {
		var ticks atomic.Int64 // each look at the clock is another millisecond
		a := start(t, testCard, []server.Skill{handler}, server.WithClock(func() time.Time { return time.UnixMilli(1e12 + ticks.Add(1)) }))
		before := ""
		for _, e := range a.stream("SendStreamingMessage", message("go")).rest() {
			at := cmp.Or(str(e.result, "task", "status", "timestamp"), str(e.result, "statusUpdate", "status", "timestamp"))
			if at != "" && at < before {
				t.Errorf("%s: a status of %s comes after one of %s", name, at, before)
			}
			before = cmp.Or(at, before)
		}
	}
}

// R8, R10, R11, R66: first the Task, then every event in order with ascending ids, then the end.
func TestStreamBeginsWithTheTaskAndEndsWithIt(t *testing.T) {
	a := start(t, testCard, []server.Skill{counter(100, nil)})
	all := a.stream("SendStreamingMessage", message("go")).rest()
	if len(all) != 102 {
		t.Fatalf("%d events, want task, 100 chunks, status", len(all))
	}
	if all[0].kind() != "task" || str(all[0].result, "task", "status", "state") != "TASK_STATE_WORKING" {
		t.Errorf("first event is %v", all[0].result)
	}
	var text strings.Builder
	for i, e := range all {
		if e.id != fmt.Sprint(i+1) {
			t.Fatalf("event %d has id %q", i, e.id)
		}
		if e.kind() != "artifactUpdate" {
			continue
		}
		text.WriteString(str(e.result, "artifactUpdate", "artifact", "parts", 0, "text"))
		if first := i == 1; (at(e.result, "artifactUpdate", "append") == nil) != first {
			t.Errorf("chunk %d: append is %v", i, at(e.result, "artifactUpdate", "append"))
		}
	}
	if !strings.HasPrefix(text.String(), "0,1,2,") || !strings.HasSuffix(text.String(), "98,99,") {
		t.Errorf("text is %.20s…", text.String())
	}
	if at(all[100].result, "artifactUpdate", "lastChunk") != true {
		t.Error("the artifact is not ended")
	}
	if str(all[101].result, "statusUpdate", "status", "state") != "TASK_STATE_COMPLETED" {
		t.Errorf("last event is %v", all[101].result)
	}
	for _, e := range all[1:] {
		if str(e.result, e.kind(), "taskId") != str(all[0].result, "task", "id") || str(e.result, e.kind(), "contextId") == "" { // T8
			t.Fatalf("event %v does not name its task", e.result)
		}
	}
}

// R9: a plain answer is exactly one Message.
func TestStreamOfAReplyIsOneMessage(t *testing.T) {
	a := start(t, testCard, []server.Skill{run("chat", func(_ context.Context, t *server.Task) (string, error) {
		return "", t.Reply(runtime.Text("hello\nthere"))
	})})
	all := a.stream("SendStreamingMessage", message("hi")).rest()
	if len(all) != 1 || str(all[0].result, "message", "parts", 0, "text") != "hello\nthere" {
		t.Errorf("got %v", all)
	}
}

// Peers 3: an error before the first event is an event for a client that takes event streams, else a JSON body.
func TestStreamErrorsBeforeTheFirstEvent(t *testing.T) {
	a := start(t, testCard, []server.Skill{echo()})
	all := a.stream("SendStreamingMessage", message("x", `"taskId":"none"`)).rest()
	if len(all) != 1 || !errors.Is(all[0].err, runtime.ErrTaskNotFound) {
		t.Errorf("as events: %v", all)
	}
	resp, body := a.post(rpcBody("SendStreamingMessage", message("x", `"taskId":"none"`)), "Accept: application/json")
	if resp.Header.Get("Content-Type") != "application/json" || !strings.Contains(body, "-32001") {
		t.Errorf("as JSON: %s", body)
	}
}

// Peers 8: also for a follow-up the first event is the Task. T3: the stream of a send ends when input is required.
func TestStreamsOfAConversation(t *testing.T) {
	a := start(t, testCard, []server.Skill{run("ask", func(_ context.Context, t *server.Task) (string, error) {
		if t.Resumed() {
			return "thanks", nil
		}
		return "", t.Ask("which?")
	})})
	first := a.stream("SendStreamingMessage", message("hi")).rest()
	last := first[len(first)-1]
	if str(last.result, last.kind(), "status", "state") != "TASK_STATE_INPUT_REQUIRED" {
		t.Fatalf("the first stream ends with %v", last.result)
	}
	id := str(first[0].result, "task", "id")
	second := a.stream("SendStreamingMessage", message("this", `"taskId":"`+id+`"`)).rest()
	if second[0].kind() != "task" || str(second[0].result, "task", "status", "state") != "TASK_STATE_WORKING" {
		t.Errorf("the second stream begins with %v", second[0].result)
	}
	if end := second[len(second)-1]; str(end.result, "statusUpdate", "status", "state") != "TASK_STATE_COMPLETED" {
		t.Errorf("the second stream ends with %v", end.result)
	}
}

// R16, R17, R67, R68, R69: subscribers see the Task as it stands, then the same events in the same order.
func TestSubscribersSeeTheSameEventsWhateverOthersDo(t *testing.T) {
	t.Parallel()
	next := make(chan struct{})
	a := start(t, testCard, []server.Skill{counter(20, next)})
	sender := a.stream("SendStreamingMessage", message("go"))
	next <- struct{}{}
	id := str(sender.next().result, "task", "id")
	sender.next() // the first chunk
	one := a.stream("SubscribeToTask", `{"id":"`+id+`"}`)
	two := a.stream("SubscribeToTask", `{"id":"`+id+`"}`)
	if e := one.next(); e.kind() != "task" || e.id != "2" || str(e.result, "task", "artifacts", 0, "parts", 0, "text") != "0," {
		t.Fatalf("the first event of a subscription is %s %v", e.id, e.result)
	}
	two.next()
	sender.close() // a disconnect ends nothing but its own stream
	for range 19 {
		next <- struct{}{}
	}
	left, right := one.rest(), two.rest()
	if len(left) != 20 || fmt.Sprint(left) != fmt.Sprint(right) {
		t.Errorf("%d and %d events, want the same 19 chunks and the status", len(left), len(right))
	}
	if end := left[len(left)-1]; str(end.result, "statusUpdate", "status", "state") != "TASK_STATE_COMPLETED" {
		t.Errorf("the subscription ends with %v", end.result)
	}
}

func TestSubscriptionToAnEndedTaskIsUnsupported(t *testing.T) {
	a := start(t, testCard, []server.Skill{echo()})
	id := str(a.ok("SendMessage", message("x")), "task", "id")
	if all := a.stream("SubscribeToTask", `{"id":"`+id+`"}`).rest(); len(all) != 1 || !errors.Is(all[0].err, runtime.ErrUnsupportedOperation) { // R310
		t.Errorf("got %v", all)
	}
}

func TestSubscriptionStaysOpenWhileTheTaskWaitsForInput(t *testing.T) {
	a := start(t, testCard, []server.Skill{run("ask", func(_ context.Context, t *server.Task) (string, error) {
		if t.Resumed() {
			return "thanks", nil
		}
		return "", t.Ask("which?")
	})})
	id := str(a.ok("SendMessage", message("hi")), "task", "id")
	s := a.stream("SubscribeToTask", `{"id":"`+id+`"}`)
	if e := s.next(); str(e.result, "task", "status", "state") != "TASK_STATE_INPUT_REQUIRED" {
		t.Fatalf("snapshot is %v", e.result)
	}
	a.ok("SendMessage", message("this", `"taskId":"`+id+`"`))
	all := s.rest()
	if len(all) != 3 || str(all[0].result, "statusUpdate", "status", "state") != "TASK_STATE_WORKING" || str(all[2].result, "statusUpdate", "status", "state") != "TASK_STATE_COMPLETED" {
		t.Errorf("got %v", all)
	}
}

// A client that reconnects with Last-Event-ID gets exactly what it missed, also when the task ended meanwhile.
func TestLastEventIDResumesAfterThatEvent(t *testing.T) {
	t.Parallel()
	next := make(chan struct{})
	a := start(t, testCard, []server.Skill{counter(5, next)})
	s := a.stream("SendStreamingMessage", message("go"))
	id := ""
	for i := range 3 {
		if i > 0 {
			next <- struct{}{}
		}
		e := s.next()
		if i == 0 {
			id = str(e.result, "task", "id")
		}
	}
	s.close()
	subscribe := func(last string) []event {
		return a.stream("SubscribeToTask", `{"id":"`+id+`"}`, "Last-Event-ID: "+last).rest()
	}
	going := a.stream("SubscribeToTask", `{"id":"`+id+`"}`, "Last-Event-ID: 2")
	if e := going.next(); e.id != "3" || e.kind() != "artifactUpdate" {
		t.Errorf("resumed with %s %v", e.id, e.result)
	}
	for range 3 {
		next <- struct{}{}
	}
	if all := going.rest(); len(all) != 4 || all[3].id != "7" {
		t.Errorf("went on with %v", all)
	}
	for _, c := range []struct {
		name, last, first string
		events            int
	}{
		{"after the task ended", "5", "6", 2},
		{"from the start", "1", "2", 6},
		{"nothing missed", "7", "", 1},
		{"never seen", "99", "", 1},
		{"not ours", "abc", "", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			all := subscribe(c.last)
			if len(all) != c.events || all[0].id != c.first {
				t.Errorf("got %d events, first %q: %v", len(all), all[0].id, all[0])
			}
			if c.first == "" && !errors.Is(all[0].err, runtime.ErrUnsupportedOperation) {
				t.Errorf("got %v", all[0])
			}
		})
	}
}

func TestDisconnectOfAStreamDoesNotCancelTheTask(t *testing.T) {
	t.Parallel()
	next := make(chan struct{})
	a := start(t, testCard, []server.Skill{counter(2, next)})
	s := a.stream("SendStreamingMessage", message("go"))
	id := str(s.next().result, "task", "id")
	s.close()
	next <- struct{}{}
	next <- struct{}{}
	a.await(id, "TASK_STATE_COMPLETED")
}

func TestDisconnectOfABlockingSendDoesNotCancelTheTask(t *testing.T) {
	started, release := make(chan string), make(chan struct{})
	a := start(t, testCard, []server.Skill{run("slow", func(_ context.Context, t *server.Task) (string, error) {
		if err := t.Progress("on it"); err != nil {
			return "", err
		}
		started <- t.Call().TaskID()
		<-release
		return "done", nil
	})})
	ctx, cancel := context.WithCancel(t.Context())
	failed := make(chan error)
	go func() {
		req, _ := http.NewRequestWithContext(ctx, http.MethodPost, a.url, strings.NewReader(rpcBody("SendMessage", message("x"))))
		_, err := a.web.Do(req)
		failed <- err
	}()
	id := <-started
	cancel()
	if err := <-failed; !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	close(release)
	a.await(id, "TASK_STATE_COMPLETED")
}

func TestHeartbeatsFillSilence(t *testing.T) {
	t.Parallel()
	for binding, open := range map[string]func(a *agent) *http.Response{
		"JSON-RPC":  func(a *agent) *http.Response { return a.open(rpcBody("SendStreamingMessage", message("go"))) },
		"HTTP+JSON": func(a *agent) *http.Response { return a.rest("POST", "/message:stream", message("go")) },
	} {
		next := make(chan struct{})
		a := start(t, restCard, []server.Skill{counter(1, next)}, server.WithLimits(server.Limits{Heartbeat: 20 * time.Millisecond}))
		resp := open(a)
		var got strings.Builder
		buf := make([]byte, 4096)
		for strings.Count(got.String(), "\n:\n\n") < 3 { // comments between events
			n, err := resp.Body.Read(buf)
			if err != nil {
				t.Fatalf("%s: %v after %q", binding, err, got.String())
			}
			got.Write(buf[:n])
		}
		close(next)
		rest, err := io.ReadAll(resp.Body)
		if err != nil || !strings.Contains(string(rest), "TASK_STATE_COMPLETED") {
			t.Errorf("%s: after the heartbeats: %v %s", binding, err, rest)
		}
		_ = resp.Body.Close()
	}
}

// T58: a reader that takes nothing is dropped; nobody else waits for it.
func TestAStalledReaderIsDroppedAndHarmsNobody(t *testing.T) {
	t.Parallel()
	chunk := runtime.Text(strings.Repeat("x", 1<<20))
	a := start(t, testCard, []server.Skill{run("flood", func(_ context.Context, t *server.Task) (string, error) {
		for range 30 {
			if err := t.Artifact("big", chunk); err != nil {
				return "", err
			}
		}
		return "", nil
	})}, server.WithLimits(server.Limits{Stall: 300 * time.Millisecond, Streams: 1}))
	stalled := a.open(rpcBody("SendStreamingMessage", message("go")), "Accept: text/event-stream")
	defer func() { _ = stalled.Body.Close() }()
	var id string
	for done := false; !done; time.Sleep(time.Millisecond) { // a list has no artifacts: the whole task might take longer than a reader may
		task := at(a.ok("ListTasks", `{}`), "tasks", 0)
		id, done = str(task, "id"), str(task, "status", "state") == "TASK_STATE_COMPLETED"
	}
	for i := 0; ; i++ { // the stream counts until it is dropped
		all := a.stream("SubscribeToTask", `{"id":"`+id+`"}`).rest()
		if errors.Is(all[0].err, runtime.ErrUnsupportedOperation) {
			break
		}
		if i == 1000 {
			t.Fatal("the stalled reader is never dropped")
		}
		time.Sleep(10 * time.Millisecond)
	}
	if n, err := io.Copy(io.Discard, stalled.Body); err == nil {
		t.Errorf("the stalled stream went on to its end, %d bytes", n)
	}
}

// A client that has missed nothing gets what comes next, and not once more the Task that it has: at once it is told only
// that its stream is open.
func TestAStreamThatMissedNothingGoesOnWithTheNextEvent(t *testing.T) {
	t.Parallel()
	next := make(chan struct{})
	a := start(t, testCard, []server.Skill{counter(4, next)})
	s := a.stream("SendStreamingMessage", message("go"))
	first := s.next()
	id, last := str(first.result, "task", "id"), first.id
	for range 3 {
		again := a.stream("SubscribeToTask", `{"id":"`+id+`"}`, "Last-Event-ID: "+last) // the header of its response is there
		s.close()
		next <- struct{}{}
		e := again.next()
		if e.kind() != "artifactUpdate" || e.id == last {
			t.Errorf("after %s comes %s %v", last, e.id, e.result)
		}
		s, last = again, e.id
	}
	next <- struct{}{}
	if all := s.rest(); len(all) != 2 || all[0].kind() != "artifactUpdate" {
		t.Errorf("in the end come %v", all)
	}
}

func TestAReaderTooSlowForTheLogGetsTheTaskAnew(t *testing.T) {
	a := start(t, testCard, []server.Skill{counter(300, nil)}, server.WithStore(memory.New(memory.Limits{Events: 10})))
	s := a.stream("SendStreamingMessage", message("go"))
	id := str(s.next().result, "task", "id")
	s.rest()
	all := a.stream("SubscribeToTask", `{"id":"`+id+`"}`, "Last-Event-ID: 3").rest()
	if len(all) != 1 || str(all[0].result, "task", "status", "state") != "TASK_STATE_COMPLETED" || all[0].id != "302" {
		t.Errorf("a trimmed id on an ended task gives %v", all)
	}
}

// What a client missed of a task that has ended it gets, whatever the store, and whether or not anybody listened: of a file
// the events, of a memory, which kept none, the Task.
func TestWhatWasMissedOfATaskNobodyListenedToIsAnswered(t *testing.T) {
	file, err := sqlite.Open(filepath.Join(t.TempDir(), "tasks.db"), a2a.Protocol(), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for name, kept := range map[string]store.Store{"memory": memory.New(memory.Limits{}), "file": file} {
		t.Run(name, func(t *testing.T) {
			a := start(t, testCard, []server.Skill{counter(2, nil)}, server.WithStore(kept))
			id := str(a.ok("SendMessage", message("go")), "task", "id")
			subscribe := func(last string) []event {
				return a.stream("SubscribeToTask", `{"id":"`+id+`"}`, "Last-Event-ID: "+last).rest()
			}
			all := subscribe("1")
			last := all[len(all)-1]
			if last.err != nil {
				t.Fatalf("refused: %v", last.err)
			}
			state := cmp.Or(str(last.result, "task", "status", "state"), str(last.result, "statusUpdate", "status", "state"))
			if state != "TASK_STATE_COMPLETED" || last.id == "1" {
				t.Errorf("the stream ends with %s %v", last.id, last.result)
			}
			if all := subscribe(last.id); len(all) != 1 || !errors.Is(all[0].err, runtime.ErrUnsupportedOperation) {
				t.Errorf("when nothing was missed: %v", all)
			}
		})
	}
}

func TestTooManyStreamsAreRefused(t *testing.T) {
	t.Parallel()
	next := make(chan struct{})
	a := start(t, testCard, []server.Skill{counter(1, next)}, server.WithLimits(server.Limits{Streams: 1}))
	s := a.stream("SendStreamingMessage", message("go"))
	id := str(s.next().result, "task", "id")
	if all := a.stream("SubscribeToTask", `{"id":"`+id+`"}`).rest(); len(all) != 1 || all[0].err == nil || all[0].err.Reason != "RESOURCE_EXHAUSTED" {
		t.Errorf("got %v", all)
	}
	close(next)
	s.rest()
}

// Characters cut in two by the writer arrive whole.
func TestArtifactWriterKeepsCharactersWhole(t *testing.T) {
	text := "äöü€😀!"
	a := start(t, testCard, []server.Skill{run("bytes", func(_ context.Context, t *server.Task) (string, error) {
		w := t.Stream("x")
		for i := range len(text) {
			if n, err := w.Write([]byte{text[i]}); n != 1 || err != nil {
				return "", fmt.Errorf("write: %d, %w", n, err)
			}
		}
		if err := w.Part(runtime.Data(5)); err != nil {
			return "", err
		}
		return "", errors.Join(w.Close(), w.Close())
	})})
	task := a.ok("SendMessage", message("go"))["task"]
	var got strings.Builder
	for _, p := range at(task, "artifacts", 0, "parts").([]any) {
		s := str(p, "text")
		if strings.ContainsRune(s, '\uFFFD') {
			t.Errorf("part %q is cut", s)
		}
		got.WriteString(s)
	}
	if got.String() != text {
		t.Errorf("got %q, want %q", got.String(), text)
	}
	if n := len(at(task, "artifacts").([]any)); n != 1 {
		t.Errorf("%d artifacts", n)
	}
}

// Line breaks in a client's raw JSON never break the framing.
func TestRawJSONWithLineBreaksIsOneEvent(t *testing.T) {
	a := start(t, testCard, []server.Skill{echo()})
	all := a.stream("SendStreamingMessage", data("{\n \"a\":\r\n 1}", `"metadata":{"skillId":"echo"}`)).rest()
	if len(all) < 2 || all[0].kind() != "task" || at(all[0].result, "task", "history", 0, "parts", 0, "data", "a") != 1.0 {
		t.Errorf("got %v", all)
	}
}
