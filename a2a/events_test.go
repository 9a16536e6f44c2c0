package a2a

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/wire"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

func newWorking(t *testing.T) (*runtime.Protocol, runtime.Task) {
	t.Helper()
	p := Protocol()
	task := p.NewTask("t", "c", noon)
	apply(t, task, p.NewStatus("t", "c", runtime.StateWorking, nil, noon.Add(time.Second)))
	return p, task
}

func apply(t *testing.T, task runtime.Task, e runtime.Event) {
	t.Helper()
	if err := task.Apply(e); err != nil {
		t.Fatal(err)
	}
}

func chunk(p *runtime.Protocol, id, text string, more bool) runtime.Event {
	return p.NewArtifact("t", "c", runtime.ArtifactData{ID: id, Name: "n", Parts: []runtime.Part{runtime.Text(text)}, Append: more})
}

// texts renders the artifacts of a task: "a=one+two b=three".
func texts(task runtime.Task) string {
	var list []string
	for _, a := range task.ArtifactList() {
		var parts []string
		for _, p := range a.Parts {
			parts = append(parts, p.Text)
		}
		list = append(list, a.ID+"="+strings.Join(parts, "+"))
	}
	return strings.Join(list, " ")
}

func TestANewTaskIsSubmitted(t *testing.T) {
	task := Protocol().NewTask("t", "c", noon)
	if got, want := task.TaskInfo(), (runtime.TaskInfo{ID: "t", ContextID: "c", State: runtime.StateSubmitted, At: noon}); got != want {
		t.Errorf("info %+v, want %+v", got, want)
	}
	if got, want := task.EventInfo(), (runtime.EventInfo{Kind: runtime.EventTask, TaskID: "t", ContextID: "c", State: runtime.StateSubmitted}); got != want {
		t.Errorf("event info %+v, want %+v", got, want)
	}
}

func TestApplyMovesTheOldStatusMessageToTheHistory(t *testing.T) {
	p, task := newWorking(t)
	first, second := p.NewMessage(runtime.MessageData{MessageInfo: runtime.MessageInfo{ID: "1"}}), p.NewMessage(runtime.MessageData{MessageInfo: runtime.MessageInfo{ID: "2"}})
	apply(t, task, p.NewStatus("t", "c", runtime.StateInputRequired, first, noon))
	if task.StatusMessage() != first || task.TaskInfo().History != 0 {
		t.Errorf("status message %v, history %d", task.StatusMessage(), task.TaskInfo().History)
	}
	apply(t, task, p.NewStatus("t", "c", runtime.StateWorking, second, noon))
	apply(t, task, p.NewStatus("t", "c", runtime.StateCompleted, nil, noon))
	var ids []string
	for _, m := range task.(*engineTask).History {
		ids = append(ids, m.MessageID)
	}
	if !slices.Equal(ids, []string{"1", "2"}) || task.StatusMessage() != nil || task.TaskInfo().State != runtime.StateCompleted {
		t.Errorf("history %v, status message %v, state %v", ids, task.StatusMessage(), task.TaskInfo().State)
	}
}

func TestApplyAppendsReplacesAndAddsArtifacts(t *testing.T) { // §4.2.2
	p, task := newWorking(t)
	for _, step := range []struct {
		name string
		e    runtime.Event
		want string
	}{
		{"a new one", chunk(p, "a", "1", false), "a=1"},
		{"append", chunk(p, "a", "2", true), "a=1+2"},
		{"append to an unknown one starts it", chunk(p, "b", "3", true), "a=1+2 b=3"},
		{"append to an earlier one", chunk(p, "a", "4", true), "a=1+2+4 b=3"},
		{"replace", chunk(p, "a", "5", false), "a=5 b=3"},
	} {
		apply(t, task, step.e)
		if got := texts(task); got != step.want {
			t.Errorf("%s: %q, want %q", step.name, got, step.want)
		}
	}
}

func TestApplyRefusesWhatIsNoUpdateOfTheTask(t *testing.T) {
	p, task := newWorking(t)
	for name, e := range map[string]runtime.Event{
		"another task's status":     p.NewStatus("other", "c", runtime.StateFailed, nil, noon),
		"another task's artifact":   p.NewArtifact("other", "c", runtime.ArtifactData{ID: "a"}),
		"a task":                    p.NewTask("t", "c", noon),
		"a message":                 p.NewMessage(runtime.MessageData{}),
		"an update without status":  &engineTaskStatusUpdateEvent{TaskID: "t"},
		"an update with no content": &engineTaskArtifactUpdateEvent{TaskID: "t"},
	} {
		if err := task.Apply(e); err == nil || task.TaskInfo().State != runtime.StateWorking || task.TaskInfo().Artifacts != 0 {
			t.Errorf("%s was applied (%v): %+v", name, err, task.TaskInfo())
		}
	}
}

