package postgres

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/a2agen/a2agen/a2a"
	"github.com/a2agen/a2agen/internal/test/postgrestest"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store"
)

var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func keyed(id string) store.Key {
	return store.Key{Owner: store.Owner{Tenant: "tenant", Principal: "somebody"}, Task: id}
}

var stamps atomic.Uint64

// working is a new task with a call at work.
func working(id string) store.New {
	p := a2a.Protocol()
	m := p.NewMessage(runtime.MessageData{MessageInfo: runtime.MessageInfo{ID: "m-" + id, User: true}, Parts: []runtime.Part{runtime.Text("hello")}})
	m.Bind("context", id)
	task := p.NewTask(id, "context", start)
	task.AddMessage(m)
	return store.New{
		Task: task, Private: store.Private{Skill: "skill"}, Stamp: stamps.Add(1),
		Call: &store.Call{Input: []byte(`"hello"`), Request: &runtime.SendRequest{Message: m}},
	}
}

func create(t *testing.T, s store.Store, id string) store.Snapshot {
	t.Helper()
	snap, err := s.Create(t.Context(), keyed(id), working(id), nil)
	if err != nil {
		t.Fatal(err)
	}
	return snap
}

// says makes an update of a handler.
func says(id string, epoch int64, state runtime.State) store.Update {
	return store.Update{Event: a2a.Protocol().NewStatus(id, "context", state, nil, start.Add(time.Second)), Stamp: stamps.Add(1), Epoch: epoch}
}

// cancels makes an update of a client.
func cancels(id string) store.Update { return says(id, 0, runtime.StateCanceled) }

// eventually waits for something, for as long as a busy machine may take.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("it did not come to pass: %s", what)
		}
	}
}

// watched returns a channel that has something after the task has changed.
func watched(t *testing.T, s store.Store, id string) <-chan struct{} {
	t.Helper()
	woken := make(chan struct{}, 1)
	t.Cleanup(s.Watch(keyed(id), func() {
		select {
		case woken <- struct{}{}:
		default:
		}
	}))
	return woken
}

func await(t *testing.T, what string, c <-chan struct{}) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(30 * time.Second):
		t.Fatalf("it did not come to pass: %s", what)
	}
}

// awaitListening waits until an instance has a connection that listens, and has woken everybody.
func awaitListening(t *testing.T, address string, s *Store) {
	t.Helper()
	conn := postgrestest.Connect(t, address)
	eventually(t, "it listens", func() bool {
		var n int
		err := conn.QueryRow(t.Context(), "SELECT count(*) FROM pg_stat_activity WHERE query=$1", `LISTEN "`+s.waking.channel+`"`).Scan(&n)
		return err == nil && n > 0
	})
}

func TestAnInstanceIsWokenByWhatAnotherChanges(t *testing.T) {
	address := postgrestest.Server(t)
	one, two := mustOpen(t, address, Options{}), mustOpen(t, address, Options{})
	snap := create(t, one, "t")
	mine, theirs, other := watched(t, one, "t"), watched(t, two, "t"), watched(t, two, "u")
	drain := func() {
		for _, c := range []<-chan struct{}{mine, theirs, other} {
			select {
			case <-c:
			default:
			}
		}
	}
	eventually(t, "both know of each other, and listen", func() bool {
		drain()
		if _, err := one.Apply(t.Context(), keyed("t"), 0, says("t", snap.Epoch, runtime.StateWorking), nil); err != nil {
			t.Fatal(err)
		}
		select {
		case <-theirs:
			return true
		case <-time.After(50 * time.Millisecond):
			return false
		}
	})
	drain()
	if _, err := one.Apply(t.Context(), keyed("t"), 0, says("t", snap.Epoch, runtime.StateWorking), nil); err != nil {
		t.Fatal(err)
	}
	await(t, "the other is woken", theirs)
	for what, c := range map[string]<-chan struct{}{"who changed the task": mine, "who watches another": other} {
		select {
		case <-c:
			t.Errorf("%s was woken", what)
		default:
		}
	}
}

