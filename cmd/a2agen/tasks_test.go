package main

import (
	"context"
	"database/sql"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/a2agen/a2agen/internal/a2awires"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/store/postgres"
	"github.com/a2agen/a2agen/runtime/store/sqlite"
)

// taskFile FILE [closed] makes the file of an agent, which has it open until the script ends, unless it is closed: task "ended" of "ada", with a
// notification that was given up; "parked", which waits for its client, and "busy", which is worked on.
func taskFile(ts *testscript.TestScript, neg bool, args []string) {
	closed := len(args) == 2 && args[1] == "closed"
	if neg || len(args) != 1 && !closed {
		ts.Fatalf("usage: taskFile FILE [closed]")
	}
	s, err := sqlite.Open(ts.MkAbs(args[0]), a2awires.Protocol(), sqlite.Options{})
	ts.Check(err)
	fill(ts, s)
	if closed {
		ts.Check(s.Close())
	}
}

// taskServer makes the same in the schema that STORE names.
func taskServer(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: taskServer")
	}
	s, err := postgres.Open(context.Background(), ts.Getenv("STORE"), a2awires.Protocol(), postgres.Options{Agent: "Storm Watch"})
	ts.Check(err)
	fill(ts, s)
}

// fill makes tasks in a store, which is closed when the script ends.
func fill(ts *testscript.TestScript, s store.Store) {
	ts.Defer(func() { _ = s.Close() })
	p := a2awires.Protocol()
	ctx, at := context.Background(), time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	create := func(key store.Key, call *store.Call) {
		task := p.NewTask(key.Task, "talk", at)
		task.AddMessage(p.NewMessage(runtime.MessageData{
			MessageInfo: runtime.MessageInfo{ID: "m", User: true}, Parts: []runtime.Part{runtime.Text("hello")},
		}))
		_, err := s.Create(ctx, key, store.New{Task: task, Private: store.Private{Skill: "echo"}, Call: call}, nil)
		ts.Check(err)
	}
	become := func(key store.Key, state runtime.State) {
		_, err := s.Apply(ctx, key, 1, store.Update{Event: p.NewStatus(key.Task, "talk", state, nil, at)}, nil)
		ts.Check(err)
	}
	ended := store.Key{Owner: store.Owner{Principal: "ada", Tenant: "acme"}, Task: "ended"}
	create(ended, nil)
	push := store.Push{ID: "hook", Version: "1.0", Config: runtime.PushConfig{ID: "hook", URL: "https://ada.example.com/x",
		Token: "secret"}}
	ts.Check(s.SetPush(ctx, ended, push))
	become(ended, runtime.StateCompleted)
	due, _, err := s.Due(ctx, 1, time.Minute)
	ts.Check(err)
	ts.Check(s.Settle(ctx, due[0], store.Outcome{Dead: "410 Gone"}))
	create(store.Key{Task: "parked"}, nil)
	become(store.Key{Task: "parked"}, runtime.StateInputRequired)
	create(store.Key{Task: "busy"}, &store.Call{Input: []byte(`{"text":"hello"}`)})
}

// sqlOn FILE SQL changes a file behind everybody's back.
func sqlOn(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: sql FILE SQL")
	}
	db, err := sql.Open("sqlite", ts.MkAbs(args[0])+"?_pragma=busy_timeout(3600000)")
	ts.Check(err)
	defer db.Close()
	_, err = db.Exec(args[1])
	ts.Check(err)
}
