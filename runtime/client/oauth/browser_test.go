package oauth

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"
)

// TestNoShellOpensTheBrowser: the URL is one argument of a program that is none.
func TestNoShellOpensTheBrowser(t *testing.T) {
	for _, system := range []string{"linux", "darwin", "windows", "freebsd"} {
		words := browserCommand(system)
		if slices.Contains([]string{"sh", "bash", "cmd", "cmd.exe", "powershell"}, words[0]) {
			t.Errorf("%s: %v", system, words)
		}
	}
	if runtime.GOOS != "linux" {
		return
	}
	dir := t.TempDir()
	seen := filepath.Join(dir, "seen")
	script := "#!/bin/sh\nprintf '%s|' \"$#\" \"$@\" >" + seen + ".new && mv " + seen + ".new " + seen + "\n"
	if err := os.WriteFile(filepath.Join(dir, "xdg-open"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":/bin:/usr/bin")
	if err := OpenBrowser("https://id.example/a?b=$(touch${IFS}x)&c=`id`;d"); err != nil {
		t.Fatal(err)
	}
	var got []byte
	for len(got) == 0 { // until the program has run
		got, _ = os.ReadFile(seen)
		time.Sleep(time.Millisecond)
	}
	if string(got) != "1|https://id.example/a?b=$(touch${IFS}x)&c=`id`;d|" {
		t.Errorf("%s", got)
	}
}

func TestOddPagesAreNotOpened(t *testing.T) {
	t.Setenv("PATH", "")
	for _, page := range []string{
		"javascript:alert(1)", "file:///etc/passwd", "http://id.example/", "--version", "https://id.example/\nx", "https://u:p@id.example/", "", "https:///x",
	} {
		if err := OpenBrowser(page); err == nil || err.Error() == "" {
			t.Errorf("%q: %v", page, err)
		}
	}
}
