package fault

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// agent answers GetTask with "done" after its work, and streams five events.
type agent struct {
	work  time.Duration
	calls atomic.Int32
	told  atomic.Int32 // calls whose caller left
	wrote atomic.Int32 // events
}

func (a *agent) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.calls.Add(1)
	body, _ := io.ReadAll(r.Body)
	time.Sleep(a.work)
	if r.Context().Err() != nil {
		a.told.Add(1)
		return
	}
	if !strings.Contains(string(body), "SendStreamingMessage") {
		w.Header().Set("Content-Length", "5")
		_, _ = io.WriteString(w, "done\n")
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for i := range 5 {
		if _, err := fmt.Fprintf(w, ": beat\n\nid: %d\ndata: event %d\n\n", i+1, i+1); err != nil {
			a.told.Add(1)
			return
		}
		a.wrote.Add(1)
		time.Sleep(time.Second)
	}
}

// through is the way to an agent with faults.
type through struct {
	*agent
	*Injector
	http http.Client
}

func newThrough(t *testing.T, a *agent, faults ...Fault) *through {
	t.Helper()
	in, err := New(1, faults...)
	if err != nil {
		t.Fatal(err)
	}
	return &through{a, in, http.Client{Transport: in.Wrap(handled{a})}}
}

// over closes the injector, and lets the agent finish.
func (a *through) over() {
	a.Close()
	time.Sleep(time.Minute)
}

