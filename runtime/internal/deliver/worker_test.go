package deliver

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/a2agen/a2agen/a2a"
	"github.com/a2agen/a2agen/internal/test/faultstore"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/internal/observing"
	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/store/memory"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// post is a transport that keeps what was sent.
type post struct {
	mu     sync.Mutex
	sent   []letter
	active int
	most   int // on their way at once
	// answer says what comes of a notification; nil: it arrives.
	answer func(ctx context.Context, n *runtime.Notification) error
}

type letter struct {
	*runtime.Notification
	at  time.Time
	err error
}

func (p *post) Check(*runtime.PushConfig) *runtime.Violation { return nil }

func (p *post) Host(c *runtime.PushConfig) string { return c.URL }

func (p *post) Close() {}

func (p *post) Push(ctx context.Context, n *runtime.Notification) (err error) {
	p.mu.Lock()
	p.active++
	p.most = max(p.most, p.active)
	answer := p.answer
	p.mu.Unlock()
	if answer != nil {
		err = answer(ctx, n)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.active--
	p.sent = append(p.sent, letter{n, time.Now(), err})
	return err
}

func (p *post) all() []letter {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.sent)
}

func (p *post) arrived() (list []letter) {
	for _, l := range p.all() {
		if l.err == nil {
			list = append(list, l)
		}
	}
	return list
}

// hang waits for as long as the transport does.
func hang(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(15 * time.Second):
		return &runtime.PushFailure{Reason: "no answer"}
	}
}

// desk is a worker with a store in which a test writes tasks itself.
type desk struct {
	*Worker
	t        *testing.T
	in       store.Store
	protocol *runtime.Protocol
	n        int // of events
}

// now is later each time: tasks are sorted by it.
func (d *desk) now() time.Time {
	d.n++
	return time.Now().Add(time.Duration(d.n) * time.Millisecond)
}

// grace is how long a worker may take to close.
const grace = 2 * time.Second

func newDesk(t *testing.T, s store.Store, p Sender) *desk {
	t.Helper()
	protocol := a2a.Protocol()
	w := New(Config{
		Store: s, Sender: p, Observers: &observing.Group{}, StoreTime: 10 * time.Second, Grace: grace, Join: protocol.NewArtifact,
		Logger: func(_, _, _ string) *slog.Logger { return slog.New(slog.DiscardHandler) },
		Encode: func(version string, task runtime.Task, e runtime.Event) (Encoded, error) {
			body, err := protocol.AppendPush(nil, protocol.Versions[0], task, e)
			return Encoded{Version: version, Body: body}, err
		},
	})
	t.Cleanup(func() { w.Close(t.Context()) })
	w.Wake()
	synctest.Wait() // it looks what is due
	return &desk{Worker: w, t: t, in: s, protocol: protocol}
}

// stop closes the worker at once.
func (d *desk) stop() {
	ctx, cancel := context.WithCancel(d.t.Context())
	cancel()
	d.Close(ctx)
}

// task makes a task with configurations that lead to urls.
func (d *desk) task(id string, urls ...string) store.Key {
	d.t.Helper()
	key := store.Key{Task: id}
	if _, err := d.in.Create(d.t.Context(), key, store.New{Task: d.protocol.NewTask(id, "", d.now())}, nil); err != nil {
		d.t.Fatal(err)
	}
	for i, url := range urls {
		p := store.Push{ID: strconv.Itoa(i), Version: "1.0", Config: runtime.PushConfig{ID: strconv.Itoa(i), URL: url}}
		if err := d.in.SetPush(d.t.Context(), key, p); err != nil {
			d.t.Fatal(err)
		}
	}
	return key
}

// says adds events to a task: a text is a chunk of its story, a word in capitals a status.
func (d *desk) says(key store.Key, words ...string) {
	d.t.Helper()
	for _, word := range words {
		h, err := d.in.Head(d.t.Context(), key)
		if err != nil {
			d.t.Fatal(err)
		}
		u := store.Update{Event: d.protocol.NewArtifact(key.Task, "", runtime.ArtifactData{
			ID: "story", Append: h.Version > 1, LastChunk: strings.HasSuffix(word, "."), Parts: []runtime.Part{runtime.Text(word)},
		})}
		switch word {
		case "WORKING":
			u.Event = d.protocol.NewStatus(key.Task, "", runtime.StateWorking, nil, d.now())
		case "COMPLETED":
			u.Event = d.protocol.NewStatus(key.Task, "", runtime.StateCompleted, nil, d.now())
		}
		if _, err := d.in.Apply(d.t.Context(), key, h.Version, u, nil); err != nil {
			d.t.Fatal(err)
		}
	}
	d.Wake()
}

