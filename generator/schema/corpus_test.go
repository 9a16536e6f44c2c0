package schema_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/a2agen/a2agen/internal/test/gotool"
)

// TestSchemasOfOthersGenerate takes a folder of schemas that are not in the repository.
func TestSchemasOfOthersGenerate(t *testing.T) {
	dir := os.Getenv("A2AGEN_SCHEMAS")
	if dir == "" {
		fmt.Println("no schemas of others were read: set A2AGEN_SCHEMAS to a folder of .json files")
		return
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	var reqs []request
	for i, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		req := request{fmt.Sprintf("Case%03dInput", i), filepath.Base(f), string(text)}
		if _, list := compile([]request{req}, openMap(nil)); list.HasErrors() {
			t.Errorf("%v", list)
			continue
		}
		reqs = append(reqs, req)
	}
	t.Logf("%d of %d schemas are taken", len(reqs), len(files))
	var all compiled
	for len(reqs) > 0 { // as many as one run may hold
		n := min(len(reqs), 100)
		res, list := compile(reqs[:n], openMap(nil))
		if list.HasErrors() {
			t.Fatal(list)
		}
		all, reqs = res, reqs[n:]
		if out, err := gotool.Command(module(t, all), "vet", "./agent").CombinedOutput(); err != nil {
			t.Fatalf("%v\n%.3000s", err, out)
		}
	}
}
