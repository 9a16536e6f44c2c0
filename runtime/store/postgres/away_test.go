package postgres

import (
	"bufio"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/a2agen/a2agen/a2a"
	"github.com/a2agen/a2agen/internal/test/postgrestest"
	"github.com/a2agen/a2agen/runtime/server"
	"github.com/a2agen/a2agen/runtime/store"
)

const awayCard = `{"name":"Test","description":"for tests","version":"1.0.0","supportedInterfaces":[
	{"url":"http://localhost/rpc","protocolBinding":"JSONRPC","protocolVersion":"1.0"},{"url":"http://localhost/rest","protocolBinding":"HTTP+JSON","protocolVersion":"1.0"}],
	"capabilities":{"streaming":true},"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],"skills":[]}`

// agent is one whose store is a database.
type agent struct {
	t   *testing.T
	url string
}

func newAgent(t *testing.T, address string, o Options, run func(context.Context, *server.Task) error) *agent {
	t.Helper()
	o.Logger = slog.New(slog.DiscardHandler)
	card, err := a2a.Protocol().DecodeCard([]byte(awayCard))
	if err != nil {
		t.Fatal(err)
	}
	skill := server.Skill{ID: "work", Name: "work", OnCrash: server.CrashRetry, Run: func(ctx context.Context, c *server.Task, _ any) ([]byte, error) {
		return []byte("done"), run(ctx, c)
	}}
	s, err := server.New(server.Config{Protocol: a2a.Protocol(), Card: card, Skills: []server.Skill{skill}},
		server.WithLogger(o.Logger), server.WithStore(mustOpen(t, address, o)))
	if err != nil {
		t.Fatal(err)
	}
	h := httptest.NewServer(s)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		h.Close()
	})
	return &agent{t, h.URL}
}

// do makes a request, and returns the status, whether the client is told when to come again, and the body.
func (a *agent) do(method, path, body string) (status int, again bool, answer string) {
	a.t.Helper()
	req, err := http.NewRequestWithContext(a.t.Context(), method, a.url+path, strings.NewReader(body))
	if err != nil {
		a.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("A2A-Version", "1.0")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		a.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		a.t.Fatal(err)
	}
	return resp.StatusCode, resp.Header.Get("Retry-After") != "", string(b)
}

const goMessage = `{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"go"}]},"configuration":{"returnImmediately":true}}`

// begin has the agent begin a task, and returns its id.
func (a *agent) begin() string {
	a.t.Helper()
	_, _, answer := a.do("POST", "/rest/message:send", goMessage)
	_, id, _ := strings.Cut(answer, `"task":{"id":"`)
	id, _, ok := strings.Cut(id, `"`)
	if !ok {
		a.t.Fatalf("the answer is %s", answer)
	}
	return id
}

func (a *agent) isCompleted(id string) bool {
	_, _, answer := a.do("GET", "/rest/tasks/"+id, "")
	return strings.Contains(answer, "TASK_STATE_COMPLETED")
}

// subscribe reads the numbers of a task's events to the end of the stream, and whether the last one is the task's.
// opened is closed with the first.
func (a *agent) subscribe(id string, opened chan<- struct{}) (numbers []int64, complete bool) {
	open := sync.OnceFunc(func() { close(opened) })
	defer open()
	req, _ := http.NewRequestWithContext(a.t.Context(), "POST", a.url+"/rest/tasks/"+id+":subscribe", nil)
	req.Header.Set("A2A-Version", "1.0")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		a.t.Error(err)
		return nil, false
	}
	defer func() { _ = resp.Body.Close() }()
	for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
		if n, err := strconv.ParseInt(strings.TrimPrefix(lines.Text(), "id: "), 10, 64); err == nil {
			numbers = append(numbers, n)
			open()
		}
		complete = complete || strings.Contains(lines.Text(), "TASK_STATE_COMPLETED")
	}
	return numbers, complete
}

