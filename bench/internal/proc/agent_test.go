package proc

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// build compiles a program that is one file.
func build(t *testing.T, src string) string {
	t.Helper()
	dir := t.TempDir()
	bin := filepath.Join(dir, "agent")
	if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte(src), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("go", "build", "-o", bin, filepath.Join(dir, "main.go")).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return bin
}

func TestAnAgentIsFoundByWhatItSays(t *testing.T) {
	p, err := StartAgent(t.Context(), build(t, `package main
import ("fmt"; "os"; "os/signal"; "syscall")
func main() {
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM)
	fmt.Fprintf(os.Stderr, "level=INFO msg=\"agent is listening\" url=http://%s agent=Talk\n", os.Args[2])
	<-stop
	fmt.Fprintln(os.Stderr, "the last word of", os.Getenv("BENCH_TOKEN"))
}`))
	if err != nil {
		t.Fatal(err)
	}
	if p.Addr != "127.0.0.1:0" || p.Obeys() {
		t.Errorf("the agent is at %q, takes commands: %t", p.Addr, p.Obeys())
	}
	if used, err := p.CPU(); err != nil || used <= 0 {
		t.Errorf("CPU time is %v (%v)", used, err)
	}
	if err := p.Stop(); err != nil {
		t.Error(err)
	}
	if want := "the last word of " + p.Token + "\n"; p.Log() != want {
		t.Errorf("the log is %q, want %q", p.Log(), want)
	}
}

func TestAnAgentThatEndsIsNone(t *testing.T) {
	_, err := StartAgent(t.Context(), build(t, `package main
func main() { println("no such card") }`))
	if err == nil || !strings.Contains(err.Error(), "does not say that it listens") || !strings.Contains(err.Error(), "no such card") {
		t.Errorf("error is %v", err)
	}
}
