package arch

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// needNoModules are packages whose offline go commands read the standard library and this module alone.
var needNoModules = map[string]bool{"generator/scaffold": true}

// TestOfflineGoCommandsHaveTheirModules: a package whose tests run the go command without a network has what that needs fetched before, by itself
// (gotool.Fetch, which gotool.Command calls): another package may not have been tested yet.
func TestOfflineGoCommandsHaveTheirModules(t *testing.T) {
	offline, fetches := map[string]bool{}, map[string]bool{}
	err := fs.WalkDir(os.DirFS("../.."), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && len(path) > 1 && strings.HasPrefix(d.Name(), ".") {
			return fs.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return nil
		}
		src, err := os.ReadFile(filepath.Join("../..", path))
		if err != nil {
			return err
		}
		dir, text := filepath.ToSlash(filepath.Dir(path)), string(src)
		offline[dir] = offline[dir] || strings.Contains(text, `"GOPROXY=`+`off"`)
		fetches[dir] = fetches[dir] || strings.Contains(text, "gotool.Fetch()")
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for dir := range offline {
		if offline[dir] && !fetches[dir] && !needNoModules[dir] {
			t.Errorf("%s runs the go command offline and does not call gotool.Fetch", dir)
		}
	}
	if !offline["cmd/a2agen"] {
		t.Error("no test is offline: this one looks for the wrong thing")
	}
}