// call returns what came, with the numbers of events in place of the events, and how it ended.
func (a *through) call(method string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://agent/rpc", strings.NewReader(`{"jsonrpc":"2.0","params":{"x":[{"method":"no"}]},"method":"`+method+`"}`))
	if err != nil {
		return "", err
	}
	r.Header.Set("Content-Type", "application/json")
	resp, err := a.http.Do(r)
	if err != nil {
		return "", err
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	text := ""
	for line := range strings.Lines(string(body)) {
		if n, ok := strings.CutPrefix(line, "data: event "); ok {
			text += strings.TrimSpace(n)
		} else if !strings.Contains(line, ":") {
			text += strings.TrimSpace(line)
		}
	}
	return text, err
}

const (
	get    = "GetTask"
	stream = "SendStreamingMessage"
)

// TestEachFault: what the caller sees of each fault, when, and what the agent does.
func TestEachFault(t *testing.T) {
	for _, tt := range []struct {
		fault  Fault
		method string
		want   string
		broken bool // the caller sees a connection that broke
		took   time.Duration
		calls  int32
		told   int32
	}{
		{Delay(time.Minute), get, "done", false, time.Minute + time.Second, 1, 0},
		{DelayEvents(time.Minute), stream, "12345", false, 5*time.Minute + time.Second, 1, 0},
		{DelayEvents(time.Minute), get, "done", false, time.Second, 1, 0},
		{Drop(Request), get, "", true, 0, 0, 0},
		{Drop(Reply), get, "", true, time.Second, 1, 0},
		{Drop(Reply), stream, "", true, 6 * time.Second, 1, 0},
		{Double(), get, "done", false, 2 * time.Second, 2, 0},
		{Double(), stream, "12345", false, 6 * time.Second, 2, 0},
		{ReorderEvents(2), stream, "13245", false, 6 * time.Second, 1, 0},
		{ReorderEvents(5), stream, "12345", false, 6 * time.Second, 1, 0},
		{DropEvent(2), stream, "1345", false, 6 * time.Second, 1, 0},
		{DoubleEvent(2), stream, "122345", false, 6 * time.Second, 1, 0},
		{CutAfter(3), stream, "123", true, 3 * time.Second, 1, 1},
		{CutAfter(0), stream, "", true, time.Second, 1, 1},
		{CutAfter(3), get, "done", false, time.Second, 1, 0},
		{CutAfter(6), stream, "12345", false, 6 * time.Second, 1, 0},
		{Truncate(2), get, "do", true, time.Second, 1, 0},
		{Truncate(0), get, "", true, time.Second, 1, 0},
		{HalfClose(3), stream, "123", false, 3 * time.Second, 1, 0},
		{HalfClose(0), stream, "", true, 0, 1, 0},
		{HalfClose(0), get, "", true, 0, 1, 0},
		{Slow(1), get, "done", false, 6 * time.Second, 1, 0},
		{Status(503), get, "", false, 0, 0, 0},
	} {
		t.Run(tt.fault.String()+" of "+tt.method, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := newThrough(t, &agent{work: time.Second}, tt.fault)
				defer a.over()
				begun := time.Now()
				got, err := a.call(tt.method)
				took := time.Since(begun)
				time.Sleep(time.Minute)
				var broken *Error
				if got != tt.want || errors.As(err, &broken) != tt.broken || !tt.broken && err != nil {
					t.Errorf("got %q, %v", got, err)
				}
				if took != tt.took || a.calls.Load() != tt.calls || a.told.Load() != tt.told {
					t.Errorf("it took %v, %d calls, %d told", took, a.calls.Load(), a.told.Load())
				}
				if err := a.Err(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// TestNothingComesFromAStalledAnswer until the caller gives up, and the agent is told then.
func TestNothingComesFromAStalledAnswer(t *testing.T) {
	for fault, want := range map[*Fault]string{new(Stall()): "", new(StallAfter(2)): "12", new(StallAfter(0)): ""} {
		synctest.Test(t, func(t *testing.T) {
			a := newThrough(t, &agent{}, *fault)
			begun := time.Now()
			got, err := a.call(stream)
			if got != want || !errors.Is(err, context.DeadlineExceeded) || time.Since(begun) != time.Hour {
				t.Errorf("%s: got %q, %v after %v", fault, got, err, time.Since(begun))
			}
			time.Sleep(time.Minute)
			if a.told.Load() != 1 {
				t.Errorf("%s: the agent was not told", fault)
			}
			a.over()
		})
	}
}

// TestClosingEndsWhatIsHeld: stalled answers, requests that wait, and answers that nobody gets.
func TestClosingEndsWhatIsHeld(t *testing.T) {
	for _, fault := range []Fault{Stall(), StallAfter(1), Delay(time.Hour), HalfClose(1), HalfClose(0), Double(), ReorderRequests()} {
		synctest.Test(t, func(t *testing.T) {
			a := newThrough(t, &agent{work: time.Millisecond}, fault)
			done := make(chan struct{})
			go func() {
				defer close(done)
				_, _ = a.call(stream)
			}()
			time.Sleep(2 * time.Millisecond)
			begun := time.Now()
			a.Close()
			<-done
			if took := time.Since(begun); took > 5*time.Second {
				t.Errorf("%s: it took %v", fault, took)
			}
			if _, err := a.call(get); !errors.Is(err, errInjector) {
				t.Errorf("%s: after that: %v", fault, err)
			}
			a.over()
		})
	}
}

// TestLimits: which of ten requests a fault hits.
func TestLimits(t *testing.T) {
	for _, tt := range []struct {
		fault Fault
		want  string // x: hit
	}{
		{Drop(Request), "xxxxxxxxxx"},
		{Drop(Request).Times(3), "xxx......."},
		{Drop(Request).Skip(7), ".......xxx"},
		{Drop(Request).Skip(2).Times(1), "..x......."},
		{Drop(Request).On(get), "x.x.x.x.x."},
		{Drop(Request).On("tasks/get").Times(2), "x.x......."},
		{Drop(Request).On(stream, "GetTask").Skip(1).Times(2), ".xx......."},
		{Drop(Request).Path("/rpc"), "xxxxxxxxxx"},
		{Drop(Request).Path("/other"), ".........."},
		{Drop(Request).On(Card), ".........."},
		{CutAfter(2), ".x.x.x.x.x"},
		{CutAfter(2).Times(2).Skip(1), "...x.x...."},
		{Drop(Request).Probability(0.5), "x...xxxxxx"},
		{Drop(Request).Probability(0.5).Times(2), "x...x....."},
		{Drop(Request).Probability(1), "xxxxxxxxxx"},
	} {
		t.Run(tt.fault.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := newThrough(t, &agent{}, tt.fault)
				defer a.over()
				got := ""
				for i := range 10 {
					if _, err := a.call([]string{get, stream}[i%2]); err != nil {
						got += "x"
					} else {
						got += "."
					}
				}
				if got != tt.want {
					t.Errorf("got  %s\nwant %s", got, tt.want)
				}
				if unused := len(a.Unused()) == 1; unused != !strings.Contains(got, "x") {
					t.Errorf("unused: %v", a.Unused())
				}
			})
		})
	}
}

// TestFaultsCompose: each does its part.
func TestFaultsCompose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newThrough(t, &agent{}, Delay(time.Minute), DelayEvents(time.Hour/60), ReorderEvents(1), CutAfter(4), Status(503).RetryAfter(1500*time.Millisecond).Skip(1))
		defer a.over()
		begun := time.Now()
		got, err := a.call(stream)
		if got != "2134" || !errors.Is(err, io.ErrUnexpectedEOF) || time.Since(begun) != 5*time.Minute {
			t.Errorf("got %q, %v after %v", got, err, time.Since(begun))
		}
		r, _ := http.NewRequest(http.MethodGet, "http://agent/tasks/1", nil)
		resp, err := a.http.Do(r)
		if err != nil || resp.StatusCode != http.StatusServiceUnavailable || resp.Header.Get("Retry-After") != "2" || time.Since(begun) != 6*time.Minute {
			t.Errorf("got %+v, %v after %v", resp, err, time.Since(begun))
		}
	})
}

