package generator

import (
	"bytes"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/a2agen/a2agen/internal/test/projecttest"
)

// wholeFiles compares the bytes of a file at once: one by one they take seconds.
var wholeFiles = cmp.Comparer(bytes.Equal)

// TestOrderOfInputsDoesNotMatter shuffles what has no order: the keys of both files, and the list of clients.
func TestOrderOfInputsDoesNotMatter(t *testing.T) {
	keys := []string{
		"name: weather\n", "description: Weather.\n", "version: \"1\"\n", "documentationUrl: https://example.com\n",
		"skills:\n  - {id: a, name: A, description: a, tags: [x], input: in.json}\n",
	}
	clients := []string{"  - {name: one, file: cards/one.json}\n", "  - {name: two, file: cards/two.json}\n", "  - {name: six, file: cards/six.json}\n"}
	project := func(first int) map[string]string {
		rotate := func(parts []string) string {
			n := first % len(parts)
			return strings.Join(append(append([]string{}, parts[n:]...), parts[:n]...), "")
		}
		config := []string{"packages: {client: sdk, agent: internal/agent}\n", "clients:\n" + rotate(clients)}
		return map[string]string{
			"agent.yaml": rotate(keys), "a2agen.yaml": rotate(config),
			"in.json":        `{"type": "object", "properties": {"b": {"type": "string"}, "a": {"type": "integer"}}}`,
			"cards/one.json": projecttest.RemoteCard, "cards/two.json": projecttest.RemoteCard, "cards/six.json": projecttest.RemoteCard,
		}
	}
	want, list := Generate(t.Context(), inputs(project(0)))
	if list.HasErrors() {
		t.Fatal(list)
	}
	for first := 1; first < len(keys)*2; first++ {
		got, list := Generate(t.Context(), inputs(project(first)))
		if list.HasErrors() {
			t.Fatal(list)
		}
		if diff := cmp.Diff(want.Files, got.Files, wholeFiles); diff != "" {
			t.Fatalf("rotated by %d: %s", first, diff)
		}
	}
}

// TestClockDoesNotMatter generates a day, a year and ten years later.
func TestClockDoesNotMatter(t *testing.T) {
	files := map[string]string{"agent.yaml": projecttest.Skills(10)}
	now, _ := Generate(t.Context(), inputs(files))
	for _, later := range []time.Duration{0, 24 * time.Hour, 10 * 365 * 24 * time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			time.Sleep(later) // from midnight of 2000-01-01, at no time at all
			then, list := Generate(t.Context(), inputs(files))
			if list.HasErrors() {
				t.Fatal(list)
			}
			if diff := cmp.Diff(now.Files, then.Files, wholeFiles); diff != "" {
				t.Errorf("at %v: %s", time.Now(), diff)
			}
		})
	}
}
