package postgres

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/a2agen/a2agen/a2a"
	"github.com/a2agen/a2agen/internal/test/postgrestest"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/store/admin"
)

// desk is a store with three tasks, and an Admin beside it: "ended" of ada, with a notification that was given up;
// "parked", which waits for its client, and "busy", which is worked on.
func desk(t *testing.T) (*Store, *Admin, string) {
	t.Helper()
	address := postgrestest.Server(t)
	s := mustOpen(t, address, Options{})
	p, ctx, at := a2a.Protocol(), t.Context(), time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	create := func(key store.Key, call *store.Call) {
		task := p.NewTask(key.Task, "talk", at)
		task.AddMessage(p.NewMessage(runtime.MessageData{MessageInfo: runtime.MessageInfo{ID: "m", User: true}, Parts: []runtime.Part{runtime.Text("hello")}}))
		_, err := s.Create(ctx, key, store.New{Task: task, Private: store.Private{Skill: "echo"}, Call: call}, nil)
		must(err)
	}
	become := func(key store.Key, state runtime.State) {
		_, err := s.Apply(ctx, key, 1, store.Update{Event: p.NewStatus(key.Task, "talk", state, nil, at)}, nil)
		must(err)
	}
	ended := store.Key{Owner: store.Owner{Principal: "ada", Tenant: "acme"}, Task: "ended"}
	create(ended, nil)
	must(s.SetPush(ctx, ended, store.Push{ID: "hook", Version: "1.0", Config: runtime.PushConfig{ID: "hook", URL: "https://ada.example.com/x", Token: "secret"}}))
	become(ended, runtime.StateCompleted)
	due, _, err := s.Due(ctx, 1, time.Minute)
	must(err)
	must(s.Settle(ctx, due[0], store.Outcome{Dead: "410 Gone"}))
	create(store.Key{Task: "parked"}, nil)
	become(store.Key{Task: "parked"}, runtime.StateInputRequired)
	create(store.Key{Task: "busy"}, &store.Call{Input: []byte(`{"text":"hello"}`)})
	a, err := OpenAdmin(ctx, address)
	must(err)
	t.Cleanup(func() { _ = a.Close() })
	return s, a, address
}

