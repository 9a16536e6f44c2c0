package engine

import (
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store"
)

// Artifacts of 0.1 have a place in their task instead of an id (decision 012).

// shown is a task as the hooks want it answered and the request's version shows it.
func (r *Request) shown(task runtime.Task) (runtime.Task, error) {
	task = r.answered(task)
	if r.Version.Rules.Places {
		return r.e.protocol.Placed(task)
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

// shown is an event of the log as the stream's version shows it. A stream that did not begin with the task asks for it
// once.
func (st *Stream) shown(e runtime.Event) (runtime.Event, error) {
	u, ok := e.(runtime.ArtifactUpdate)
	if !ok || !st.r.Version.Rules.Places {
		return e, nil
	}
	if st.places == nil {
		snap, err := st.r.e.store.Get(st.r.e.soon(), st.live.key, store.View{History: new(int), Artifacts: true})
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
	return st.r.e.protocol.At(place, info.TaskID, info.ContextID, data), nil
}
