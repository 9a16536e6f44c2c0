package runtime

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Turn is what one side says in a task: a message, or an artifact, which is the agent's.
type Turn struct {
	User     bool   // the client says it, else the agent
	Artifact string // id of the artifact, [ResultArtifact] of a skill's output; "" of a message
	Name     string // of the artifact; "" if it has none
	Parts    []Part // their bytes are shared: do not change them
}

// Role is "user" or "agent".
func (t *Turn) Role() string {
	if t.User {
		return "user"
	}
	return "agent"
}

// Text returns the texts of the text parts: those of a message one a line, those of an artifact, which may have come
// piece by piece, one after the other.
func (t *Turn) Text() string {
	between := "\n"
	if t.Artifact != "" {
		between = ""
	}
	var texts []string
	for i := range t.Parts {
		if t.Parts[i].Kind == PartText {
			texts = append(texts, t.Parts[i].Text)
		}
	}
	return strings.Join(texts, between)
}

// Data reads the first data part into v, as encoding/json does. It reports whether there is one.
func (t *Turn) Data(v any) (found bool, err error) {
	for i := range t.Parts {
		if t.Parts[i].Kind != PartData {
			continue
		}
		if err := json.Unmarshal(t.Parts[i].Data, v); err != nil {
			return true, fmt.Errorf("data of a turn: %w", err)
		}
		return true, nil
	}
	return false, nil
}

// Turns returns what was said in a task: the messages of its history, oldest first, then its artifacts, then the message
// of its status. Progress that the agent reported is among the messages.
func Turns(task Task) []Turn {
	history, artifacts := task.HistoryList(), task.ArtifactList()
	turns := make([]Turn, 0, len(history)+len(artifacts)+1)
	for _, m := range history {
		turns = append(turns, turnOf(m))
	}
	for _, a := range artifacts {
		turns = append(turns, Turn{Artifact: a.ID, Name: a.Name, Parts: a.Parts})
	}
	if m := task.StatusMessage(); m != nil {
		turns = append(turns, turnOf(m))
	}
	return turns
}

func turnOf(m Message) Turn { return Turn{User: m.MessageInfo().User, Parts: m.Contents()} }