// TestARequestIsOvertaken by the next one of its kind, or goes on after a second, which is reported.
func TestARequestIsOvertaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var order []string
		h := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { order = append(order, r.URL.Path) })
		in, err := New(1, ReorderRequests().Times(2).Path("/task"))
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		c := http.Client{Transport: in.Wrap(handled{h})}
		for _, path := range []string{"/tasks/1", "/others", "/tasks/2", "/tasks/3", "/tasks/4"} {
			go func() {
				if resp, err := c.Get("http://agent" + path); err != nil || resp.Body.Close() != nil {
					t.Error(err)
				}
			}()
			synctest.Wait()
		}
		if got := strings.Join(order, " "); got != "/others /tasks/2 /tasks/1 /tasks/4 /tasks/3" {
			t.Errorf("got %s", got)
		}
		if err := in.Err(); err != nil {
			t.Error(err)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		a := newThrough(t, &agent{}, ReorderRequests().Times(1))
		defer a.over()
		begun := time.Now()
		if got, err := a.call(get); got != "done" || err != nil || time.Since(begun) != time.Second {
			t.Errorf("got %q, %v after %v", got, err, time.Since(begun))
		}
		if want := "fault.ReorderRequests(): request 1 (POST /rpc): no request came within 1s that could overtake it"; fmt.Sprint(a.Err()) != want {
			t.Errorf("got %v", a.Err())
		}
	})
}

