package generator

import (
	"testing"

	"github.com/a2agen/a2agen/internal/test/projecttest"
)

func BenchmarkGenerateTenSkills(b *testing.B) {
	in := inputs(map[string]string{"agent.yaml": projecttest.Skills(10)})
	b.ReportAllocs()
	for b.Loop() {
		if _, list := Generate(b.Context(), in); list.HasErrors() {
			b.Fatal(list)
		}
	}
}
