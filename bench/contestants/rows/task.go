package main

import (
	"crypto/rand"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/a2agen/a2agen/a2a"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store"

	"github.com/a2agen/a2agen/bench/internal/work"
)

// task is one of four events: submitted with a message, working with a message, an artifact, completed.
type task struct {
	key     store.Key
	start   store.New
	updates []store.Update
}

var (
	made  atomic.Uint64
	stamp atomic.Uint64
	name  = strings.ToLower(rand.Text()[:10]) // no other process makes tasks of these names
)

func newTask() *task {
	p, id := a2a.Protocol(), fmt.Sprintf("%s-%08x", name, made.Add(1))
	about := "context-" + id
	t := &task{key: store.Key{Task: id}}
	said := func(by string, user bool, text string) runtime.Message {
		info := runtime.MessageInfo{ID: by + id, TaskID: id, ContextID: about, User: user}
		return p.NewMessage(runtime.MessageData{MessageInfo: info, Parts: []runtime.Part{runtime.Text(text)}})
	}
	t.start.Task = p.NewTask(id, about, time.Now())
	t.start.Task.AddMessage(said("m-", true, work.Text(work.Task, 0)))
	t.start.Private, t.start.Stamp = store.Private{Skill: "bench"}, stamp.Add(1)
	for _, e := range []runtime.Event{
		p.NewStatus(id, about, runtime.StateWorking, said("w-", false, work.Working), time.Now()),
		p.NewArtifact(id, about, runtime.ArtifactData{ID: "artifact-1", Name: work.ArtifactName, Parts: []runtime.Part{runtime.Text(work.Reply(name))}}),
		p.NewStatus(id, about, runtime.StateCompleted, nil, time.Now()),
	} {
		t.updates = append(t.updates, store.Update{Event: e, Stamp: stamp.Add(1)})
	}
	return t
}

// chunk appends a piece to an artifact.
func chunk(key store.Key, n int64) store.Update {
	data := runtime.ArtifactData{ID: "artifact-1", Parts: []runtime.Part{runtime.Text(work.Chunk(name, int(n)))}, Append: n > 1}
	return store.Update{Event: a2a.Protocol().NewArtifact(key.Task, "context-"+key.Task, data), Stamp: stamp.Add(1)}
}
