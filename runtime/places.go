package runtime

import "strconv"

// MaxArtifacts is how many artifacts a task may have that is built up from events: each event looks for its own among
// them all, which takes time that grows with the square of their number.
const MaxArtifacts = 4096

// Placed returns a task for versions whose artifacts have a place in their task instead of an id ([Rules.Places]): a
// copy in which the places, from 0, are the ids.
func (p *Protocol) Placed(task Task) (Task, error) {
	info, placed := task.TaskInfo(), task.View(nil, false)
	for i, a := range task.ArtifactList() {
		if err := placed.Apply(p.At(i, info.ID, info.ContextID, a)); err != nil {
			return nil, err
		}
	}
	return placed, nil
}

// At makes an artifact update for a task, for versions as [Protocol.Placed] has them, of an artifact at the given
// place.
func (p *Protocol) At(place int, taskID, contextID string, data ArtifactData) Event {
	data.ID = strconv.Itoa(place)
	return p.NewArtifact(taskID, contextID, data)
}
