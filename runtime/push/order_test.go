package push_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2agen/a2agen/runtime/push"
)

// nth is the i-th notification of a task.
func nth(i int) note { return numbered(fmt.Sprint(i), fmt.Sprint("id", i), chunk(fmt.Sprint(i), true)) }

// inFlight sends notifications at the same time, a moment after each other, and returns their statuses when all are
// answered.
func inFlight(d *desk, notes ...note) []int {
	statuses := make([]int, len(notes))
	var all sync.WaitGroup
	for i, n := range notes {
		all.Go(func() { statuses[i] = send(d, n).StatusCode })
		synctest.Wait()
	}
	all.Wait()
	return statuses
}

func wantAll(t *testing.T, got []int, status int) {
	t.Helper()
	for i, s := range got {
		if s != status {
			t.Errorf("notification %d was answered by %d, want %d", i, s, status)
		}
	}
}

func TestOrderIsRestored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		want(t, send(d, nth(1)), 200)
		began := time.Now()
		wantAll(t, inFlight(d, nth(4), nth(3), nth(2)), 200)
		if waited := time.Since(began); waited > 0 {
			t.Errorf("waited %v for what was there", waited)
		}
		d.wantStory(t, "append a 1", "append a 2", "append a 3", "append a 4")
	})
}

// TestAnyOrderOfArrivalIsRestored: all of a task at once, in any order, some of them twice and some refused at first.
func TestAnyOrderOfArrivalIsRestored(t *testing.T) {
	for seed := range uint64(200) {
		synctest.Test(t, func(t *testing.T) {
			rnd := rand.New(rand.NewPCG(seed, 0))
			d := newDesk(t)
			want(t, send(d, nth(0)), 200)
			var notes []note
			for i := range 10 {
				for range 1 + rnd.IntN(2) {
					notes = append(notes, nth(i+1))
				}
			}
			rnd.Shuffle(len(notes), func(i, j int) { notes[i], notes[j] = notes[j], notes[i] })
			wantAll(t, inFlight(d, notes...), 200)
			var lines []string
			for i := range 11 {
				lines = append(lines, fmt.Sprint("append a ", i))
			}
			d.wantStory(t, lines...)
			if t.Failed() {
				t.Fatalf("seed %d", seed)
			}
		})
	}
}

func TestAGapIsGivenUpAndReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var gaps []push.Gap
		d := newDesk(t, push.OnGap(func(g push.Gap) { gaps = append(gaps, g) }), push.WithLimits(push.Limits{Gap: 2 * time.Second}))
		want(t, send(d, nth(1)), 200)
		began := time.Now()
		wantAll(t, inFlight(d, nth(7), nth(4)), 200)
		if waited := time.Since(began); waited != 2*time.Second {
			t.Errorf("waited %v", waited)
		}
		d.wantStory(t, "append a 1", "append a 4", "append a 7")
		if got := fmt.Sprint(gaps); got != "[{t c 2 3} {t c 5 6}]" {
			t.Errorf("gaps %s", got)
		}
		want(t, send(d, nth(2)), 200) // late, but no double
		want(t, send(d, nth(2)), 200)
		want(t, send(d, numbered("6", "other id", status("working"))), 200)
		want(t, send(d, numbered("4", "another id", status("working"))), 200) // a double by its number
		d.wantStory(t, "append a 1", "append a 4", "append a 7", "late append a 2", "late working")
	})
}

func TestTheFirstThatComesIsTheBeginning(t *testing.T) {
	d := newDesk(t, push.OnGap(func(g push.Gap) { t.Errorf("gap %v", g) }))
	want(t, send(d, nth(5)), 200)
	want(t, send(d, nth(6)), 200)
	want(t, send(d, nth(4)), 200) // overtaken on the way
	want(t, send(d, nth(4)), 200)
	d.wantStory(t, "append a 5", "append a 6", "late append a 4")
}

func TestRangesFollowEachOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t, push.OnGap(func(g push.Gap) { t.Errorf("gap %v", g) }))
		wantAll(t, []int{send(d, nth(1)).StatusCode}, 200)
		wantAll(t, inFlight(d, nth(6), numbered("2-5", "r", chunk("2345", true))), 200)
		want(t, send(d, numbered("2-5", "r", chunk("2345", true))), 200)
		d.wantStory(t, "append a 1", "append a 2345", "append a 6")
	})
}

