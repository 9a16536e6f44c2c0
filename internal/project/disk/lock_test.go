package disk

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/a2agen/a2agen/generator/output"
)

var sample = Lock{
	Format: 1, Tool: "v1.2.3", Module: "example.com/weather",
	Protocols: map[string]string{"1.0": "sha256:ab", "0.3": "sha256:cd"},
	Clients:   map[string]output.ClientPin{"travel": {URL: "https://example.com/card?x=1#y", Out: "client/travel", Card: "client/travel/card.json", Digest: "sha256:ef"}},
	Inputs:    map[string]string{"agent.yaml": "sha256:01", "a2agen.yaml": output.Absent, "yes": "sha256:02", "12": "sha256:03", "a b'\"\u2028": "sha256:04"},
	Files:     map[string]string{"a2a/types.gen.go": "sha256:05", ".a2agen/agent.schema.json": "sha256:06"},
	Scaffold:  map[string]string{"main.go": "sha256:07"},
}

func TestLockSurvivesWritingAndReading(t *testing.T) {
	got, err := ParseLock(sample.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&sample, got, cmpopts.IgnoreUnexported(Lock{})); diff != "" {
		t.Error(diff)
	}
	if !bytes.Equal(got.Bytes(), sample.Bytes()) {
		t.Error("bytes differ after a round trip")
	}
}

func TestLockIsReadable(t *testing.T) {
	l := Lock{Tool: "devel", Module: "example.com/weather", Protocols: map[string]string{"1.0": "sha256:ab"}, Files: map[string]string{"b/x.gen.go": "sha256:02", "a/x.gen.go": "sha256:01"}}
	want := lockHead + `lock: 1
tool: devel
module: example.com/weather
protocols:
  "1.0": sha256:ab
files:
  a/x.gen.go: sha256:01
  b/x.gen.go: sha256:02
`
	if diff := cmp.Diff(want, string(l.Bytes())); diff != "" {
		t.Error(diff)
	}
}

func TestLockOfAMergeIsThatOfBothBranches(t *testing.T) {
	const merged = `lock: 1
tool: devel
<<<<<<< HEAD
inputs:
  agent.yaml: sha256:01
||||||| base
inputs:
  agent.yaml: sha256:00
=======
inputs:
  agent.yaml: sha256:02
>>>>>>> theirs
files:
  a2a/types.gen.go: sha256:03
<<<<<<< HEAD
  agent/card.gen.go: sha256:04
=======
  agent/card.gen.go: sha256:05
  agent/new.gen.go: sha256:06
>>>>>>> theirs
scaffold:
<<<<<<< HEAD
  skills/a.go: sha256:07
=======
  skills/b.go: sha256:08
>>>>>>> theirs
`
	got, err := ParseLock([]byte(merged))
	if err != nil {
		t.Fatal(err)
	}
	want := Lock{
		Format: 1, Tool: "devel", Protocols: map[string]string{}, Clients: map[string]output.ClientPin{},
		Files:    map[string]string{"a2a/types.gen.go": "sha256:03", "agent/card.gen.go": "sha256:04", "agent/new.gen.go": "sha256:06"},
		Scaffold: map[string]string{"skills/a.go": "sha256:07", "skills/b.go": "sha256:08"},
		theirs:   map[string]string{"agent/card.gen.go": "sha256:05"},
	}
	if diff := cmp.Diff(&want, got, cmp.AllowUnexported(Lock{})); diff != "" {
		t.Error(diff)
	}
	if !got.Merging() {
		t.Error("nothing tells that it was merged")
	}
}

func FuzzParseLock(f *testing.F) {
	f.Add(sample.Bytes())
	f.Add([]byte("lock: 1\ntool: devel\nfiles: {a: b}\n"))
	f.Add([]byte("lock: 1\nfiles:\n  ../x: y\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		l, err := ParseLock(data)
		if err != nil {
			return
		}
		for name := range l.Files {
			if err := output.CheckPath(name); err != nil {
				t.Errorf("accepted %v", err)
			}
		}
		again, err := ParseLock(l.Bytes())
		if err != nil {
			t.Fatalf("%v\n%s", err, l.Bytes())
		}
		if !bytes.Equal(again.Bytes(), l.Bytes()) {
			t.Errorf("not stable:\n%s\n%s", l.Bytes(), again.Bytes())
		}
	})
}