// story is what a receiver has read, and checks that it came in order and once.
func story(t *testing.T, letters []letter) string {
	t.Helper()
	text, next, seen := "", 0, map[string]bool{}
	for _, l := range letters {
		from, to, several := strings.Cut(l.Sequence, "-")
		first, _ := strconv.Atoi(from)
		last := first
		if several {
			last, _ = strconv.Atoi(to)
		}
		if next != 0 && first != next || last < first || seen[l.ID] {
			t.Errorf("%s comes after %d, seen %v", l.Sequence, next-1, seen[l.ID])
		}
		next, seen[l.ID] = last+1, true
		var body struct {
			Status   *struct{ Status struct{ State string } } `json:"statusUpdate"`
			Artifact *struct {
				Artifact  struct{ Parts []struct{ Text string } }
				LastChunk bool
			} `json:"artifactUpdate"`
		}
		if err := json.Unmarshal(l.Body, &body); err != nil {
			t.Fatal(err)
		}
		if body.Status != nil {
			text += strings.TrimPrefix(body.Status.Status.State, "TASK_STATE_")
			continue
		}
		for _, p := range body.Artifact.Artifact.Parts {
			text += p.Text
		}
		if got := body.Artifact.Artifact.Parts; body.Artifact.LastChunk != strings.HasSuffix(got[len(got)-1].Text, ".") {
			t.Errorf("%s says last chunk: %v", l.Body, body.Artifact.LastChunk)
		}
	}
	return text
}

func TestChunksThatWaitTravelTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &post{}
		d := newDesk(t, memory.New(memory.Limits{}), p)
		key := d.task("t", "a")
		var words []string
		for i := range 300 {
			words = append(words, fmt.Sprint(i, " "))
		}
		words = slices.Concat([]string{"WORKING"}, words[:100], []string{"WORKING", "WORKING"}, words[100:], []string{"end.", "COMPLETED"})
		d.says(key, words...)
		synctest.Wait()
		got := p.arrived()
		if story(t, got) != strings.Join(words, "") {
			t.Errorf("it is told %q", story(t, got))
		}
		if len(got) > 20 {
			t.Errorf("%d notifications for %d events", len(got), len(words))
		}
		for _, l := range got {
			if strings.Contains(l.Sequence, "-") && strings.Contains(string(l.Body), "statusUpdate") {
				t.Errorf("a status travels with others: %s", l.Sequence)
			}
		}
	})
}

// A repeat is the same notification, whatever came meanwhile and whoever sends it: else a receiver could not drop it.
func TestARepeatIsTheSameNotification(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := memory.New(memory.Limits{})
		var up atomic.Bool
		p := &post{answer: func(_ context.Context, n *runtime.Notification) error {
			if !up.Load() && strings.Contains(n.Sequence, "-") {
				return &runtime.PushFailure{Reason: "not now", Answered: true}
			}
			return nil
		}}
		d := newDesk(t, s, p)
		key := d.task("t", "a")
		d.says(key, "WORKING", "a", "b", "c")
		synctest.Wait()
		d.says(key, "d", "e.", "COMPLETED")
		time.Sleep(10 * time.Second)
		d.stop()
		first, tries := p.all()[1], len(p.all())
		up.Store(true)
		if first.err == nil || first.Sequence != "3-5" || tries < 3 {
			t.Fatalf("%d tries, %s: %v", tries, first.Sequence, first.err)
		}
		newDesk(t, s, p) // after a restart
		time.Sleep(time.Minute)
		got := p.arrived()
		if text := story(t, got); text != "WORKINGabcde.COMPLETED" {
			t.Errorf("it is told %q", text)
		}
		for _, l := range p.all()[1 : tries+1] {
			if l.ID != first.ID || l.Sequence != first.Sequence || string(l.Body) != string(first.Body) {
				t.Errorf("%s is repeated as %s", first.Body, l.Body)
			}
		}
	})
}

func TestAHostThatHangsDelaysNobodyElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &post{answer: func(ctx context.Context, n *runtime.Notification) error {
			if strings.HasPrefix(n.Config.URL, "hanging") {
				return hang(ctx)
			}
			time.Sleep(10 * time.Millisecond)
			return nil
		}}
		d := newDesk(t, memory.New(memory.Limits{}), p)
		var keys []store.Key
		for i := range 1000 {
			host := fmt.Sprint("host", i%100)
			if i%100 < 10 {
				host = fmt.Sprint("hanging", i%100)
			}
			keys = append(keys, d.task(fmt.Sprint("t", i), host))
		}
		for _, key := range keys {
			d.says(key, "WORKING")
		}
		time.Sleep(5 * time.Second)
		if n := len(p.arrived()); n != 900 {
			t.Errorf("after five seconds %d of 900 have arrived", n)
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.most > maxInFlight {
			t.Errorf("%d at once", p.most)
		}
	})
}

// A flood for one host that hangs waits in the store, and what comes after it passes it by.
func TestAFloodForOneHostIsPassedBy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &post{answer: func(ctx context.Context, n *runtime.Notification) error {
			if n.Config.URL == "hanging" {
				return hang(ctx)
			}
			return nil
		}}
		d := newDesk(t, memory.New(memory.Limits{}), p)
		for i := range 9900 {
			d.says(d.task(fmt.Sprint("t", i), "hanging"), "WORKING")
		}
		for i := range 50 {
			d.says(d.task(fmt.Sprint("good", i), "good"), "WORKING")
		}
		d.mu.Lock()
		if n := len(d.jobs); n > maxClaimed {
			t.Errorf("%d are claimed", n)
		}
		d.mu.Unlock()
		time.Sleep(3 * time.Second)
		if n := len(p.arrived()); n != 50 {
			t.Errorf("after three seconds %d of 50 have arrived", n)
		}
	})
}

func TestManyConfigurationsNeedLittleMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		most := 0
		p := &post{}
		d := newDesk(t, memory.New(memory.Limits{}), p)
		p.answer = func(context.Context, *runtime.Notification) error {
			d.mu.Lock()
			most = max(most, len(d.jobs))
			d.mu.Unlock()
			time.Sleep(time.Millisecond)
			return nil
		}
		var keys []store.Key
		for i := range 10_000 {
			keys = append(keys, d.task(fmt.Sprint("t", i), "host"))
		}
		for _, key := range keys {
			d.says(key, "WORKING", "COMPLETED")
		}
		time.Sleep(time.Minute)
		if n := len(p.arrived()); n != 20_000 {
			t.Errorf("%d have arrived", n)
		}
		if most > maxClaimed {
			t.Errorf("%d were claimed at once", most)
		}
		if d.mu.Lock(); len(d.jobs)+len(d.queued) != 0 {
			t.Errorf("%d jobs and %d queues are left", len(d.jobs), len(d.queued))
		}
		d.mu.Unlock()
	})
}

func TestANotificationIsRepeatedWithGrowingPausesAndGivenUp(t *testing.T) { // R84, R192
	synctest.Test(t, func(t *testing.T) {
		s := memory.New(memory.Limits{Parked: 1000 * time.Hour})
		var up atomic.Bool
		p := &post{answer: func(context.Context, *runtime.Notification) error {
			if up.Load() {
				return nil
			}
			return &runtime.PushFailure{Reason: "down", Answered: true}
		}}
		d := newDesk(t, s, p)
		key := d.task("t", "a")
		d.says(key, "WORKING")
		time.Sleep(48 * time.Hour)
		sent := p.all()
		for i, l := range sent[1:] {
			pause, longest := l.at.Sub(sent[i].at), min(firstBackoff<<min(i, 20), lastBackoff)
			if pause < longest/2 || pause > longest+time.Second {
				t.Errorf("pause %d is %v", i+1, pause)
			}
		}
		last := sent[len(sent)-1].at.Sub(sent[0].at)
		if len(sent) > maxTries || len(sent) < 40 || last > triesFor+lastBackoff {
			t.Errorf("%d tries in %v", len(sent), last)
		}
		up.Store(true)
		d.says(key, "a")
		time.Sleep(time.Hour)
		if len(p.arrived()) != 0 {
			t.Error("a dead letter was sent")
		}
		push := store.Push{ID: "0", Version: "1.0", Config: runtime.PushConfig{ID: "0", URL: "b"}} // registered anew
		if err := s.SetPush(t.Context(), key, push); err != nil {
			t.Fatal(err)
		}
		d.says(key, "b.")
		time.Sleep(time.Minute)
		if text := story(t, p.arrived()); text != "WORKINGab." {
			t.Errorf("after that it is told %q", text)
		}
	})
}

