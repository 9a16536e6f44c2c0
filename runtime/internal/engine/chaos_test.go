package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	goruntime "runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2agen/a2agen/internal/test/faultstore"
	"github.com/a2agen/a2agen/internal/test/seeds"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/store/memory"
	"github.com/a2agen/a2agen/runtime/task"
)

// Instances that share a store, clients that talk to any of them, and everything that can go wrong: calls of the store
// that fail before or after they did something, or hang; wake-ups that are lost, late or doubled; instances that are
// killed, stopped for longer than their lease, cut off, shut down. Everything is drawn from a seed. What the clients
// have seen has to be true in the end.
//
// A seed that fails is printed, with what the engines have logged. A2A_SEED=n runs it alone; the order of goroutines is
// not drawn from it, so that it may take -count=100 to see the failure again. Package seeds says how to run others.

// defaultSeeds are enough for the race detector, a fifth of a second each. .ci/run tries thousands of new ones without it.
func defaultSeeds() uint64 {
	if os.Getenv("A2A_NIGHTLY") != "" {
		return 300
	}
	return 60
}

func TestNothingIsLostOrDoubled(t *testing.T) {
	defer goruntime.GOMAXPROCS(goruntime.GOMAXPROCS(1)) // the same seed is nearly the same run
	var sum tally
	n, begin := 0, time.Now()
	for seed := range seeds.Of(t, defaultSeeds()) {
		synctest.Test(t, func(t *testing.T) { sum.add(newChaos(t, seed).run()) })
		if n++; t.Failed() {
			break
		}
	}
	t.Logf("%d seeds in %s: %+v", n, time.Since(begin).Round(time.Millisecond), sum)
}

// tally is what happened.
type tally struct{ tasks, calls, events, kills, again, refused int }

func (t *tally) add(o tally) {
	t.tasks, t.calls, t.events = t.tasks+o.tasks, t.calls+o.calls, t.events+o.events
	t.kills, t.again, t.refused = t.kills+o.kills, t.again+o.again, t.refused+o.refused
}

type chaos struct {
	*fleet
	seed uint64

	mu      sync.Mutex
	random  *rand.Rand
	version *runtime.Version
	there   [2]int // instances
	now     [2]*agent
	rate    int // of faults, in a thousand
	tasks   []string
	skillOf map[string]string
	acked   map[string]string           // message ids → task
	ends    map[string]runtime.State    // tasks that a client saw ended
	seen    map[string]map[int64]string // events that clients saw
	begun   map[string]int              // handlers by task and call
	serial  int
	tally   tally
	log     bytes.Buffer // of the engines
}

func newChaos(t *testing.T, seed uint64) *chaos {
	c := &chaos{
		seed: seed, random: rand.New(rand.NewPCG(seed, 1)), skillOf: map[string]string{}, acked: map[string]string{},
		ends: map[string]runtime.State{}, seen: map[string]map[int64]string{}, begun: map[string]int{},
	}
	c.fleet = &fleet{t: t, shared: memory.New(memory.Limits{Ended: 99 * time.Hour}), skills: c.makeSkills}
	c.reach = func(s *faultstore.Store) store.Store {
		s.Plan(c.plan)
		return &unreliable{s, c}
	}
	c.logger = slog.New(slog.NewTextHandler(&c.log, nil))
	for i := range c.there {
		c.add(i)
	}
	c.version = c.agents[0].protocol.Versions[0]
	return c
}

// add starts an instance in the place of another.
func (c *chaos) add(place int) (before int) {
	c.start()
	c.mu.Lock()
	defer c.mu.Unlock()
	before, c.there[place] = c.there[place], len(c.agents)-1
	c.now[place] = c.agents[len(c.agents)-1]
	return before
}

func (c *chaos) errorf(format string, args ...any) {
	c.t.Errorf("A2A_SEED=%d: %s", c.seed, fmt.Sprintf(format, args...))
}

// draw returns a number below n.
func (c *chaos) draw(n int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.random.IntN(n)
}

// calm reports whether nothing goes wrong any more.
func (c *chaos) calm() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.rate == 0
}

func (c *chaos) sleep(most time.Duration) { time.Sleep(time.Duration(c.draw(int(most)))) }

func after(d time.Duration) <-chan struct{} {
	done := make(chan struct{})
	time.AfterFunc(d, func() { close(done) })
	return done
}

// unreliable is a store as one instance reaches it.
type unreliable struct {
	*faultstore.Store
	c *chaos
}