// Without its database, an agent answers nothing as if it had it; what is open and at work goes on where it was.
func TestAnAgentOutlivesARestartOfItsDatabase(t *testing.T) {
	withoutLibpq(t)
	cluster := postgrestest.New(t, postgrestest.Options{})
	say, said := make(chan string), make(chan error)
	a := newAgent(t, cluster.Address(), Options{Lease: 2 * time.Minute}, func(_ context.Context, c *server.Task) error {
		for text := range say {
			said <- c.Progress(text)
		}
		return nil
	})
	id := a.begin()
	say <- "one"
	if err := <-said; err != nil {
		t.Fatal(err)
	}
	opened, ended := make(chan struct{}), make(chan struct{})
	var numbers []int64
	var complete bool
	go func() {
		defer close(ended)
		numbers, complete = a.subscribe(id, opened)
	}()
	<-opened
	if err := cluster.Stop(postgrestest.Immediate); err != nil {
		t.Fatal(err)
	}
	for what, line := range map[string][3]string{
		"get":            {"GET", "/rest/tasks/" + id},
		"list":           {"GET", "/rest/tasks"},
		"cancel":         {"POST", "/rest/tasks/" + id + ":cancel"},
		"a message":      {"POST", "/rest/message:send", strings.Replace(goMessage, `"role"`, `"taskId":"`+id+`","role"`, 1)},
		"subscribe":      {"POST", "/rest/tasks/" + id + ":subscribe"},
		"get, over JSON": {"POST", "/rpc", `{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"` + id + `"}}`},
	} {
		if status, again, answer := a.do(line[0], line[1], line[2]); status != 503 || !again {
			t.Errorf("%s: %d, again %v: %s", what, status, again, answer)
		}
	}
	say <- "two" // is kept until the database is back
	if err := cluster.Start(); err != nil {
		t.Fatal(err)
	}
	if err := <-said; err != nil {
		t.Errorf("the handler is told %v", err)
	}
	close(say)
	<-ended
	for i, n := range numbers {
		if n != numbers[0]+int64(i) {
			t.Errorf("the stream has events %v", numbers)
			break
		}
	}
	if !complete || !a.isCompleted(id) {
		t.Errorf("the stream ends with %v, complete: %v", numbers, complete)
	}
}

// Work whose lease ends with the database away is stopped by this process's own clock, and taken up again later.
func TestWorkEndsWithItsLease(t *testing.T) {
	withoutLibpq(t)
	cluster := postgrestest.New(t, postgrestest.Options{})
	begun, stopped := make(chan int, 9), make(chan error, 9)
	a := newAgent(t, cluster.Address(), Options{Lease: 2 * time.Second}, func(ctx context.Context, c *server.Task) error {
		begun <- c.Call().Attempt()
		if c.Call().Attempt() > 1 {
			return nil
		}
		<-ctx.Done()
		stopped <- context.Cause(ctx)
		return ctx.Err()
	})
	id := a.begin()
	<-begun
	eventually(t, "the agent is ready", func() bool { status, _, _ := a.do("GET", "/readyz", ""); return status == 200 })
	if err := cluster.Stop(postgrestest.Immediate); err != nil {
		t.Fatal(err)
	}
	if err := <-stopped; !errors.Is(err, store.ErrLost) {
		t.Errorf("the handler is told %v", err)
	}
	if status, _, body := a.do("GET", "/readyz", ""); status != 503 {
		t.Errorf("it is ready: %s", body)
	}
	if status, _, _ := a.do("GET", "/healthz", ""); status != 200 {
		t.Error("it is not well")
	}
	if err := cluster.Start(); err != nil {
		t.Fatal(err)
	}
	if attempt := <-begun; attempt != 2 {
		t.Errorf("it is attempt %d", attempt)
	}
	eventually(t, "the task is done", func() bool { return a.isCompleted(id) })
	eventually(t, "the agent is ready", func() bool { status, _, _ := a.do("GET", "/readyz", ""); return status == 200 })
}

// A store says what it has done, for metrics, without asking the database.
func TestAStoreSaysWhatItHasDone(t *testing.T) {
	withoutLibpq(t)
	address := postgrestest.Server(t)
	one, other := mustOpen(t, address, Options{}), mustOpen(t, address, Options{})
	for _, s := range []*Store{one, other} {
		if _, err := s.Renew(t.Context()); err != nil { // by now it knows of the other
			t.Fatal(err)
		}
	}
	before := other.Stats()
	snap := create(t, one, "t")
	if _, err := one.Apply(t.Context(), keyed("t"), 0, says("t", snap.Epoch, 2), nil); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the other hears of it, and the one of itself", func() bool {
		return other.Stats().Received > before.Received && one.Stats().Lag > 0
	})
	got := one.Stats()
	if got.System != "postgresql" || got.Transactions < 2 || got.Writes < 2 || got.Sent == 0 || got.Tasks != 1 || got.Bytes <= 0 {
		t.Errorf("it says %+v", got)
	}
	if len(got.Pools) != 3 || got.Pools[0].Max == 0 || got.Pools[0].Idle+got.Pools[0].Used == 0 {
		t.Errorf("of its connections it says %+v", got.Pools)
	}
}