func TestNobodyIsToldWhereNobodyIs(t *testing.T) {
	s := mustOpen(t, postgrestest.Server(t), Options{})
	if _, err := s.Renew(t.Context()); err != nil {
		t.Fatal(err)
	}
	create(t, s, "t")
	if text := s.waking.notices.take(s.me()); text != "" {
		t.Errorf("told was %s", text)
	}
}

func TestNotificationsNameManyTasksAndNobodyTrustsThem(t *testing.T) {
	s := &Store{}
	s.waking.init(s)
	s.waking.others.listen(time.Now())
	woken := map[string]int{}
	for i := range 2 * mostHashes {
		id := string(rune('a'+i%26)) + strings.Repeat("x", i/26)
		s.waking.watchers.add(keyed(id), func() { woken[id]++ })
		s.waking.notices.changed[hashOf(keyed(id))] = struct{}{}
		s.waking.notices.watched[hashOf(keyed(id+"?"))] = struct{}{}
	}
	for text := s.waking.notices.take(7); text != ""; text = s.waking.notices.take(7) {
		if len(text) >= 8000 {
			t.Errorf("a notification has %d bytes", len(text))
		}
		s.waking.wakeNamed(text)
	}
	if watched := len(s.waking.others.until); len(woken) != 2*mostHashes || watched != 2*mostHashes {
		t.Errorf("woken are %d of %d, and %d are watched", len(woken), 2*mostHashes, watched)
	}
	for _, text := range []string{"", ":", "7", "7:?", "7:???????????", "x:" + strings.Repeat("A", 7000), "7:+", "7:+?", "7:AAAAAAAAAAA+AAAAAAAAAAA", "0:AAAAAAAAAAA", strings.Repeat(":", 8000)} {
		s.waking.wakeNamed(text)
	}
}