func TestAReceiverSaysWhenItWantsToHearAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		after := []time.Duration{10 * time.Minute, 100 * time.Hour, time.Nanosecond}
		p := &post{}
		p.answer = func(context.Context, *runtime.Notification) error {
			if n := len(p.all()); n < len(after) {
				return &runtime.PushFailure{Reason: "busy", Answered: true, After: after[n]}
			}
			return &runtime.PushFailure{Reason: "the receiver answered 410", Answered: true, Gone: true}
		}
		d := newDesk(t, memory.New(memory.Limits{}), p)
		d.says(d.task("t", "a"), "WORKING")
		time.Sleep(12 * time.Hour)
		sent := p.all()
		if len(sent) != 4 { // the last one wants nothing any more
			t.Fatalf("%d tries", len(sent))
		}
		for i, want := range []time.Duration{10 * time.Minute, maxAfter} {
			if pause := sent[i+1].at.Sub(sent[i].at); pause < want || pause > want+time.Second {
				t.Errorf("pause %d is %v, want %v", i, pause, want)
			}
		}
		if pause := sent[3].at.Sub(sent[2].at); pause < 2*time.Second {
			t.Errorf("a receiver shortens the pause to %v", pause)
		}
	})
}

// What a store forgets or cannot be told costs a repeat, never a notification.
func TestNothingIsLostWhenTheStoreFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		random := rand.New(rand.NewPCG(1, 2)) // a fixed rhythm of faults could hit the same call for ever
		var mu sync.Mutex
		s := faultstore.New(memory.New(memory.Limits{}), func(c faultstore.Call) faultstore.Fault {
			if c.Op != "due" && c.Op != "settle" && c.Op != "events" {
				return faultstore.Fault{}
			}
			mu.Lock()
			defer mu.Unlock()
			return faultstore.Fault{Before: random.IntN(3) == 0, After: random.IntN(5) == 0}
		})
		p := &post{}
		d := newDesk(t, s, p)
		key := d.task("t", "a", "b")
		d.says(key, "WORKING", "a", "b", "c.", "COMPLETED")
		time.Sleep(3 * time.Hour)
		told, ids := map[string][]letter{}, map[string]string{}
		for _, l := range p.arrived() {
			to := l.Config.ID
			if seq, ok := ids[l.ID]; ok && seq != to+l.Sequence {
				t.Errorf("%s and %s have one id", seq, to+l.Sequence)
			} else if !ok {
				told[to] = append(told[to], l)
			}
			ids[l.ID] = to + l.Sequence
		}
		for to, letters := range told {
			if text := story(t, letters); text != "WORKINGabc.COMPLETED" {
				t.Errorf("%s is told %q", to, text)
			}
		}
		if len(told) != 2 {
			t.Errorf("%d receivers heard of it", len(told))
		}
	})
}

// What came of a notification is told to the store when that answers again, not when the claim has run out: until then
// nobody sends what follows.
func TestWhatFollowsIsSentWhenTheStoreAnswersAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var away atomic.Bool
		s := faultstore.New(memory.New(memory.Limits{}), func(c faultstore.Call) faultstore.Fault {
			return faultstore.Fault{Before: c.Op == "settle" && away.Load()}
		})
		p := &post{}
		d := newDesk(t, s, p)
		key := d.task("t", "a")
		away.Store(true)
		d.says(key, "WORKING", "COMPLETED")
		time.Sleep(10 * time.Second)
		if got := p.arrived(); len(got) != 1 {
			t.Fatalf("%d notifications arrived", len(got))
		}
		away.Store(false)
		time.Sleep(2 * lastSettle)
		if got := p.arrived(); len(got) != 2 || got[1].ID == got[0].ID {
			t.Errorf("%d notifications arrived: %+v", len(got), got)
		}
	})
}

// away makes a worker with a store whose calls of one kind hang until the store is back.
func away(t *testing.T, p Sender, op string) (d *desk, back func()) {
	wait := make(chan struct{})
	s := faultstore.New(memory.New(memory.Limits{}), func(c faultstore.Call) faultstore.Fault {
		if c.Op != op {
			return faultstore.Fault{}
		}
		return faultstore.Fault{Wait: wait}
	})
	return newDesk(t, s, p), func() { close(wait) }
}

// While the store does not answer, the host has nothing to answer: it must not be taken for slow.
func TestASlowStoreDelaysNothingAfterwards(t *testing.T) {
	for _, op := range []string{"events", "settle"} {
		t.Run(op, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &post{}
				d, back := away(t, p, op)
				for i := range 100 {
					d.says(d.task(fmt.Sprint("t", i), "host"), "WORKING")
					time.Sleep(20 * time.Millisecond)
				}
				back()
				time.Sleep(time.Second)
				if n := len(p.arrived()); n != 100 {
					t.Errorf("%d of 100 have arrived", n)
				}
			})
		})
	}
}

