package news

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/a2agen/a2agen/runtime"
)

func TestArtifactsTellsWhatIsNew(t *testing.T) {
	art := func(id string, parts ...runtime.Part) runtime.ArtifactData {
		return runtime.ArtifactData{ID: id, Parts: parts}
	}
	appended := func(id string, parts ...runtime.Part) runtime.ArtifactData {
		return runtime.ArtifactData{ID: id, Parts: parts, Append: true}
	}
	a, b, ab, file := runtime.Text("a"), runtime.Text("b"), runtime.Text("ab"), runtime.File("f", "x/y", []byte("1"))
	other := runtime.File("f", "x/y", []byte("2"))
	list := func(l ...runtime.ArtifactData) []runtime.ArtifactData { return l }
	tests := []struct {
		name             string
		known, now, want []runtime.ArtifactData
	}{
		{"nothing", nil, nil, nil},
		{"a new one", nil, list(art("1", a)), list(art("1", a))},
		{"a new one without parts", nil, list(art("1")), list(art("1"))},
		{"the same", list(art("1", a, file)), list(art("1", a, file)), nil},
		{"more parts", list(art("1", a)), list(art("1", a, file)), list(appended("1", file))},
		{"joined text", list(art("1", a, b)), list(art("1", ab)), nil},
		{"joined text and more", list(art("1", a)), list(art("1", ab)), list(appended("1", b))},
		{"another file", list(art("1", file)), list(art("1", other)), list(art("1", other))},
		{"fewer parts", list(art("1", a, file)), list(art("1", a)), list(art("1", a))},
		{"other text", list(art("1", ab)), list(art("1", b)), list(art("1", b))},
		{"a second one", list(art("1", a)), list(art("1", a), art("2", b)), list(art("2", b))},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, Artifacts(tt.known, tt.now)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}