func TestConfigurationsAndTasksHaveTheirOwnOrder(t *testing.T) {
	d := newDesk(t)
	for _, config := range []string{"c", "d"} {
		n := nth(1)
		n.header["X-A2A-Notification-Config"] = config
		want(t, send(d, n), 200)
	}
	d.wantStory(t, "append a 1", "append a 1")
}

// TestARepeatWaitsForTheFirst: a sender that lost its patience sends again while the function still works (R81).
func TestARepeatWaitsForTheFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		calls := 0
		d.failing(func(string) error {
			calls++
			time.Sleep(5 * time.Second)
			return nil
		})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		var all sync.WaitGroup
		all.Go(func() { sendAs(ctx, d, nth(1)) }) // whoever sent it is gone, the function works on
		time.Sleep(2 * time.Second)
		all.Go(func() { want(t, send(d, nth(1)), 200) })
		all.Go(func() { want(t, send(d, nth(2)), 200) })
		all.Wait()
		if calls != 2 {
			t.Errorf("the function was called %d times", calls)
		}
		d.wantStory(t, "append a 1", "append a 2")
	})
}

func TestAFunctionHasATimeLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, err := push.NewReceiver(protocol(), quiet, push.Token(token), push.On(func(ctx context.Context, _ anyEvent, _ *push.Notification) error {
			<-ctx.Done()
			return ctx.Err()
		}), push.WithLimits(push.Limits{Callback: 7 * time.Second}))
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		want(t, send(r, nth(1)), 500)
		if d := time.Since(began); d != 7*time.Second {
			t.Errorf("after %v", d)
		}
	})
}

// TestWhoeverGoesAwayFreesItsPlace: a notification that waits for another one is dropped with its request.
func TestWhoeverGoesAwayFreesItsPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t, push.WithLimits(push.Limits{Waiting: 1, Gap: time.Minute}))
		want(t, send(d, nth(1)), 200)
		for range 3 {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			sendAs(ctx, d, nth(3))
			cancel()
		}
		var all sync.WaitGroup
		all.Go(func() { want(t, send(d, nth(3)), 200) })
		synctest.Wait()
		resp := send(d, nth(4))
		want(t, resp, 503)
		if resp.Header.Get("Retry-After") != "1" {
			t.Error("no Retry-After")
		}
		time.Sleep(time.Minute)
		all.Wait()
		d.wantStory(t, "append a 1", "append a 3")
	})
}

func TestTasksThatAreIdleMakeRoomForOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t, push.WithLimits(push.Limits{Tasks: 2}))
		at := func(task string) note {
			n := nth(1)
			n.body = strings.Replace(n.body, `"taskId":"t"`, `"taskId":"`+task+`"`, 1)
			n.header["X-A2A-Notification-Task"] = task
			return n
		}
		hold := make(chan struct{})
		d.failing(func(string) error { <-hold; return nil })
		var all sync.WaitGroup
		for _, task := range []string{"one", "two"} {
			all.Go(func() { want(t, send(d, at(task)), 200) })
		}
		synctest.Wait()
		want(t, send(d, at("three")), 503) // both work
		close(hold)
		all.Wait()
		for i := range 10 {
			want(t, send(d, at(fmt.Sprint("more", i))), 200)
		}
		want(t, send(d, at("one")), 200) // its order is forgotten, but not its id
		if n := strings.Count(d.story(), ","); n != 11 {
			t.Errorf("%d events: %s", n+1, d.story())
		}
	})
}

func TestIdsAreForgottenInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t, push.WithLimits(push.Limits{Memory: time.Hour, Seen: 3}))
		n := note{body: chunk("x", true), header: map[string]string{"X-A2A-Notification-Id": "one"}}
		for range 3 {
			want(t, send(d, n), 200)
		}
		d.wantStory(t, "append a x")
		time.Sleep(time.Hour + time.Second)
		want(t, send(d, n), 200)
		d.wantStory(t, "append a x", "append a x")
	})
}