func TestWhatCouldNotBeReadIsSentSoon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := faultstore.New(memory.New(memory.Limits{}), faultstore.Times(1, faultstore.Fault{Refuse: store.ErrUnavailable},
			func(c faultstore.Call) bool { return c.Op == "events" }))
		p := &post{}
		d := newDesk(t, s, p)
		d.says(d.task("t", "a"), "WORKING", "COMPLETED")
		time.Sleep(2 * firstBackoff)
		if text := story(t, p.arrived()); text != "WORKINGCOMPLETED" {
			t.Errorf("it is told %q", text)
		}
	})
}

// What waits for a host that is slow waits as long again as it was slow, at most, not until its claim has run out.
func TestWhatASlowHostDelaysIsSentSoonAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var up atomic.Bool
		p := &post{answer: func(ctx context.Context, _ *runtime.Notification) error {
			if !up.Load() {
				return hang(ctx)
			}
			return nil
		}}
		d := newDesk(t, memory.New(memory.Limits{}), p)
		for i := range 500 {
			d.says(d.task(fmt.Sprint("t", i), "host"), "WORKING")
			time.Sleep(2 * time.Millisecond)
		}
		up.Store(true)
		time.Sleep(30 * time.Second)
		if n := len(p.arrived()); n != 500 {
			t.Errorf("%d of 500 have arrived", n)
		}
	})
}

// A host that answers nothing for hours costs the store less and less.
func TestWhatWaitsForAHostThatIsAwayIsClaimedSeldom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls atomic.Int64
		s := faultstore.New(memory.New(memory.Limits{}), func(c faultstore.Call) faultstore.Fault {
			if c.Op == "settle" {
				calls.Add(1)
			}
			return faultstore.Fault{}
		})
		p := &post{answer: func(ctx context.Context, _ *runtime.Notification) error { return hang(ctx) }}
		d := newDesk(t, s, p)
		const flood = 2000
		for i := range flood {
			d.says(d.task(fmt.Sprint("t", i), "host"), "WORKING")
		}
		time.Sleep(10 * time.Minute)
		before := calls.Load()
		time.Sleep(20 * time.Minute)
		if n := calls.Load() - before; n > 12*flood {
			t.Errorf("%d deliveries were settled %d times in 20 minutes", flood, n)
		}
	})
}

// A receiver that was away for longer than the log lasts gets the task as it stands.
func TestAReceiverThatWasAwayForTooLongGetsTheTask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var up atomic.Bool
		p := &post{answer: func(context.Context, *runtime.Notification) error {
			if up.Load() {
				return nil
			}
			return &runtime.PushFailure{Reason: "down"}
		}}
		d := newDesk(t, memory.New(memory.Limits{Events: 4}), p)
		key := d.task("t", "a")
		d.says(key, "WORKING")
		for range 20 {
			d.says(key, "x")
		}
		time.Sleep(time.Minute)
		up.Store(true)
		time.Sleep(time.Hour)
		got := p.arrived()
		if len(got) != 1 || got[0].Sequence != "2-22" || !strings.HasPrefix(string(got[0].Body), `{"task":{`) {
			t.Fatalf("it gets %d: %+v", len(got), got)
		}
		d.says(key, "COMPLETED")
		time.Sleep(time.Minute)
		if got = p.arrived(); len(got) != 2 || got[1].Sequence != "23" {
			t.Errorf("then it gets %+v", got)
		}
	})
}

func TestNothingIsInFlightAfterTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &post{answer: func(ctx context.Context, _ *runtime.Notification) error { return hang(ctx) }}
		d := newDesk(t, memory.New(memory.Limits{}), p)
		for i := range 100 {
			d.says(d.task(fmt.Sprint("t", i), fmt.Sprint("host", i)), "WORKING")
		}
		time.Sleep(time.Second)
		begin := time.Now()
		d.Close(t.Context())
		if took := time.Since(begin); took > grace {
			t.Errorf("it takes %v", took)
		}
		if p.mu.Lock(); p.active != 0 {
			t.Errorf("%d are in flight", p.active)
		}
		p.mu.Unlock()
		d.says(d.task("late", "host"), "WORKING")
		synctest.Wait()
		if p.mu.Lock(); p.active != 0 {
			t.Error("something is sent after that")
		}
		p.mu.Unlock()
	})
}

