package a2awires

import (
	"strconv"
	"testing"

	"github.com/a2agen/a2agen/internal/test/growth"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/wire"
)

// Documents of every version are read in time linear in what they hold: lists of each kind, and members that nobody knows.
func TestDocumentsAreReadInLinearTime(t *testing.T) {
	for _, v := range Protocol().Versions {
		ops := map[runtime.Role]*runtime.Operation{}
		for _, op := range v.Operations {
			ops[op.Role] = op
		}
		get, send := ops[runtime.RoleGet], ops[runtime.RoleSend]
		answer := func(task *Task) ([]byte, error) { return get.Append(nil, task) }
		read := func(src []byte) (any, error) { return get.Read(src) }
		for _, c := range []struct {
			name  string
			write func(n int) ([]byte, error)
			read  func(src []byte) (any, error)
		}{
			{"artifacts", func(n int) ([]byte, error) { return answer(taskOf(n, 0, 0)) }, read},
			{"messages", func(n int) ([]byte, error) { return answer(taskOf(0, n, 1)) }, read},
			{"parts", func(n int) ([]byte, error) { return answer(taskOf(0, 1, n)) }, read},
			{"sent parts", func(n int) ([]byte, error) {
				return send.AppendRequest(nil, &SendMessageRequest{Message: messageOf(n)})
			}, send.Decode},
			{"unknown members", func(n int) ([]byte, error) {
				b, err := answer(taskOf(0, 0, 0))
				return withUnknown(b, n), err
			}, read},
			{"skills", func(n int) ([]byte, error) { return v.AppendCard(nil, asCard(cardOf(n))) }, func(src []byte) (any, error) { return v.ReadCard(src) }},
			{"skills, of no version", func(n int) ([]byte, error) { return v.AppendCard(nil, asCard(cardOf(n))) }, func(src []byte) (any, error) { return Protocol().DecodeCard(src) }},
		} {
			t.Run(v.Name+"/"+c.name, func(t *testing.T) {
				growth.Linear(t, 1000, func(n int) func() {
					src, err := c.write(n)
					if err != nil {
						t.Fatal(err)
					}
					return func() {
						if _, err := c.read(src); err != nil {
							t.Fatal(err)
						}
					}
				})
			})
		}
	}
}

// taskOf is a task with so many artifacts, and messages of so many parts.
func taskOf(artifacts, messages, parts int) *Task {
	task := &Task{ID: "t", ContextID: "c", Status: &TaskStatus{State: TaskStateWorking}}
	for i := range artifacts {
		task.Artifacts = append(task.Artifacts, &Artifact{ArtifactID: strconv.Itoa(i), Parts: []*Part{Text("x")}})
	}
	for range messages {
		task.History = append(task.History, messageOf(parts))
	}
	return task
}

func messageOf(parts int) *Message {
	m := &Message{MessageID: "m", ContextID: "c", TaskID: "t", Role: RoleUser}
	for range parts {
		m.Parts = append(m.Parts, Text("x"))
	}
	return m
}

// withUnknown adds n members to an object that no version has.
func withUnknown(object []byte, n int) []byte {
	b := object[:len(object)-1]
	for i := range n {
		b = append(wire.AppendKey(b, "unknown"+strconv.Itoa(i)), `{"a":[1]}`...)
	}
	return append(b, '}')
}

func cardOf(skills int) *AgentCard {
	c := &AgentCard{
		Name: "n", Description: "d", Version: "1", Capabilities: &AgentCapabilities{},
		SupportedInterfaces: []*AgentInterface{{URL: "http://localhost/", ProtocolBinding: "JSONRPC", ProtocolVersion: "1.0"}},
		DefaultInputModes:   []string{"text/plain"}, DefaultOutputModes: []string{"text/plain"},
	}
	for i := range skills {
		c.Skills = append(c.Skills, &AgentSkill{ID: strconv.Itoa(i), Name: "s", Description: "d", Tags: []string{"t"}})
	}
	return c
}