// plan draws what becomes of a call.
func (c *chaos) plan(faultstore.Call) (f faultstore.Fault) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.random.IntN(1000) >= c.rate {
		return f
	}
	late := after(time.Duration(c.random.IntN(2000)) * time.Millisecond)
	switch c.random.IntN(5) {
	case 0:
		f.Refuse = store.ErrUnavailable
	case 1:
		f.Before = true
	case 2:
		f.After = true
	case 3:
		f.Late = late
	case 4:
		f.Wait = late
	}
	return f
}

func (u *unreliable) Watch(key store.Key, wake func()) (stop func()) {
	return u.Store.Watch(key, func() {
		for range u.c.draw(3) { // lost, told, told twice
			u.c.sleep(100 * time.Millisecond)
			wake()
		}
	})
}

// makeSkills makes a skill of each kind. A message says what the handler does: how many things it says, and how it ends.
func (c *chaos) makeSkills() []Skill {
	retry, fail := c.makeSkill("retry"), c.makeSkill("fail")
	retry.OnCrash = CrashRetry
	retry.Tags, fail.Tags = []string{"retry"}, []string{"fail"}
	return []Skill{retry, fail}
}

func (c *chaos) makeSkill(id string) Skill {
	return skillOf(id, func(ctx context.Context, call *task.Task) (string, error) { return c.work(ctx, id, call) })
}

func (c *chaos) work(ctx context.Context, skill string, call *task.Task) (string, error) {
	id := fmt.Sprintf("%s %s %s", call.Call().TaskID(), skill, call.Call().IdempotencyKey())
	c.mu.Lock()
	c.serial++
	c.begun[id]++
	mark := fmt.Sprintf("%s/%06d/%d", call.Call().Request().Message.MessageInfo().ID, c.serial, call.Call().Attempt())
	c.mu.Unlock()
	var end string
	var says int
	_, _ = fmt.Sscan(call.Text(), new(string), &says, &end)
	w := call.Stream("text")
	for range says {
		var err error
		switch c.draw(3) {
		case 0:
			err = call.Progress("%s", mark)
		case 1:
			err = call.Artifact("piece", runtime.Text(mark))
		case 2:
			_, err = w.WriteString(mark)
		}
		if err != nil {
			return "", err
		}
		select {
		case <-ctx.Done():
			return "", ctx.Err()
		case <-after(time.Duration(c.draw(3000)) * time.Millisecond):
		}
	}
	if err := w.Close(); err != nil {
		return "", err
	}
	if end == "ask" {
		return "", call.Ask("end " + mark)
	}
	return "", call.Say(runtime.StateCompleted, runtime.MessageOf(runtime.Text("end "+mark)))
}

// run lets everything happen, and looks at what came of it.
func (c *chaos) run() tally {
	time.Sleep(time.Second)
	rate := c.draw(200)
	c.mu.Lock()
	c.rate = rate
	c.mu.Unlock()
	var clients, readers sync.WaitGroup
	for i := range 3 {
		clients.Go(func() { c.client(i, &readers) })
	}
	over := make(chan struct{})
	clients.Go(func() { c.trouble(over) })
	for range 20 {
		c.sleep(5 * time.Second)
	}
	close(over)
	clients.Wait()
	c.mu.Lock()
	c.rate = 0
	c.mu.Unlock()
	time.Sleep(20 * time.Minute) // a handler may be interrupted a few times
	for _, id := range c.tasks {
		c.check(id)
	}
	for _, a := range c.agents {
		_ = a.Close()
	}
	readers.Wait()
	if c.t.Failed() {
		_, _ = c.t.Output().Write(c.log.Bytes())
	}
	c.tally.tasks = len(c.tasks)
	return c.tally
}

// trouble ends, stops and starts instances.
func (c *chaos) trouble(over <-chan struct{}) {
	for {
		select {
		case <-over:
			return
		case <-after(time.Duration(c.draw(15000)) * time.Millisecond):
		}
		place := c.draw(len(c.there))
		i := c.there[place]
		c.tally.kills++
		switch c.draw(5) {
		case 0:
			c.kill(c.add(place))
		case 1:
			_ = c.agents[c.add(place)].Close()
		case 2: // it is stopped, as far as the store is concerned
			wake := after(lease/2 + time.Duration(c.draw(int(2*lease/time.Millisecond)))*time.Millisecond)
			c.stores[i].Plan(func(faultstore.Call) faultstore.Fault { return faultstore.Fault{Wait: wake} })
			<-wake
			c.stores[i].Plan(c.plan)
		case 3:
			c.stores[i].Plan(func(faultstore.Call) faultstore.Fault { return faultstore.Fault{Refuse: store.ErrUnavailable} })
			c.sleep(2 * lease)
			c.stores[i].Plan(c.plan)
		case 4: // the store does what it is asked for, and says nothing
			c.stores[i].Plan(func(faultstore.Call) faultstore.Fault { return faultstore.Fault{After: true} })
			c.sleep(2 * lease)
			c.stores[i].Plan(c.plan)
		}
	}
}

