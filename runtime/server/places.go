package server

import (
	"context"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store"
)

// Artifacts of 0.1 have a place in their task instead of an id (decision 012).

// shown is a result as the request's version shows it.
func (q *request) shown(result any) (any, error) {
	task, ok := result.(runtime.Task)
	if !ok {
		return result, nil
	}
	task = q.answered(task)
	if q.version.Rules.Places {
		return q.s.protocol.Placed(task)
	}
	return task, nil
}

// places are those of a task's artifacts, by id.
type places map[string]int

func placesOf(task runtime.Task) places {
	p := places{}
	for i, a := range task.ArtifactList() {
		p[a.ID] = i
	}
	return p
}

// shown is an event of the log as the stream's version shows it. A stream that did not begin with the task asks for it once.
func (st *stream) shown(e runtime.Event) (runtime.Event, error) {
	u, ok := e.(runtime.ArtifactUpdate)
	if !ok || !st.q.version.Rules.Places {
		return e, nil
	}
	if st.places == nil {
		snap, err := st.q.s.store.Get(context.Background(), st.key, store.View{History: new(int), Artifacts: true})
		if err != nil {
			return nil, err
		}
		st.places = placesOf(snap.Task)
	}
	data, info := u.ArtifactUpdate(), u.EventInfo()
	place, known := st.places[data.ID]
	if !known {
		place = len(st.places)
		st.places[data.ID] = place
	}
	return st.q.s.protocol.At(place, info.TaskID, info.ContextID, data), nil
}