// TestMistakes: a fault that cannot be is an error of New, which says what is wrong.
func TestMistakes(t *testing.T) {
	for _, tt := range []struct {
		fault Fault
		want  string
	}{
		{CutAfter(-1), "fault.CutAfter(-1): the number must not be negative"},
		{Truncate(-1), "fault.Truncate(-1): the number must not be negative"},
		{HalfClose(-2), "fault.HalfClose(-2): the number must not be negative"},
		{StallAfter(-2), "fault.StallAfter(-2): the number must not be negative"},
		{Delay(-time.Second), "fault.Delay(-1s): the time must be more than 0"},
		{DelayEvents(0), "fault.DelayEvents(0s): the time must be more than 0"},
		{Slow(0), "fault.Slow(0): the number of bytes in a second must be more than 0"},
		{ReorderEvents(0), "fault.ReorderEvents(0): the number of the event must be more than 0"},
		{DropEvent(0), "fault.DropEvent(0): the number of the event must be more than 0"},
		{DoubleEvent(-1), "fault.DoubleEvent(-1): the number of the event must be more than 0"},
		{Drop(0), "fault.Drop(0): it drops Request or Reply"},
		{Status(200), "fault.Status(200): a status that fails is from 400 to 599"},
		{Status(503).RetryAfter(0), "fault.Status(503): the time of RetryAfter must be more than 0"},
		{Delay(time.Second).RetryAfter(time.Second), "fault.Delay(1s).RetryAfter(1s): RetryAfter is for Status alone"},
		{Stall().Times(0), "fault.Stall(): the number of Times must be more than 0"},
		{Stall().Skip(-1), "fault.Stall().Skip(-1): the number must not be negative"},
		{Stall().Probability(1.5), "fault.Stall().Probability(1.5): a probability is more than 0 and at most 1, and this is 1.5"},
		{Stall().Path("rpc"), `fault.Stall().Path("rpc"): a path begins with a slash, and "rpc" does not`},
		{Stall().On(), "fault.Stall(): On names no operation"},
		{Stall().On("SendMesage"), `fault.Stall(): there is no operation "SendMesage": there are SendMessage, SendStreamingMessage, GetTask,`},
		{CutAfter(3).On("GetTask"), `fault.CutAfter(3).On("GetTask"): GetTask has no stream of events; SendStreamingMessage and SubscribeToTask have`},
		{Fault{}, "fault.Fault{} is no fault"},
	} {
		in, err := New(1, Double(), tt.fault)
		if in != nil || err == nil || !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("got  %v\nwant %s", err, tt.want)
		}
	}
	_, err := New(1, CutAfter(-1), Slow(-1))
	if err == nil || len(strings.Split(err.Error(), "\n")) != 2 {
		t.Errorf("not all mistakes are said at once: %v", err)
	}
}

// TestAFaultIsAValue: its limits are those of a copy.
func TestAFaultIsAValue(t *testing.T) {
	f := Status(429).On("message/send")
	g := f.RetryAfter(3 * time.Second).On("GetTask").Path("/rpc").Skip(1).Times(2).Probability(0.5)
	if got := f.String(); got != `Status(429).On("SendMessage")` {
		t.Error(got)
	}
	if got := g.String(); got != `Status(429).RetryAfter(3s).On("SendMessage", "GetTask").Path("/rpc").Skip(1).Times(2).Probability(0.5)` {
		t.Error(got)
	}
}

// TestTheWatcherSeesWhatEachRequestMet, when it is over.
func TestTheWatcherSeesWhatEachRequestMet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, err := New(1, CutAfter(2).Times(1), Drop(Request).On(get), Double().On("ListTasks"))
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		var seen []string
		in.Watch(func(e Exchange) {
			seen = append(seen, strings.TrimSpace(fmt.Sprintln(e.Number, e.Method, e.Path, e.Operation, e.Binding, e.Faults, e.Status, e.Events, e.Bytes, e.Err, e.Problems)))
			_ = in.Err() // may be asked
		})
		a := &through{&agent{}, in, http.Client{Transport: in.Wrap(handled{&agent{}})}}
		for _, method := range []string{stream, get, stream} {
			_, _ = a.call(method)
		}
		big, _ := http.NewRequest(http.MethodPost, "http://agent/rpc", io.MultiReader(strings.NewReader(`{"method":"tasks/list"`), strings.NewReader(strings.Repeat(" ", maxDouble))))
		big.Header.Set("Content-Type", "application/json")
		if resp, err := a.http.Do(big); err != nil {
			t.Error(err)
		} else if _, err := io.CopyN(io.Discard, resp.Body, 5); err != nil || resp.Body.Close() != nil {
			t.Error(err)
		}
		want := []string{
			"1 POST /rpc SendStreamingMessage JSONRPC [CutAfter(2)] 200 2 58 the connection broke: fault.CutAfter(2) []",
			"2 POST /rpc GetTask JSONRPC [Drop(Request)] 0 0 0 the connection broke: fault.Drop(Request) []",
			"3 POST /rpc SendStreamingMessage JSONRPC [] 200 5 145 <nil> []",
			"4 POST /rpc ListTasks JSONRPC [Double()] 200 0 5 <nil> [fault.Double(): request 4 (POST /rpc): its body is over 4194304 bytes]",
		}
		for i := range want {
			if i >= len(seen) || seen[i] != want[i] {
				t.Errorf("got  %s\nwant %s", strings.Join(seen, "\n     "), want[i])
			}
		}
	})
}