// Events are encoded after they were applied, concurrently with the next ones; the race detector sees every write into them.
func TestEventsAndViewsStayAsTheyAreWhileTheTaskGoesOn(t *testing.T) {
	p, task := newWorking(t)
	// The parts of the first event have room to grow: nothing may be written there.
	first := chunk(p, "a", "0", false).(*engineTaskArtifactUpdateEvent)
	first.Artifact.Parts = append(make([]*Part, 0, 100), first.Artifact.Parts...)
	apply(t, task, first)
	task.AddMessage(p.NewMessage(runtime.MessageData{MessageInfo: runtime.MessageInfo{ID: "1"}, Parts: []runtime.Part{runtime.Text("hello")}}))

	v := Protocol().Versions[0]
	encode := func(e runtime.Event) string {
		b, err := v.AppendEvent(nil, e)
		if err != nil {
			t.Error(err)
		}
		return string(b)
	}
	events := []runtime.Event{first, task.View(nil, true), task.View(nil, true)}
	want := make([]string, len(events))
	for i, e := range events {
		want[i] = encode(e)
	}
	var wg sync.WaitGroup
	for i, e := range events {
		wg.Go(func() {
			for range 50 {
				if got := encode(e); got != want[i] {
					t.Errorf("event %d became %s, was %s", i, got, want[i])
					return
				}
			}
		})
	}
	// Two views go on by themselves, as if each were a task of its own.
	wg.Go(func() {
		for range 50 {
			apply(t, events[2].(*engineTask).View(nil, true), chunk(p, "a", "view", true))
		}
	})
	for range 50 {
		apply(t, task, chunk(p, "a", "more", true))
		apply(t, task, p.NewStatus("t", "c", runtime.StateWorking, p.NewMessage(runtime.MessageData{}), noon))
		task.AddMessage(p.NewMessage(runtime.MessageData{}))
	}
	apply(t, task, chunk(p, "a", "new", false))
	wg.Wait()
	if got := texts(task); got != "a=new" {
		t.Errorf("the task has %q", got)
	}
}

func TestViewCutsHistoryAndArtifacts(t *testing.T) { // R300
	p, task := newWorking(t)
	for _, id := range []string{"1", "2", "3"} {
		task.AddMessage(p.NewMessage(runtime.MessageData{MessageInfo: runtime.MessageInfo{ID: id}}))
	}
	apply(t, task, chunk(p, "a", "x", false))
	count := func(n int) *int { return &n }
	for name, test := range map[string]struct {
		history   *int
		artifacts bool
		want      runtime.TaskInfo
	}{
		"all":                   {nil, true, runtime.TaskInfo{History: 3, Artifacts: 1}},
		"no history":            {count(0), true, runtime.TaskInfo{History: 0, Artifacts: 1}},
		"two messages":          {count(2), false, runtime.TaskInfo{History: 2}},
		"more than there are":   {count(9), false, runtime.TaskInfo{History: 3}},
		"nothing but the state": {count(0), false, runtime.TaskInfo{}},
	} {
		view := task.View(test.history, test.artifacts)
		test.want.ID, test.want.ContextID, test.want.State, test.want.At = "t", "c", runtime.StateWorking, noon.Add(time.Second)
		if got := view.TaskInfo(); got != test.want {
			t.Errorf("%s: %+v, want %+v", name, got, test.want)
		}
		if history := view.(*engineTask).History; len(history) > 0 && history[len(history)-1].MessageID != "3" {
			t.Errorf("%s: the last message is %s", name, history[len(history)-1].MessageID)
		}
	}
}

func TestAViewHasAStatusOfItsOwn(t *testing.T) {
	_, task := newWorking(t)
	task.View(nil, true).(*engineTask).Status.State = TaskStateFailed
	if got := task.TaskInfo().State; got != runtime.StateWorking {
		t.Errorf("changing the view made the task %v", got)
	}
	if (&engineTask{}).View(nil, true).TaskInfo().State != runtime.StateUnspecified {
		t.Error("a task without a status has a state")
	}
}