// some returns an instance that is there.
func (c *chaos) some() *agent {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now[c.random.IntN(len(c.now))]
}

// client talks to the agent for a while.
func (c *chaos) client(i int, readers *sync.WaitGroup) {
	for n := range 3 + c.draw(6) {
		c.sleep(8 * time.Second)
		id := c.pick()
		switch kind := c.draw(10); {
		case id != "" && kind == 0:
			c.cancel(id)
		case id != "" && kind == 1:
			readers.Go(func() { c.read(id) })
		case id != "" && kind < 6:
			c.say(fmt.Sprintf("m%d-%d", i, n), id)
		default:
			c.say(fmt.Sprintf("m%d-%d", i, n), "")
		}
	}
}

func (c *chaos) pick() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.tasks) == 0 {
		return ""
	}
	return c.tasks[c.random.IntN(len(c.tasks))]
}

// say sends a message.
func (c *chaos) say(mid, id string) {
	wait := c.draw(2) == 0
	text := fmt.Sprintf("%s %d %s", []string{"retry", "fail"}[c.draw(2)], 1+c.draw(4), []string{"ask", "done"}[c.draw(2)])
	params := `{'message':{'messageId':'` + mid + `','role':'ROLE_USER','parts':[{'text':'` + text + `'}]`
	if id != "" {
		params += `,'taskId':'` + id + `'`
	}
	params += `}`
	if !wait {
		params += early
	}
	const patient = 30 * time.Minute
	ctx, cancel := context.WithTimeout(c.t.Context(), patient)
	defer cancel()
	got, err := c.some().serveWithin(ctx, "SendMessage", params+`}`)
	if ctx.Err() != nil {
		c.errorf("%s is not answered in %s", mid, patient)
	}
	if err != nil {
		c.refused(err)
		return
	}
	task := got.Result.(runtime.Task)
	info := task.TaskInfo()
	c.mu.Lock()
	c.acked[mid] = info.ID
	if id == "" {
		c.tasks = append(c.tasks, info.ID)
	}
	c.tally.calls++
	c.mu.Unlock()
	c.saw(task)
	if wait && !info.State.Terminal() && !strings.Contains(c.everything(task), "end "+mid+"/") {
		c.errorf("%s is answered before its end, as %s: %s", mid, info.State, c.everything(task))
	}
}

// refused takes an error, which must be one that passes or says that the task has ended.
func (c *chaos) refused(err error) {
	c.mu.Lock()
	c.tally.refused++
	c.mu.Unlock()
	e, _ := ToError(err)
	if e.Code != runtime.ErrInternal.Code && !errors.Is(err, runtime.ErrUnsupportedOperation) &&
		!errors.Is(err, runtime.ErrTaskNotCancelable) {
		c.errorf("refused with %v", err)
	}
}

// saw notes the end of a task, as a client saw it.
func (c *chaos) saw(task runtime.Task) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if info := task.TaskInfo(); info.State.Terminal() {
		c.ends[info.ID] = info.State
	}
}

func (c *chaos) cancel(id string) {
	got, err := c.some().serve("CancelTask", `{'id':'`+id+`'}`)
	if err != nil {
		c.refused(err)
		return
	}
	c.saw(got.Result.(runtime.Task))
}

// read follows a task to its end, with whatever instance there is, from where it was.
func (c *chaos) read(id string) {
	last := int64(0)
	for range 50 {
		a := c.some()
		r := a.request("SubscribeToTask")
		r.After = last
		decoded, fault := r.Version.Decode(r.Op, []byte(`{"id":"`+id+`"}`))
		if fault != nil {
			c.errorf("%v", fault)
			return
		}
		got, err := r.Serve(decoded)
		switch {
		case errors.Is(err, runtime.ErrUnsupportedOperation):
			return // it has ended
		case err == nil:
			last = c.follow(id, got.Stream, last)
		}
		if a.Draining() && c.calm() {
			return
		}
		c.sleep(10 * time.Second)
	}
}