// TestAHitIsToldAtOnce, also of a request that gets no answer.
func TestAHitIsToldAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, err := New(1, Delay(time.Hour).On(stream), CutAfter(2).On(stream), Stall().On(get))
		if err != nil {
			t.Fatal(err)
		}
		type key struct{}
		var mu sync.Mutex
		var hits []string
		over := 0
		in.WatchHits(func(r *http.Request, fault string) {
			mu.Lock()
			defer mu.Unlock()
			hits = append(hits, fmt.Sprint(r.URL.Path, " ", r.Context().Value(key{}), " ", fault))
		})
		in.Watch(func(Exchange) {
			mu.Lock()
			defer mu.Unlock()
			over++
		})
		told := func() ([]string, int) {
			synctest.Wait()
			mu.Lock()
			defer mu.Unlock()
			return slices.Clone(hits), over
		}
		rt := in.Wrap(handled{&agent{}})
		var wg sync.WaitGroup
		for _, method := range []string{stream, get, "ListTasks"} {
			r, _ := http.NewRequestWithContext(context.WithValue(t.Context(), key{}, method), http.MethodPost, "http://agent/"+method, strings.NewReader(`{"method":"`+method+`"}`))
			r.Header.Set("Content-Type", "application/json")
			wg.Go(func() {
				if resp, err := rt.RoundTrip(r); err == nil {
					_, _ = io.Copy(io.Discard, resp.Body)
					_ = resp.Body.Close()
				}
			})
			synctest.Wait()
		}
		hit, ended := told()
		if want := []string{"/" + stream + " " + stream + " Delay(1h0m0s)", "/" + get + " " + get + " Stall()"}; !slices.Equal(hit, want) || ended != 1 {
			t.Errorf("%q, and %d are over", hit, ended)
		}
		time.Sleep(2 * time.Hour)
		if hit, ended = told(); len(hit) != 3 || !strings.HasSuffix(hit[2], stream+" CutAfter(2)") || ended != 2 {
			t.Errorf("%q, and %d are over", hit, ended)
		}
		in.Close()
		wg.Wait()
	})
}

// TestProblemsAreCounted: the first ones are kept.
func TestProblemsAreCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newThrough(t, &agent{}, ReorderRequests())
		defer a.over()
		for range maxProblems + 5 {
			if _, err := a.call(get); err != nil {
				t.Fatal(err)
			}
		}
		if n := len(strings.Split(a.Err().Error(), "\n")); n != maxProblems {
			t.Errorf("%d problems", n)
		}
	})
}

// TestALargeEventPasses as it is, and that is said.
func TestALargeEventPasses(t *testing.T) {
	big := "data: " + strings.Repeat("x", maxKept) + "\n\n"
	for _, f := range []Fault{ReorderEvents(1), DoubleEvent(1)} {
		in, err := New(1, f)
		if err != nil {
			t.Fatal(err)
		}
		h := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, big+"data: 2\n\n")
		})
		resp, err := (&http.Client{Transport: in.Wrap(handled{h})}).Get("http://agent/")
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		if string(body) != big+"data: 2\n\n" || err != nil || !errors.Is(in.Err(), errKept) {
			t.Errorf("%s: %d bytes, %v, %v", f, len(body), err, in.Err())
		}
		in.Close()
	}
}
