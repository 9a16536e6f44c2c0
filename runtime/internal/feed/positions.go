package feed

import "github.com/a2agen/a2agen/runtime"

// Artifacts of 0.1 have a position in their task instead of an id (decision 012).

// positions are those of a task's artifacts, by id.
type positions map[string]int

func positionsOf(task runtime.Task) positions {
	p := positions{}
	for i, a := range task.ArtifactList() {
		p[a.ID] = i
	}
	return p
}

// shown returns an event of the log as the stream's version shows it. A stream that did not begin with the task reads
// it once.
func (st *Stream) shown(e runtime.Event) (runtime.Event, error) {
	u, ok := e.(runtime.ArtifactUpdate)
	if !ok || !st.Version.Rules.Places {
		return e, nil
	}
	if st.positions == nil {
		snap, err := st.f.Store.Get(st.f.Context(), st.Key, artifactsOnly)
		if err != nil {
			return nil, err
		}
		st.positions = positionsOf(snap.Task)
	}
	data, info := u.ArtifactUpdate(), u.EventInfo()
	position, known := st.positions[data.ID]
	if !known {
		position = len(st.positions)
		st.positions[data.ID] = position
	}
	return st.f.Protocol.At(position, info.TaskID, info.ContextID, data), nil
}