func TestWhatChangesSoonAfterANotificationGoesWithTheNext(t *testing.T) {
	s, err := Open(t.Context(), postgrestest.Server(t), a2a.Protocol(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	for i := 0; time.Since(began) < 30*noticesApart; i++ {
		s.waking.tell(keyed(string(rune('a'+i%26))), true)
		time.Sleep(100 * time.Microsecond)
	}
	sent, most := s.Stats().Sent, int64(time.Since(began)/noticesApart)+3 // the first one, the greeting, and the last one
	if sent > most {
		t.Errorf("sent were %d notifications, more than %d", sent, most)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if text := s.waking.notices.take(s.me()); text != "" {
		t.Errorf("when it was closed, %q was still to be told", text)
	}
}

func TestAHashTellsOwnersApart(t *testing.T) {
	seen := map[uint64]store.Key{}
	for _, key := range []store.Key{
		{Task: "ab"}, {Owner: store.Owner{Principal: "a"}, Task: "b"}, {Owner: store.Owner{Tenant: "a"}, Task: "b"},
		{Owner: store.Owner{Tenant: "a", Principal: "b"}}, {Owner: store.Owner{Tenant: "ab"}}, {Owner: store.Owner{Principal: "ab"}},
	} {
		if other, ok := seen[hashOf(key)]; ok {
			t.Errorf("%v and %v have one hash", key, other)
		}
		seen[hashOf(key)] = key
	}
}

// TestALeaseThatIsOverIsNotRenewed: the instance comes back under another number, and another has what it ran.
func TestALeaseThatIsOverIsNotRenewed(t *testing.T) {
	address := postgrestest.Server(t)
	one, two := mustOpen(t, address, Options{}), mustOpen(t, address, Options{})
	snap := create(t, one, "t")
	lease, err := one.Renew(t.Context())
	if err != nil || lease.For != 10*time.Second || !lease.Durable || len(lease.Lost) > 0 {
		t.Fatalf("the lease is %+v: %v", lease, err)
	}
	if runs, err := two.Claim(t.Context(), []string{"skill"}, 9); err != nil || len(runs) > 0 {
		t.Fatalf("claimed of a living instance: %v, %v", runs, err)
	}
	before := one.me()
	expire(t, address, one)
	runs, err := two.Claim(t.Context(), []string{"skill"}, 9)
	if err != nil || len(runs) != 1 || runs[0].Call.Attempt != 2 || runs[0].Epoch <= snap.Epoch {
		t.Fatalf("claimed are %+v: %v", runs, err)
	}
	if lease, err = one.Renew(t.Context()); err != nil || !slices.Equal(lease.Lost, []store.Key{keyed("t")}) {
		t.Errorf("the lease is %+v: %v", lease, err)
	}
	if one.me() == before {
		t.Error("the instance has its number still")
	}
	if _, err := one.Apply(t.Context(), keyed("t"), 0, says("t", snap.Epoch, runtime.StateWorking), nil); !errors.Is(err, store.ErrLost) {
		t.Errorf("a word of the handler that lost its task: %v", err)
	}
	if lease, err = one.Renew(t.Context()); err != nil || len(lease.Lost) > 0 {
		t.Errorf("the next lease is %+v: %v", lease, err)
	}
}

// TestALeaseThatWasGivenUpIsNotRenewed: a heartbeat that arrives when its sender has stopped what it ran must not keep that
// from the others.
func TestALeaseThatWasGivenUpIsNotRenewed(t *testing.T) {
	address := postgrestest.Server(t)
	one, two := mustOpen(t, address, Options{}), mustOpen(t, address, Options{})
	create(t, one, "t")
	before, lease := one.me(), one.lease()
	one.self.grant(time.Now().Add(-lease)) // and its row says otherwise
	if got, err := one.Renew(t.Context()); err != nil || !slices.Equal(got.Lost, []store.Key{keyed("t")}) {
		t.Errorf("the lease is %+v: %v", got, err)
	}
	if one.me() == before {
		t.Fatal("the instance has its number still")
	}
	if _, err := postgrestest.Connect(t, address).Exec(t.Context(), one.sql("UPDATE a2a.instance SET lease=clock_timestamp() WHERE n=$1"), before); err != nil {
		t.Fatal(err)
	}
	if runs, err := two.Claim(t.Context(), []string{"skill"}, 9); err != nil || len(runs) != 1 {
		t.Errorf("claimed are %+v: %v", runs, err)
	}
	if got, err := one.Renew(t.Context()); err != nil || len(got.Lost) > 0 {
		t.Errorf("the next lease is %+v: %v", got, err)
	}
}

// expire ends the lease of an instance, as if it had been stopped for so long.
func expire(t *testing.T, address string, s *Store) {
	t.Helper()
	end := s.sql("UPDATE a2a.instance SET lease=clock_timestamp()-interval '1 second' WHERE n=$1")
	if _, err := postgrestest.Connect(t, address).Exec(t.Context(), end, s.me()); err != nil {
		t.Fatal(err)
	}
}

// TestANumberThatAnotherHasIsNotRenewed: after a failover that lost the row of an instance, its number is given again.
func TestANumberThatAnotherHasIsNotRenewed(t *testing.T) {
	address := postgrestest.Server(t)
	s := mustOpen(t, address, Options{})
	before := s.me()
	if _, err := postgrestest.Connect(t, address).Exec(t.Context(), "UPDATE instance SET name='another' WHERE n=$1", before); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Renew(t.Context()); err != nil || s.me() == before {
		t.Errorf("the instance has number %d, as before: %v", s.me(), err)
	}
}

// TestTheHeartbeatSaysWhatWasLost: a task that a client has ended by way of another instance.
func TestTheHeartbeatSaysWhatWasLost(t *testing.T) {
	address := postgrestest.Server(t)
	one, two := mustOpen(t, address, Options{}), mustOpen(t, address, Options{})
	create(t, one, "t")
	create(t, one, "u")
	if _, err := two.Apply(t.Context(), keyed("t"), 1, cancels("t"), nil); err != nil {
		t.Fatal(err)
	}
	if _, err := one.Apply(t.Context(), keyed("u"), 1, cancels("u"), nil); err != nil {
		t.Fatal(err)
	}
	if lease, err := one.Renew(t.Context()); err != nil || !slices.Equal(lease.Lost, []store.Key{keyed("t")}) {
		t.Errorf("the lease is %+v: %v", lease, err)
	}
}

// TestOrphansAreClaimedOnce by instances that look at the same time.
func TestOrphansAreClaimedOnce(t *testing.T) {
	address := postgrestest.Server(t)
	old := mustOpen(t, address, Options{})
	const tasks = 60
	for i := range tasks {
		create(t, old, "t"+strings.Repeat("x", i))
	}
	heirs := []*Store{mustOpen(t, address, Options{}), mustOpen(t, address, Options{}), mustOpen(t, address, Options{})}
	expire(t, address, old)
	var mu sync.Mutex
	by := map[string]int{}
	var work sync.WaitGroup
	for _, s := range heirs {
		work.Go(func() {
			for range 3 {
				runs, err := s.Claim(context.Background(), []string{"skill"}, 30)
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				for _, r := range runs {
					by[r.Key.Task]++
				}
				mu.Unlock()
			}
		})
	}
	work.Wait()
	if len(by) != tasks {
		t.Errorf("claimed are %d of %d", len(by), tasks)
	}
	for id, n := range by {
		if n != 1 {
			t.Errorf("%s was claimed %d times", id, n)
		}
	}
}

// TestACallThatCannotBeReadIsNoReasonToLeaveTheOthers: it is damaged, or of a newer version of the protocol.
func TestACallThatCannotBeReadIsNoReasonToLeaveTheOthers(t *testing.T) {
	address := postgrestest.Server(t)
	old := mustOpen(t, address, Options{})
	for _, id := range []string{"damaged", "newer", "good"} {
		create(t, old, id)
	}
	conn := postgrestest.Connect(t, address)
	for _, sql := range []string{
		"INSERT INTO a2a.wire(name) VALUES('9.9')",
		"UPDATE a2a.call SET wire=(SELECT n FROM a2a.wire WHERE name='9.9') WHERE task=(SELECT n FROM a2a.task WHERE id='newer')",
		"UPDATE a2a.call SET request='{' WHERE task=(SELECT n FROM a2a.task WHERE id='damaged')",
	} {
		if _, err := conn.Exec(t.Context(), old.sql(sql)); err != nil {
			t.Fatal(err)
		}
	}
	heir := mustOpen(t, address, Options{})
	expire(t, address, old)
	if runs, err := heir.Claim(t.Context(), []string{"skill"}, 1); len(runs) != 1 || runs[0].Key.Task != "good" {
		t.Errorf("claimed are %v: %v", runs, err)
	}
	var runner int32
	if err := conn.QueryRow(t.Context(), old.sql("SELECT runner FROM a2a.task WHERE id='newer'")).Scan(&runner); err != nil || runner != old.me() {
		t.Errorf("a call that only a newer program can read was claimed by %d: %v", runner, err)
	}
}

// TestARunnerWithoutARowIsGone: an instance that was away for so long that its row was dropped may still have written.
func TestARunnerWithoutARowIsGone(t *testing.T) {
	address := postgrestest.Server(t)
	one, two := mustOpen(t, address, Options{}), mustOpen(t, address, Options{})
	create(t, one, "t")
	if _, err := postgrestest.Connect(t, address).Exec(t.Context(), "DELETE FROM instance WHERE n=$1", one.me()); err != nil {
		t.Fatal(err)
	}
	if runs, err := two.Claim(t.Context(), []string{"skill"}, 9); err != nil || len(runs) != 1 {
		t.Errorf("claimed are %v: %v", runs, err)
	}
}

// line is a way to a server that a test can cut, and have hang.
type line struct {
	to   string
	mu   sync.Mutex
	now  *section // of what connects now
	hung []net.Conn
	down bool // nobody is let in
}

// section is the connections that were made between two faults.
type section struct {
	conns []net.Conn
	hangs atomic.Bool // nothing goes through any more, and nothing is closed
}

func newLine(t *testing.T, to string) (p *line, address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p = &line{to: to, now: &section{}}
	t.Cleanup(func() {
		_ = l.Close()
		p.cut(true)
	})
	go func() {
		for {
			from, err := l.Accept()
			if err != nil {
				return
			}
			go p.carry(from)
		}
	}()
	return p, l.Addr().String()
}

func (p *line) carry(from net.Conn) {
	to, err := net.Dial("tcp", p.to)
	p.mu.Lock()
	if err != nil || p.down {
		p.mu.Unlock()
		_ = from.Close()
		return
	}
	now := p.now
	now.conns = append(now.conns, from, to)
	p.mu.Unlock()
	go now.copy(from, to)
	now.copy(to, from)
}

func (s *section) copy(to, from net.Conn) {
	buf := make([]byte, 16<<10)
	for {
		n, err := from.Read(buf)
		if s.hangs.Load() {
			_, _ = io.Copy(io.Discard, from)
			return
		}
		if _, failed := to.Write(buf[:n]); err != nil || failed != nil {
			_ = to.Close()
			_ = from.Close()
			return
		}
	}
}

// cut ends all connections, and lets nobody in while it is down.
func (p *line) cut(down bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.down = down
	for _, c := range append(p.hung, p.now.conns...) {
		_ = c.Close()
	}
	p.now = &section{}
}

// hang has nothing more heard of the connections that there are. New ones are well.
func (p *line) hang() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.now.hangs.Store(true)
	p.hung = append(p.hung, p.now.conns...)
	p.now = &section{}
}

// over is an address that goes over a line.
func over(t *testing.T, address string) (string, *line) {
	t.Helper()
	a, err := parseAddress(address)
	if err != nil {
		t.Fatal(err)
	}
	c := a.pool.ConnConfig
	to := net.JoinHostPort(c.Host, itoa(int(c.Port)))
	p, at := newLine(t, to)
	through := strings.Replace(address, to, at, 1)
	if through == address {
		t.Skip("the address of the server is not a URL with host and port")
	}
	return through, p
}

func itoa(n int) string { return (&net.TCPAddr{Port: n}).String()[1:] }

// TestACutConnectionIsNoLossAndWakesEverybody: what was missed meanwhile is looked for.
func TestACutConnectionIsNoLossAndWakesEverybody(t *testing.T) {
	address := postgrestest.Server(t)
	through, p := over(t, address)
	near, far := mustOpen(t, address, Options{}), mustOpen(t, through, Options{})
	snap := create(t, near, "t")
	awaitListening(t, address, far)
	woken := watched(t, far, "t")
	p.cut(true)
	await(t, "who cannot be told is woken", woken)
	if _, err := far.Get(t.Context(), keyed("t"), store.Full); !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("a read without the database: %v", err)
	}
	if _, err := far.Renew(t.Context()); !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("a heartbeat without the database: %v", err)
	}
	if _, err := far.Apply(t.Context(), keyed("t"), snap.Version, cancels("t"), nil); !store.Unsure(err) {
		t.Errorf("a write without the database: %v", err)
	}
	if _, err := near.Apply(t.Context(), keyed("t"), 0, says("t", snap.Epoch, runtime.StateWorking), nil); err != nil {
		t.Fatal(err)
	}
	p.cut(false)
	eventually(t, "it is back, and shows what was changed", func() bool {
		got, err := far.Get(t.Context(), keyed("t"), store.Full)
		return err == nil && got.Version == 2
	})
	if _, err := far.Renew(t.Context()); err != nil {
		t.Error(err)
	}
	awaitListening(t, address, far)
}