func TestMessagesKeepEverythingBothWays(t *testing.T) {
	want := runtime.MessageData{
		MessageInfo: runtime.MessageInfo{
			ID: "m", ContextID: "c", TaskID: "t", User: true, Metadata: wire.Object(`{"a":1}`), Extensions: []string{"e"}, References: []string{"r"},
		},
		Parts: []runtime.Part{
			runtime.Text(""), runtime.File("f", "image/png", []byte{1}), runtime.Link("l", "text/plain", "https://x"), runtime.Data(map[string]int{"a": 1}),
			{Kind: runtime.PartText, Text: "x", Metadata: wire.Object(`{}`)},
		},
	}
	m := Protocol().NewMessage(want)
	if diff := cmp.Diff(want, runtime.MessageData{MessageInfo: m.MessageInfo(), Parts: m.Contents()}); diff != "" {
		t.Errorf("the message differs (-want +got):\n%s", diff)
	}
	if got := m.EventInfo(); got != (runtime.EventInfo{Kind: runtime.EventMessage, TaskID: "t", ContextID: "c"}) {
		t.Errorf("event info %+v", got)
	}
	m.Bind("c2", "t2")
	if got := m.MessageInfo(); got.ContextID != "c2" || got.TaskID != "t2" {
		t.Errorf("bound to %s, %s", got.ContextID, got.TaskID)
	}
}

func TestAPartThatIsNotKnownHasNoKind(t *testing.T) {
	m := &engineMessage{Parts: []*Part{nil, {}, {Content: &UnknownPartContent{Name: "video", Value: wire.Value("1")}, Filename: "f"}}}
	want := []runtime.Part{{}, {}, {Filename: "f"}}
	if diff := cmp.Diff(want, m.Contents()); diff != "" {
		t.Errorf("contents differ (-want +got):\n%s", diff)
	}
}

func TestArtifactUpdatesKeepEverythingBothWays(t *testing.T) {
	want := runtime.ArtifactData{
		ID: "a", Name: "n", Description: "d", Parts: []runtime.Part{runtime.Text("x")}, Metadata: wire.Object(`{"a":1}`), Extensions: []string{"e"}, Append: true, LastChunk: true,
	}
	e := Protocol().NewArtifact("t", "c", want)
	if diff := cmp.Diff(want, e.(runtime.ArtifactUpdate).ArtifactUpdate()); diff != "" {
		t.Errorf("the update differs (-want +got):\n%s", diff)
	}
	if got := e.EventInfo(); got != (runtime.EventInfo{Kind: runtime.EventArtifact, TaskID: "t", ContextID: "c"}) {
		t.Errorf("event info %+v", got)
	}
}

func TestStatesTranslateBothWays(t *testing.T) {
	for s := runtime.StateSubmitted; s <= runtime.StateAuthRequired; s++ {
		e := Protocol().NewStatus("t", "c", s, nil, noon)
		if got := e.EventInfo(); got != (runtime.EventInfo{Kind: runtime.EventStatus, TaskID: "t", ContextID: "c", State: s}) {
			t.Errorf("%v: %+v", s, got)
		}
	}
	if got := (&engineTaskStatusUpdateEvent{Status: &TaskStatus{State: "TASK_STATE_DREAMING"}}).EventInfo().State; got != runtime.StateUnspecified {
		t.Errorf("a state that is not known is %v", got)
	}
	if got := Protocol().NewStatus("t", "c", runtime.StateWorking, nil, noon).(runtime.StatusUpdate).StatusMessage(); got != nil {
		t.Errorf("a status without message has %v", got)
	}
}

func TestInfosDoNotAllocate(t *testing.T) {
	p, task := newWorking(t)
	m := p.NewMessage(runtime.MessageData{Parts: []runtime.Part{runtime.Text("x")}})
	status, artifact := p.NewStatus("t", "c", runtime.StateWorking, m, noon), chunk(p, "a", "x", false)
	sum := 0
	if n := testing.AllocsPerRun(100, func() {
		sum += len(task.EventInfo().TaskID) + len(task.TaskInfo().ID) + len(m.EventInfo().TaskID) + len(m.MessageInfo().ID)
		sum += len(status.EventInfo().TaskID) + len(artifact.EventInfo().TaskID)
	}); n != 0 || sum == 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkApplyChunk(b *testing.B) {
	p := Protocol()
	e := chunk(p, "a", "x", true)
	for n := 0; n < b.N; n += 1000 {
		task := p.NewTask("t", "c", noon)
		for range 1000 {
			if err := task.Apply(e); err != nil {
				b.Fatal(err)
			}
		}
	}
}

func BenchmarkViewOf64Artifacts(b *testing.B) {
	p := Protocol()
	task := p.NewTask("t", "c", noon)
	for i := range 64 {
		if err := task.Apply(chunk(p, string(rune('A'+i)), "x", false)); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		task.View(nil, true)
	}
}
