package audit

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestADiskThatIsFull: a part of a line that is in the file is gone on with, and written anew in the next file.
func TestADiskThatIsFull(t *testing.T) {
	l := open(t, filepath.Join(t.TempDir(), "audit"))
	l.path = "/dev/full"
	did(l, "a")
	if l.Ready() {
		t.Error("it is ready")
	}
	for range 2 * maxWaiting / 100 {
		did(l, "b")
	}
	if len(l.waiting) > maxWaiting+1000 || l.omitted == 0 {
		t.Errorf("%d bytes wait, %d lines are omitted", len(l.waiting), l.omitted)
	}
	omitted := l.omitted
	l.path = filepath.Join(t.TempDir(), "audit")
	l.written = bytes.IndexByte(l.waiting, '\n') + 10 // the first line, and a part of the second
	if !l.Ready() {
		t.Error("it is not ready again")
	}
	did(l, "c")
	src, err := os.ReadFile(l.path)
	if err != nil || !strings.Contains(string(src), fmt.Sprintf(`"task":"c","outcome":"ok","ms":0,"omitted":%d}`, omitted)) {
		t.Errorf("the last line is %s: %v", src[max(0, len(src)-300):], err)
	}
	if all := tasks(t, l.path); all[0] != "b" {
		t.Errorf("the first line is of %s", all[0])
	}
}
