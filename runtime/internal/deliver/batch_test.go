package deliver

import (
	"testing"
	"testing/synctest"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/store/memory"
)

// A delivery that a process decided on which joins events may be left to one that does not.
func TestAWorkerThatJoinsNothingSendsOneEvent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t, memory.New(memory.Limits{}), &post{})
		var recs []*store.Record
		for i := range int64(3) {
			rec := new(store.Record)
			rec.Hold(2+i, d.protocol.NewArtifact("t", "c", runtime.ArtifactData{ID: "a", Append: true}), nil, nil)
			recs = append(recs, rec)
		}
		j := &job{Delivery: store.Delivery{Next: 2, Until: 4}}
		for _, join := range []bool{true, false} {
			if !join {
				d.Join = nil
			}
			b, err := d.next(t.Context(), j, recs, nil)
			if err != nil || (b.last == 4) != join || (len(b.events) == 3) != join {
				t.Fatalf("joining %v: %+v, %v", join, b, err)
			}
			if e := d.event(b); e.EventInfo().Kind != runtime.EventArtifact {
				t.Errorf("joining %v: %+v", join, e)
			}
		}
	})
}