// errLostAnswer: the notification arrived, but its sender does not hear of it.
var errLostAnswer = &runtime.PushFailure{Reason: "the answer was lost"}

// Whatever fails, a receiver that drops what it knows by its id reads the whole story, once and in order: sending, the
// store before and after it did something, answers, and the process. A seed that fails says so.
func TestWhateverFailsTheStoryIsToldOnceAndInOrder(t *testing.T) {
	seeds := 300
	if testing.Short() {
		seeds = 30
	}
	for seed := range seeds {
		synctest.Test(t, func(t *testing.T) { stormy(t, rand.New(rand.NewPCG(uint64(seed), 9))) })
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

func stormy(t *testing.T, r *rand.Rand) {
	var mu sync.Mutex // guards r
	draw := func(n int) int {
		mu.Lock()
		defer mu.Unlock()
		return r.IntN(n)
	}
	chance := func(percent int) bool { return draw(100) < percent }
	var calm atomic.Bool
	s := faultstore.New(memory.New(memory.Limits{}), func(c faultstore.Call) faultstore.Fault {
		if calm.Load() || c.Op != "due" && c.Op != "settle" && c.Op != "events" {
			return faultstore.Fault{}
		}
		return faultstore.Fault{Before: chance(10), After: chance(10)}
	})
	p := &post{answer: func(ctx context.Context, _ *runtime.Notification) error {
		switch {
		case calm.Load():
			return nil
		case chance(15):
			return hang(ctx)
		case chance(20):
			return &runtime.PushFailure{Reason: "down", Answered: chance(50)}
		case chance(20):
			return errLostAnswer
		}
		return nil
	}}
	d := newDesk(t, s, p)
	key := d.task("t", "a", "a", "b")
	words, told := draw(40), "WORKING"
	d.says(key, "WORKING")
	for i := range words {
		word := "WORKING"
		if chance(80) {
			word = fmt.Sprint(i, " ")
		}
		told += word
		d.says(key, word)
		if chance(30) {
			time.Sleep(time.Duration(draw(5000)) * time.Millisecond)
		}
		if chance(5) {
			d.stop()
			d = newDesk(t, s, p)
		}
	}
	d.says(key, "end.", "COMPLETED")
	time.Sleep(time.Minute)
	calm.Store(true)
	time.Sleep(3 * time.Hour)
	read, known := map[string][]letter{}, map[string]bool{}
	for _, l := range p.all() {
		if arrived := l.err == nil || l.err == errLostAnswer; arrived && !known[l.ID] {
			known[l.ID] = true
			read[l.Config.ID] = append(read[l.Config.ID], l)
		}
	}
	for _, id := range []string{"0", "1", "2"} {
		if text := story(t, read[id]); text != told+"end.COMPLETED" {
			t.Errorf("%s reads %q, want %q", id, text, told+"end.COMPLETED")
		}
	}
}

// Instances that share a store do not get into each other's way, and one goes on with what the other leaves.
func TestInstancesShareTheWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := memory.New(memory.Limits{})
		one, two := m.Instance(time.Hour), m.Instance(time.Hour)
		var sent [2]post
		var desks [2]*desk
		for i, s := range []store.Store{one, two} {
			sent[i].answer = func(ctx context.Context, _ *runtime.Notification) error {
				select {
				case <-time.After(time.Second):
					return nil
				case <-ctx.Done():
					return ctx.Err()
				}
			}
			desks[i] = newDesk(t, s, &sent[i])
		}
		var keys []store.Key
		for i := range 200 {
			keys = append(keys, desks[i%2].task(fmt.Sprint("t", i), fmt.Sprint("host", i)))
		}
		for i, key := range keys {
			desks[i%2].says(key, "WORKING")
			desks[(i+1)%2].says(key, "a", "b.", "COMPLETED")
		}
		time.Sleep(2500 * time.Millisecond)
		desks[0].stop()
		time.Sleep(time.Minute)
		all := map[string][]letter{}
		letters := append(sent[0].arrived(), sent[1].arrived()...)
		slices.SortStableFunc(letters, func(a, b letter) int { return a.at.Compare(b.at) })
		for _, l := range letters {
			all[l.TaskID] = append(all[l.TaskID], l)
		}
		for _, key := range keys {
			if text := story(t, all[key.Task]); text != "WORKINGab.COMPLETED" {
				t.Errorf("%s is told %q", key.Task, text)
			}
		}
	})
}
