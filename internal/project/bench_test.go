package project

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/a2agen/a2agen/internal/test/projecttest"
)

// BenchmarkRun is a full run in a folder. Cold, all owned files and handlers have to be written; one changed has one
// owned file to be written anew, for which everything is generated; unchanged, the lock says that there is nothing to
// do. The aims for a whole process: ten skills ≤ 60 ms and ≤ 20 ms unchanged, 200 skills ≤ 400 ms.
func BenchmarkRun(b *testing.B) {
	const four = `["1.0", "0.3", "0.2", "0.1"]`
	for _, c := range []struct {
		name, protocol string
		skills         int
	}{
		{"10 skills 1 version", `["1.0"]`, 10},
		{"10 skills 4 versions", four, 10},
		{"200 skills 1 version", `["1.0"]`, 200},
		{"200 skills 4 versions", four, 200},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.Setenv("XDG_CACHE_HOME", b.TempDir())
			files := map[string]string{
				"go.mod":          "module example.com/weather\n",
				"agent.yaml":      projecttest.Skills(c.skills),
				"a2agen.yaml":     "protocol: " + c.protocol + "\n",
				"skills/agent.go": "package skills\n\ntype Agent struct{}\n",
			}
			b.Run("cold", func(b *testing.B) { benchRun(b, files, nil) })
			b.Run("changed", func(b *testing.B) { benchRun(b, files, []string{"agent/types/types.gen.go"}) })
			b.Run("unchanged", func(b *testing.B) { benchRun(b, files, []string{}) })
		})
	}
}

// benchRun runs in a folder that was generated, after removing some of its files, or in a new folder each time if
// gone is nil.
func benchRun(b *testing.B, files map[string]string, gone []string) {
	o := Options{Tool: Tool{Version: "v1.2.3"}, Dir: b.TempDir()}
	projecttest.Write(b, o.Dir, files)
	if gone != nil {
		if _, err := Run(b.Context(), o); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportAllocs()
	for round := 0; b.Loop(); round++ {
		if gone == nil {
			b.StopTimer()
			o.Dir = filepath.Join(o.Dir, "..", fmt.Sprintf("cold%d", round))
			projecttest.Write(b, o.Dir, files)
			b.StartTimer()
		}
		for _, name := range gone {
			if err := os.Remove(filepath.Join(o.Dir, name)); err != nil {
				b.Fatal(err)
			}
		}
		r, err := Run(b.Context(), o)
		if err != nil {
			b.Fatal(err)
		}
		if fresh := gone != nil && len(gone) == 0; r.Fresh != fresh || !fresh && len(r.Written) == 0 {
			b.Fatalf("fresh %v, %d files written", r.Fresh, len(r.Written))
		}
	}
}
