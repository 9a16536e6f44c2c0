package a2atest

import (
	"fmt"
	"path"
	"runtime"
	"strings"
)

// testLine is the line of a test that called this package, as "weather_test.go:12": the first frame outside of it and of
// generated code.
func testLine() string {
	var pcs [32]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(1, pcs[:])])
	kit := ""
	for {
		f, more := frames.Next()
		if kit == "" {
			kit = strings.TrimSuffix(f.Function, "testLine") // the path of this package, with a dot
		}
		if !strings.HasPrefix(f.Function, kit) && !strings.HasSuffix(f.File, ".gen.go") {
			return fmt.Sprintf("%s:%d", path.Base(f.File), f.Line)
		}
		if !more {
			return "an unknown line"
		}
	}
}