// follow reads a stream to its end, or for a while.
func (c *chaos) follow(id string, st *Stream, last int64) int64 {
	defer st.Close()
	for step := st.Next(); step != Over; step = st.Next() {
		switch step {
		case Snapshot:
			if err := st.WriteSnapshot(func(seq int64, _ []byte) error { last = seq; return nil }); err != nil {
				return last
			}
		case Events:
			n := 1 + c.draw(st.Len())
			for i := range n {
				if seq := st.Seq(i); seq != last+1 {
					c.errorf("task %s: event %d follows %d", id, seq, last)
				}
				last = st.Seq(i)
				b, err := st.Append(nil, i)
				if err != nil {
					c.errorf("%v", err)
				}
				c.note(id, last, string(b))
			}
			if st.Take(n); c.draw(20) == 0 {
				return last
			}
		}
	}
	return last
}

// note holds an event to what others saw under its number.
func (c *chaos) note(id string, seq int64, event string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tally.events++
	if c.seen[id] == nil {
		c.seen[id] = map[int64]string{}
	}
	if before := c.seen[id][seq]; before != "" && before != event {
		c.errorf("task %s: event %d was %s, and is %s", id, seq, before, event)
	}
	c.seen[id][seq] = event
}

// everything is what all messages of a task say, one a line.
func (c *chaos) everything(task runtime.Task) string {
	type message struct {
		MessageID string
		Parts     []struct{ Text string }
	}
	var read struct {
		Task struct {
			History []message
			Status  struct{ Message *message }
		}
	}
	b, err := c.version.AppendEvent(nil, task)
	if err == nil {
		err = json.Unmarshal(b, &read)
	}
	if err != nil {
		c.errorf("%v", err)
	}
	all := read.Task.History
	if last := read.Task.Status.Message; last != nil {
		all = append(all, *last)
	}
	var lines strings.Builder
	for _, m := range all {
		for _, p := range m.Parts {
			fmt.Fprintf(&lines, "%s %s\n", m.MessageID, p.Text)
		}
	}
	return lines.String()
}

// check looks at a task when everything has come to rest.
func (c *chaos) check(id string) {
	key := store.Key{Task: id}
	head, err := c.shared.Head(c.t.Context(), key)
	if err != nil {
		c.errorf("task %s is lost: %v", id, err)
		return
	}
	if head.Done != head.Calls || !head.State.Terminal() && !head.State.Interrupted() {
		c.errorf("task %s does not come to rest: %+v", id, head)
	}
	if end, ok := c.ends[id]; ok && end != head.State {
		c.errorf("task %s is %s, a client saw %s", id, head.State, end)
	}
	snap, err := c.shared.Get(c.t.Context(), key, store.Full)
	if err != nil {
		c.errorf("task %s: %v", id, err)
		return
	}
	said := c.everything(snap.Task)
	for mid, task := range c.acked {
		if task == id && strings.Count("\n"+said, "\n"+mid+" ") != 1 {
			c.errorf("task %s: message %s is there %d times:\n%s", id, mid, strings.Count("\n"+said, "\n"+mid+" "), said)
		}
	}
	var ended []string
	for line := range strings.Lines(said) {
		if _, end, ok := strings.Cut(line, " end "); ok {
			mid, _, _ := strings.Cut(end, "/")
			if slices.Contains(ended, mid) {
				c.errorf("task %s: the call for %s ends twice:\n%s", id, mid, said)
			}
			ended = append(ended, mid)
		}
	}
	c.checkLog(key, head)
	c.checkHandlers(id)
}

// checkLog holds the log to its order: what a handler says comes after all that those before it have said.
func (c *chaos) checkLog(key store.Key, head store.Head) {
	recs, err := c.shared.Events(c.t.Context(), key, 1, 0)
	if err != nil || int64(len(recs)) != head.Version-1 {
		c.errorf("task %s: %d events at version %d: %v", key.Task, len(recs), head.Version, err)
		return
	}
	v := c.version
	latest := ""
	for _, rec := range recs {
		e, err := rec.Event()
		if err != nil {
			c.errorf("%v", err)
			return
		}
		b, err := v.AppendEvent(nil, e)
		if err != nil {
			c.errorf("%v", err)
			return
		}
		c.note(key.Task, rec.Seq, string(b))
		if at := strings.LastIndex(string(b), "/0"); at > 0 {
			serial := string(b)[at+1 : at+7]
			if serial < latest {
				c.errorf("task %s: handler %s speaks after %s", key.Task, serial, latest)
			}
			latest = serial
		}
	}
}

// checkHandlers holds the handlers to how often they may be called for one message.
func (c *chaos) checkHandlers(id string) {
	for call, n := range c.begun {
		task, rest, _ := strings.Cut(call, " ")
		if task != id {
			continue
		}
		if n > 1 {
			c.tally.again++
		}
		if strings.HasPrefix(rest, "fail ") && n > 1 {
			c.errorf("task %s: the handler of a skill that does not try again was called %d times", id, n)
		}
	}
}
