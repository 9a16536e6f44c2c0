package codec

import (
	"bytes"
	"encoding/json"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	old "github.com/a2aproject/a2a-go/a2a"
	peer "github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2acompat/a2av0"

	"github.com/a2agen/a2agen/internal/a2awires"
	"github.com/a2agen/a2agen/runtime"
)

// emitted03 is the 0.3 wire of the package that is emitted for all versions, as our server calls it: from the types of 1.0
// to JSON of 0.3 and back in one step.
func emitted03(tb testing.TB) codec[runtime.Event] {
	versions := a2awires.Protocol().Versions
	i := slices.IndexFunc(versions, func(v *runtime.Version) bool { return v.Name == "0.3" })
	if i < 0 {
		tb.Fatal("0.3 is not spoken")
	}
	return codec[runtime.Event]{"a2agen", versions[i].AppendEvent, versions[i].ReadEvent}
}

// official03 is the official SDK of 0.3 with its own types.
func official03() codec[old.Event] {
	return codec[old.Event]{"a2a-go-0.3", std[old.Event]("").encode, old.UnmarshalEventJSON}
}

// compat is the official SDK of 1.0 as it talks to a peer of 0.3: from its types to those of the SDK of 0.3, then JSON, and
// back.
func compat() codec[peer.Event] {
	return codec[peer.Event]{"a2a-go-compat",
		func(dst []byte, v peer.Event) ([]byte, error) {
			converted, err := a2av0.FromV1Event(v)
			if err != nil {
				return nil, err
			}
			buf := bytes.NewBuffer(dst)
			err = json.NewEncoder(buf).Encode(converted)
			return buf.Bytes(), err
		},
		func(src []byte) (peer.Event, error) {
			v, err := old.UnmarshalEventJSON(src)
			if err != nil {
				return nil, err
			}
			return a2av0.ToV1Event(v)
		},
	}
}

func BenchmarkMessage1KBOf03(b *testing.B)      { benchEvents(b, source(b, message03())) }
func BenchmarkTask64ArtifactsOf03(b *testing.B) { benchEvents(b, source(b, task03())) }

func benchEvents(b *testing.B, src []byte) {
	benchEvent(b, src, official03())
	benchEvent(b, src, compat())
	benchEvent(b, src, emitted03(b))
}

func benchEvent[T any](b *testing.B, src []byte, c codec[T]) {
	v, wire := through(b, src, c)
	measure(b, c, v, wire)
}

// through reads a document of 0.3 and writes it, and shows that nothing of it gets lost.
func through[T any](tb testing.TB, src []byte, c codec[T]) (v T, wire []byte) {
	tb.Helper()
	v, err := c.decode(src)
	if err != nil {
		tb.Fatal(err)
	}
	if wire, err = c.encode(nil, v); err != nil {
		tb.Fatal(err)
	}
	if diff := cmp.Diff(value[any](tb, src), value[any](tb, wire)); diff != "" {
		tb.Errorf("%s loses something (- read, + written):\n%.2000s", c.name, diff)
	}
	return v, wire
}

func TestNoCodecOf03LosesAnything(t *testing.T) {
	for payload, src := range map[string][]byte{"message": source(t, message03()), "task": source(t, task03())} {
		t.Run(payload, func(t *testing.T) {
			through(t, src, official03())
			through(t, src, compat())
			through(t, src, emitted03(t))
		})
	}
}

func TestMessageOf03IsOfAbout1KB(t *testing.T) {
	if n := len(source(t, message03())); n < 950 || n > 1100 {
		t.Errorf("the message has %d bytes of JSON", n)
	}
}
