package project

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"

	"github.com/a2agen/a2agen/generator/scaffold"
)

// Tool is the running program.
type Tool struct {
	// Version is what locks say: the version of a release, or "devel", so that locks do not differ from build to build.
	Version string
	Info    *debug.BuildInfo // nil when the program has none
}

// ThisTool describes the running program.
func ThisTool() Tool {
	t := Tool{Version: "devel"}
	t.Info, _ = debug.ReadBuildInfo()
	if rt, ok := scaffold.Released(t.Info); ok {
		t.Version = rt.Version
	}
	return t
}

// released reports whether the version identifies the program.
func (t Tool) released() bool { return t.Version != "devel" }

// runtime returns the default runtime of a project in dir: that of the released tool, the checkout that the tool was
// built from, else the source in the tool.
func (t Tool) runtime(dir string) (scaffold.Runtime, error) {
	if rt, ok := scaffold.Released(t.Info); ok {
		return rt, nil
	}
	var from []string
	if exe, err := os.Executable(); err == nil {
		from = append(from, filepath.Dir(exe))
	}
	if wd, err := os.Getwd(); err == nil {
		from = append(from, wd)
	}
	if checkout := findCheckout(from...); checkout != "" {
		return inCheckout(checkout, dir)
	}
	return scaffold.Runtime{}, nil
}

// headSize is how much of an executable identifies it: the Go linker puts the build id, a hash of everything that was
// compiled, in front.
const headSize = 64 << 10 // bytes

// build returns an id of the build of the running program; "" if it is not known.
func (t Tool) build() string {
	exe, err := os.Executable()
	if err != nil {
		return ""
	}
	f, err := os.Open(exe)
	if err != nil {
		return ""
	}
	defer f.Close()
	h := sha256.New()
	if n, err := io.CopyN(h, f, headSize); err != nil && n == 0 {
		return ""
	}
	return hex.EncodeToString(h.Sum(nil))
}

// stamp records, outside the project, which build of an unreleased tool last generated it, and the lock it left. With
// a released tool the lock alone is enough.
type stamp struct{ path, text string }

// stampOf returns the stamp for a project with the given lock; its path is "" if there is no folder for it.
func (t Tool) stampOf(dir string, lock []byte) stamp {
	cache, err := os.UserCacheDir()
	build := t.build()
	if err != nil || build == "" {
		return stamp{}
	}
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	name := sha256.Sum256([]byte(dir))
	sum := sha256.Sum256(lock)
	return stamp{filepath.Join(cache, "a2agen", hex.EncodeToString(name[:16])),
		build + " " + hex.EncodeToString(sum[:]) + "\n"}
}

func (s stamp) matches() bool {
	if s.path == "" {
		return false
	}
	data, err := os.ReadFile(s.path)
	return err == nil && string(data) == s.text
}

// write writes the stamp. Without it the next run is slower, and nothing else.
func (s stamp) write() {
	if s.path == "" || s.matches() {
		return
	}
	if os.MkdirAll(filepath.Dir(s.path), 0o755) == nil {
		_ = os.WriteFile(s.path, []byte(s.text), 0o644)
	}
}