// TestAConnectionThatHangsIsGivenUp: no call waits for ever for a server of which nothing is heard.
func TestAConnectionThatHangsIsGivenUp(t *testing.T) {
	through, p := over(t, postgrestest.Server(t))
	s := mustOpen(t, through, Options{})
	snap := create(t, s, "t")
	time.Sleep(1100 * time.Millisecond) // connections that were idle for a second are tried before they are used
	p.hang()
	if _, err := s.Renew(context.Background()); err != nil {
		t.Errorf("a heartbeat: %v", err)
	}
	if _, err := s.Apply(context.Background(), keyed("t"), 0, says("t", snap.Epoch, runtime.StateWorking), nil); err != nil {
		t.Errorf("a write: %v", err)
	}
	p.hang()
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := s.Get(ctx, keyed("t"), store.Full); !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("a read: %v", err)
	}
	p.cut(true)
}

// TestAnAdministratorMayEndConnections: all calls go on with others.
func TestAnAdministratorMayEndConnections(t *testing.T) {
	address := postgrestest.Server(t)
	named := address + "&application_name=terminated"
	if !strings.Contains(address, "?") {
		t.Skip("the address of the server is not a URL")
	}
	s := mustOpen(t, named, Options{})
	snap := create(t, s, "t")
	admin := postgrestest.Connect(t, address)
	for i := range 5 {
		if _, err := admin.Exec(t.Context(), "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name='terminated'"); err != nil {
			t.Fatal(err)
		}
		u := says("t", snap.Epoch, runtime.StateWorking)
		eventually(t, "the task is written", func() bool {
			_, err := s.Apply(t.Context(), keyed("t"), 0, u, nil)
			if err != nil && !store.Unsure(err) {
				t.Fatal(err)
			}
			return err == nil
		})
		if got, err := s.Get(t.Context(), keyed("t"), store.Full); err != nil || got.Version != int64(i)+2 {
			t.Errorf("version %d: %v", got.Version, err)
		}
	}
}

