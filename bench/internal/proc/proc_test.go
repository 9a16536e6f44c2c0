package proc

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// buildBare builds the simplest contestant.
func buildBare(t *testing.T) string {
	t.Helper()
	bin := filepath.Join(t.TempDir(), "bare")
	if out, err := exec.Command("go", "build", "-o", bin, "../../contestants/bare").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return bin
}

func TestAContestantTellsItsFiguresAndEnds(t *testing.T) {
	p, err := Start(t.Context(), buildBare(t))
	if err != nil {
		t.Fatal(err)
	}
	first, err := p.CPU()
	if err != nil || first <= 0 {
		t.Errorf("CPU time is %v (%v)", first, err)
	}
	rss, err := p.Settle()
	if err != nil || rss < 1<<20 || rss > 1<<30 {
		t.Errorf("resident memory is %d (%v)", rss, err)
	}
	second, err := p.CPU()
	if err != nil || second <= first || second > first+time.Minute {
		t.Errorf("CPU time went from %v to %v (%v)", first, second, err)
	}
	base := filepath.Join(t.TempDir(), "bare")
	if err := p.Profile(base, func() error { return nil }); err != nil {
		t.Error(err)
	}
	if files, _ := filepath.Glob(base + ".*"); len(files) != 2 {
		t.Errorf("profiles are %q", files)
	}
	if err := p.Stop(); err != nil {
		t.Error(err)
	}
}

func TestAnotherProcessIsNotTakenForTheContestant(t *testing.T) {
	if _, err := Start(t.Context(), "/bin/pwd"); err == nil {
		t.Fatal("pwd was taken for a contestant")
	}
	p, err := Start(t.Context(), buildBare(t))
	if err != nil {
		t.Fatal(err)
	}
	defer p.Stop()
	p.Token = "another"
	if err := p.checkCard(t.Context()); err == nil || !strings.Contains(err.Error(), "not of the process that was started") {
		t.Errorf("error is %v", err)
	}
}
