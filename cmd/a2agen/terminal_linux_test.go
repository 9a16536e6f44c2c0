package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/a2agen/a2agen/internal/test/talktest"
)

// pseudoTerminal opens a terminal: what a person sees and types, and the side of the program.
func pseudoTerminal(t *testing.T) (person, program *os.File) {
	t.Helper()
	person, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { person.Close() })
	control := func(request uintptr, arg *uint32) {
		if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, person.Fd(), request, uintptr(unsafe.Pointer(arg))); errno != 0 {
			t.Fatal(errno)
		}
	}
	var locked, number uint32
	control(syscall.TIOCSPTLCK, &locked)
	control(syscall.TIOCGPTN, &number)
	program, err = os.OpenFile("/dev/pts/"+strconv.Itoa(int(number)), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { program.Close() })
	return person, program
}

// screen is all that a terminal has shown.
type screen struct {
	mu   sync.Mutex
	text strings.Builder
}

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

// waitFor waits until the terminal has shown a text.
func (s *screen) waitFor(t *testing.T, text string) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		s.mu.Lock()
		shown := s.text.String()
		s.mu.Unlock()
		if strings.Contains(shown, text) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("the terminal shows %q, not %q", shown, text)
		}
	}
}

// TestACallOnATerminal: progress, a question, a prompt, an answer, in one process at a real terminal.
func TestACallOnATerminal(t *testing.T) {
	url, stop, err := talktest.Agent()
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	for text, talk := range map[string][]string{
		"hello": {"looking\r\n", "you said hello\r\n"},
		"ask":   {"? For which day?\r\n> ", "Friday\n", "for Friday\r\n"},
	} {
		t.Run(text, func(t *testing.T) { onTerminal(t, talk, "call", url, text, "--skill", "chat") })
	}
}

// TestMCPOnATerminal says what the command is for, and ends with its input.
func TestMCPOnATerminal(t *testing.T) {
	url, stop, err := talktest.Agent()
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	talk := []string{"this command is for an MCP host", "with 2 tools\r\n", endOfInput}
	onTerminal(t, talk, "mcp", url, "--allow-private-network")
}

// endOfInput is what a person types to end the input.
const endOfInput = "\x04"

// onTerminal runs the tool at a terminal. What ends with a line feed alone, or with the input, is typed; the rest is waited for.
func onTerminal(t *testing.T, talk []string, args ...string) {
	t.Helper()
	person, program := pseudoTerminal(t)
	var seen screen
	go func() {
		b := make([]byte, 4096)
		for {
			n, err := person.Read(b)
			_, _ = seen.Write(b[:n])
			if err != nil {
				return
			}
		}
	}()
	cmd := exec.Command(filepath.Join(storyTool(t), "a2agen"), args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = program, program, program
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for _, words := range talk {
		if words != endOfInput && (!strings.HasSuffix(words, "\n") || strings.HasSuffix(words, "\r\n")) {
			seen.waitFor(t, words)
			continue
		}
		if _, err := person.WriteString(words); err != nil {
			t.Fatal(err)
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}