// TestWhatIsRunIsGivenBackAlsoWhenItsAnswerWasLost: the task was made, and this process was not told.
func TestWhatIsRunIsGivenBackAlsoWhenItsAnswerWasLost(t *testing.T) {
	address := postgrestest.Server(t)
	one, two := mustOpen(t, address, Options{}), mustOpen(t, address, Options{})
	create(t, one, "t")
	clear(one.self.running)
	if err := one.Close(); err != nil {
		t.Fatal(err)
	}
	if runs, err := two.Claim(t.Context(), []string{"skill"}, 9); err != nil || len(runs) != 1 || runs[0].Call.Attempt != 1 {
		t.Errorf("claimed are %+v: %v", runs, err)
	}
}

// levels is a handler that passes on the level of each record with a text.
type levels struct {
	slog.Handler
	text string
	seen chan slog.Level
}

func (l levels) Enabled(context.Context, slog.Level) bool { return true }

func (l levels) Handle(_ context.Context, r slog.Record) error {
	if r.Message == l.text {
		select {
		case l.seen <- r.Level:
		default:
		}
	}
	return nil
}

func TestTheLogSaysOnceThatNotificationsAreInterrupted(t *testing.T) {
	address := postgrestest.Server(t)
	through, line := over(t, address)
	log := levels{slog.DiscardHandler, "PostgreSQL's notifications are interrupted", make(chan slog.Level, 10)}
	s := mustOpen(t, through, Options{Logger: slog.New(log)})
	awaitListening(t, address, s)
	line.cut(true)
	for _, want := range []slog.Level{slog.LevelWarn, slog.LevelDebug, slog.LevelDebug} {
		if got := <-log.seen; got != want {
			t.Errorf("logged as %s, want %s", got, want)
		}
	}
	line.cut(false)
}

// A message that cannot be read must not be read again with each look for work.
func TestADamagedMessageThatWasTakenOverIsLeftAlone(t *testing.T) {
	address := postgrestest.Server(t)
	dies := mustOpen(t, address, Options{Lease: 50 * time.Millisecond})
	create(t, dies, "damaged")
	create(t, dies, "whole")
	if _, err := dies.pool.Exec(bg, dies.sql("UPDATE a2a.call SET request='{' WHERE task=(SELECT min(n) FROM a2a.task)")); err != nil {
		t.Fatal(err)
	}
	s := mustOpen(t, address, Options{})
	var runs []store.Run
	eventually(t, "what an instance ran that is not there is taken over", func() bool {
		runs, _ = s.Claim(bg, []string{"skill"}, 9)
		return len(runs) > 0
	})
	if len(runs) != 1 || runs[0].Key.Task != "whole" {
		t.Errorf("taken over are %v", runs)
	}
	if runs, err := s.Claim(bg, []string{"skill"}, 9); len(runs) != 0 || err != nil {
		t.Errorf("then %v, %v", runs, err)
	}
}
