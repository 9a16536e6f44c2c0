package feed

import (
	"testing"
	"time"

	"github.com/a2agen/a2agen/internal/test/a2amore"
	"github.com/a2agen/a2agen/runtime"
)

// What is shown without its content has its generation: a client must not take it for a gap.
func TestWhatIsShownBareHasItsGeneration(t *testing.T) {
	p := a2amore.Protocol()
	for _, e := range []runtime.Event{
		p.NewTask("t", "c", time.Now()), p.NewStatus("t", "c", runtime.StateWorking, nil, time.Now()),
		p.NewArtifact("t", "c", runtime.ArtifactData{ID: "a"}),
	} {
		bare := BareEvent(p, runtime.WithGeneration(e, 7))
		if got := bare.EventInfo().Generation; got != 7 {
			t.Errorf("a %T has generation %d", e.Generated(), got)
		}
	}
}