func TestAnAdminSeesTheTasksOfAStore(t *testing.T) {
	_, a, _ := desk(t)
	ada := "ada"
	for name, tt := range map[string]struct {
		which admin.Which
		want  string
	}{
		"all":     {admin.Which{}, "busy ended parked"},
		"two":     {admin.Which{Limit: 2}, "busy ended"},
		"states":  {admin.Which{States: []runtime.State{runtime.StateCompleted, runtime.StateInputRequired}}, "ended parked"},
		"ada's":   {admin.Which{Principal: &ada, Tenant: new("acme")}, "ended"},
		"nobody":  {admin.Which{Principal: &ada, Tenant: new("")}, ""},
		"by id":   {admin.Which{ID: "busy", Context: "talk"}, "busy"},
		"nowhere": {admin.Which{Context: "other"}, ""},
	} {
		rows, err := a.Tasks(t.Context(), tt.which)
		var ids []string
		for _, r := range rows {
			ids = append(ids, r.ID)
		}
		if got := strings.Join(ids, " "); err != nil || got != tt.want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	rows, err := a.Tasks(t.Context(), admin.Which{})
	if err != nil || rows[0].Open != 1 || rows[1].Principal != "ada" || rows[1].State != "completed" || rows[1].Version != 2 || rows[1].Bytes == 0 {
		t.Fatalf("%+v, %v", rows, err)
	}
	ended, err := a.Task(t.Context(), rows[1])
	if err != nil || len(ended.Events) != 2 || ended.Events[1].State != "completed" || ended.Events[1].Protocol != "1.0" || len(ended.Pushes) != 1 {
		t.Fatalf("%+v, %v", ended, err)
	}
	if p := ended.Pushes[0]; p.URL != "https://ada.example.com/x" || p.Dead != "410 Gone" || p.Behind != 1 {
		t.Errorf("%+v", p)
	}
	busy, err := a.Task(t.Context(), rows[0])
	if err != nil || len(busy.Calls) != 1 || busy.Calls[0].Attempt != 1 || string(busy.Calls[0].Input) != `{"text":"hello"}` {
		t.Errorf("%+v, %v", busy, err)
	}
}

func TestWhatWasGivenUpIsReplayed(t *testing.T) {
	s, a, _ := desk(t)
	if n, err := a.Replay(t.Context(), "busy", ""); n != 0 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	if n, err := a.Replay(t.Context(), "ended", "hook"); n != 1 || err != nil {
		t.Fatalf("%d, %v", n, err)
	}
	due, _, err := s.Due(t.Context(), 5, time.Minute)
	if err != nil || len(due) != 1 || due[0].Key.Task != "ended" {
		t.Errorf("%+v, %v", due, err)
	}
	if rows, err := a.Deliveries(t.Context(), true); len(rows) != 0 || err != nil {
		t.Errorf("%+v, %v", rows, err)
	}
	if rows, err := a.Deliveries(t.Context(), false); len(rows) != 1 || err != nil {
		t.Errorf("%+v, %v", rows, err)
	}
}

// TestWhatRestsIsPruned: what is worked on stays, and so does what has notifications to send; what is held is counted
// down.
func TestWhatRestsIsPruned(t *testing.T) {
	_, a, _ := desk(t)
	if _, err := a.Replay(t.Context(), "", ""); err != nil {
		t.Fatal(err)
	}
	const soon = -time.Minute // the clock of a busy process may be ahead of the database's, as it is read by a query
	for _, step := range []struct {
		rested time.Duration
		dry    bool
		want   int
	}{{time.Hour, false, 0}, {soon, true, 1}, {soon, false, 1}, {soon, false, 0}} {
		if n, err := a.Prune(t.Context(), admin.Which{}, step.rested, step.dry); n != step.want || err != nil {
			t.Errorf("%+v: %d, %v", step, n, err)
		}
	}
	tasks, wrong, err := a.Check(t.Context())
	if tasks != 2 || len(wrong) > 0 || err != nil {
		t.Errorf("%d tasks, %q, %v", tasks, wrong, err)
	}
}

// TestACheckFindsWhatIsWrong: each mistake that is made by hand is found, in a sentence that says which task or
// caller it is about.
func TestACheckFindsWhatIsWrong(t *testing.T) {
	s, a, address := desk(t)
	if tasks, wrong, err := a.Check(t.Context()); tasks != 3 || len(wrong) > 0 || err != nil {
		t.Fatalf("%d tasks, %q, %v", tasks, wrong, err)
	}
	in := func(sql string) string { return strings.ReplaceAll(sql, "a2a.", s.schema) }
	for _, mistake := range []struct{ does, want string }{
		{"DELETE FROM a2a.event WHERE seq=1 AND task=(SELECT n FROM a2a.task WHERE id='ended')", `task "ended" has 1 events from 2 to 2, and should have all from 1 to 2`},
		{"UPDATE a2a.task SET pushes=5 WHERE id='parked'", `task "parked" is counted 5 push configurations, and has 0`},
		{"DELETE FROM a2a.call", `task "busy" has 1 messages to be worked off, of which 0 are there`},
		{"INSERT INTO a2a.body VALUES(7777, 1, 1, '')", `1 rows of "body" belong to task number 7777, which is not there`},
		{"UPDATE a2a.usage SET tasks=tasks+2, notes=notes+8 WHERE account=0 AND lane=(SELECT min(lane) FROM a2a.usage WHERE account=0)", `all callers: 5 tasks are counted, there are 3`},
		{"UPDATE a2a.counts SET tasks=tasks+1 WHERE state=3", `caller "ada" of tenant "acme" is counted 2 tasks that are completed, and has 1`},
		{"UPDATE a2a.task SET owner=99 WHERE id='busy'", `task "busy": it is nobody's`},
	} {
		execute(t, address, in(mistake.does))
		_, wrong, err := a.Check(t.Context())
		if err != nil || !slices.Contains(wrong, mistake.want) {
			t.Errorf("%s: %q, %v", mistake.does, wrong, err)
		}
	}
}

func TestAnAdminNeedsTablesThatItKnows(t *testing.T) {
	address := postgrestest.Server(t)
	if _, err := OpenAdmin(t.Context(), address); err == nil || !strings.Contains(err.Error(), "has no tasks: an agent makes it when it starts") {
		t.Errorf("an empty schema: %v", err)
	}
	s := mustOpen(t, address, Options{})
	execute(t, address, strings.ReplaceAll("UPDATE a2a.meta SET format=99, least=99", "a2a.", s.schema))
	if _, err := OpenAdmin(t.Context(), address); err == nil || !strings.Contains(err.Error(), "format 99") {
		t.Errorf("a newer schema: %v", err)
	}
}

// Callers of an earlier program may be in other databases.
func TestOneOfSeveralDatabasesIsRefused(t *testing.T) {
	address := postgrestest.Server(t)
	s := mustOpen(t, address, Options{})
	execute(t, address, strings.ReplaceAll("UPDATE a2a.meta SET places='a b'", "a2a.", s.schema))
	_, agent := Open(t.Context(), address, a2a.Protocol(), Options{})
	_, list := OpenAdmin(t.Context(), address)
	_, whole := OpenWhole(t.Context(), address, false)
	for what, err := range map[string]error{"an agent": agent, "a list": list, "a copy": whole} {
		if err == nil || !strings.Contains(err.Error(), "is one of several databases (a b)") {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestAddressesOfServersAreNoFiles(t *testing.T) {
	for address, want := range map[string]bool{
		"postgres://db/x": true, "postgresql://a,b/x": true, "host=db dbname=x": true, "service=agents": true, "postgres:/u:p@db/x": true,
		"weather.db": false, "/var/lib/a.db?synchronous=full": false, "./memory": false, "sqlite://x": false, "": false,
	} {
		if IsAddress(address) != want {
			t.Errorf("%q", address)
		}
	}
}