// TestMemoryStaysWithinLimits: tasks that come as a whole and are never heard of again.
func TestMemoryStaysWithinLimits(t *testing.T) {
	d := newDesk(t, push.WithLimits(push.Limits{Known: 1 << 20, Seen: 100, Tasks: 10_000}))
	d.failing(func(string) error { return nil })
	text := strings.Repeat("x", 64<<10)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for i := range 400 { // 25 MiB
		body := strings.Replace(task03("working", noon, "", text), `"id":"t"`, fmt.Sprintf(`"id":"t%d"`, i), 1)
		want(t, send(d, note{body: body}), 200)
		d.mu.Lock()
		d.lines = nil
		d.mu.Unlock()
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 8<<20 {
		t.Errorf("memory grew by %d bytes", grown)
	}
	runtime.KeepAlive(d)
}

// TestASlowBodyEnds: a sender that drips holds its connection for no longer than the limit.
func TestASlowBodyEnds(t *testing.T) {
	srv := httptest.NewServer(newDesk(t, push.WithLimits(push.Limits{Read: 100 * time.Millisecond})))
	defer srv.Close()
	conn, err := net.Dial("tcp", strings.TrimPrefix(srv.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nX-A2A-Notification-Token: %s\r\nContent-Length: 1000\r\n\r\n{", token)
	_ = conn.SetReadDeadline(time.Now().Add(10 * time.Second))
	answer := make([]byte, 1000)
	n, err := conn.Read(answer)
	if err != nil || !strings.HasPrefix(string(answer[:n]), "HTTP/1.1 408 ") {
		t.Errorf("%q, %v", answer[:n], err)
	}
}

// endless is a body that never ends.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}

func TestAHugeBodyIsRefused(t *testing.T) {
	d := newDesk(t, push.WithLimits(push.Limits{Body: 1 << 20}))
	for _, declared := range []int64{-1, 1 << 40} {
		req := httptest.NewRequest(http.MethodPost, "/", endless{})
		req.ContentLength = declared
		req.Header.Set("X-A2A-Notification-Token", token)
		w := httptest.NewRecorder()
		d.ServeHTTP(w, req)
		if w.Code != 413 || w.Header().Get("Connection") != "close" {
			t.Errorf("%d %v", w.Code, w.Header())
		}
	}
}

// TestATaskOfTooManyArtifactsIsRefused: what is new among them takes time that grows with the square of their number.
func TestATaskOfTooManyArtifactsIsRefused(t *testing.T) {
	d := newDesk(t)
	many := task03("completed", noon, "", make([]string, 4097)...)
	if text := want(t, send(d, note{body: many}), 413); text != "the task has more than 4096 artifacts" {
		t.Error(text)
	}
	want(t, send(d, note{body: task03("completed", noon, "", make([]string, 4096)...)}), 200)
}

// TestBodiesShareABudget: what is held at the same time has a bound, and all of it is given back.
func TestBodiesShareABudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t, push.WithLimits(push.Limits{Bodies: 1 << 20}))
		hold := make(chan struct{})
		d.failing(func(string) error { <-hold; return nil })
		large := func(i int) note {
			return note{body: strings.Replace(chunk(strings.Repeat("x", 100<<10), true), `"taskId":"t"`, fmt.Sprintf(`"taskId":"t%d"`, i), 1)}
		}
		var all sync.WaitGroup
		var mu sync.Mutex
		counts := map[int]int{}
		for i := range 50 {
			all.Go(func() {
				status := send(d, large(i)).StatusCode
				mu.Lock()
				defer mu.Unlock()
				counts[status]++
			})
		}
		synctest.Wait()
		close(hold)
		all.Wait()
		if counts[200] == 0 || counts[200] > 10 || counts[200]+counts[503] != 50 {
			t.Errorf("answers %v", counts)
		}
		for i := range 5 {
			want(t, send(d, large(100+i)), 200)
		}
	})
}

func TestSettledTellsOfTheEnd(t *testing.T) {
	d := newDesk(t)
	news, stop := d.Settled("t")
	other, stopOther := d.Settled("u")
	defer stopOther()
	want(t, send(d, nth(1)), 200)
	want(t, send(d, numbered("2", "i2", status("working"))), 200)
	if len(news) != 0 {
		t.Error("told of a task that goes on")
	}
	want(t, send(d, numbered("3", "i3", status("input_required"))), 200)
	want(t, send(d, numbered("4", "i4", status("completed"))), 200)
	if len(news) != 1 || len(other) != 0 {
		t.Errorf("%d and %d news", len(news), len(other))
	}
	stop()
	<-news
	d.failing(func(string) error { return errors.New("no") })
	want(t, send(d, numbered("5", "i5", status("completed"))), 500)
	if len(news) != 0 {
		t.Error("told after it was stopped")
	}
}
