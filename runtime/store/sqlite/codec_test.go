package sqlite

import (
	"strings"
	"testing"

	"github.com/a2agen/a2agen/internal/a2awires"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store"
)

// speaking is the protocol of an agent that speaks some versions, the newest first.
func speaking(names ...string) *runtime.Protocol {
	p := a2awires.Protocol()
	all := p.Versions
	p.Versions = nil
	for _, name := range names {
		for _, v := range all {
			if v.Name == name {
				p.Versions = append(p.Versions, v)
			}
		}
	}
	return p
}

// TestWhatWasWrittenInAnotherVersionIsReadInIt: an agent may speak a newer version by the time it reads its file, or no
// longer
// the one that it is in.
func TestWhatWasWrittenInAnotherVersionIsReadInIt(t *testing.T) {
	path := fresh(t)
	reopen := func(versions ...string) *Store {
		t.Helper()
		s, err := Open(path, speaking(versions...), Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		return s
	}
	s := reopen("0.3")
	p := a2awires.Protocol()
	if _, err := s.Create(ctx, key("t"), store.New{Task: p.NewTask("t", "c", start)}, nil); err != nil {
		t.Fatal(err)
	}
	said := func(text string) store.Update {
		data := runtime.ArtifactData{ID: "a", Parts: []runtime.Part{runtime.Text(text)}, Append: true}
		return store.Update{Event: p.NewArtifact("t", "c", data)}
	}
	apply(t, s, "t", 1, said("old"))
	_ = s.Close()
	s = reopen("1.0", "0.3")
	apply(t, s, "t", 2, said("new"))
	s.cache.Clear()
	if n := parts(t, s, "t"); n != 2 {
		t.Errorf("the task has %d parts", n)
	}
	records, err := s.Events(ctx, key("t"), 1, 0)
	if err != nil || len(records) != 2 {
		t.Fatalf("%d records: %v", len(records), err)
	}
	for i, want := range []string{`"text":"old"`, `"text":"new"`} {
		got, err := records[i].Encode(0, s.base.Codec.Append)
		if err != nil || !strings.Contains(string(got), want) || !strings.Contains(string(got), `"artifactUpdate"`) {
			t.Errorf("event %d is read as %s: %v", i, got, err)
		}
	}
	_ = s.Close()
	s = reopen("1.0")
	if h, err := s.Head(ctx, key("t")); err != nil || h.Version != 3 {
		t.Errorf("without the version that it began in: %+v, %v", h, err)
	}
}

// TestUnknownMembersStayInTheFile: whoever does not know them reads around them.
func TestUnknownMembersStayInTheFile(t *testing.T) {
	s := open(t, fresh(t), Options{})
	create(t, s, "t")
	apply(t, s, "t", 1, chunk("t", "x"))
	const mark = `{"artifactUpdate":{"later":{"a":[1]},`
	if err := s.write(ctx, func(w *writer) error {
		_, err := w.exec(`UPDATE event SET doc=CAST(replace(CAST(doc AS TEXT), '{"artifactUpdate":{', ?) AS BLOB) WHERE seq=2`, mark)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	s.cache.Clear()
	apply(t, s, "t", 2, status("t", runtime.StateCompleted))
	if snap, err := s.Get(ctx, key("t"), store.Full); err != nil || snap.Task.TaskInfo().Artifacts != 1 {
		t.Errorf("the task: %v", err)
	}
	err := s.reading(ctx, func(c *conn) error {
		return c.query("SELECT doc FROM event WHERE seq=2", func(v []value) error {
			if !strings.HasPrefix(string(blob(v[0])), mark) {
				t.Errorf("the event is %s", blob(v[0]))
			}
			return nil
		})
	})
	if err != nil {
		t.Error(err)
	}
}
