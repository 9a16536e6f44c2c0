package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
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

// waitFor reads what a terminal shows until it has shown a text since it was opened. Reading fails where no program has it open any more.
func waitFor(t *testing.T, person *os.File, shown *strings.Builder, text string) {
	t.Helper()
	b := make([]byte, 4096)
	for !strings.Contains(shown.String(), text) {
		n, err := person.Read(b)
		shown.Write(b[:n])
		if err != nil {
			t.Fatalf("the terminal shows %q, not %q: %v", shown, text, err)
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

// TestTheOldSpellingSaysOnATerminalWhatToType, and works.
func TestTheOldSpellingSaysOnATerminalWhatToType(t *testing.T) {
	onTerminal(t, []string{"a2agen: a2agen inspect wires is now: a2agen spec wires\r\n", "A2A 0.3 against 1.0"}, "inspect", "wires", "0.3")
	onTerminal(t, []string{"a2agen: --format is now: --output\r\n", "1.0"}, "spec", "list", "--format", "json")
}

// endOfInput is what a person types to end the input.
const endOfInput = "\x04"

// onTerminal runs the tool at a terminal. What ends with a line feed alone, or with the input, is typed; the rest is waited for.
func onTerminal(t *testing.T, talk []string, args ...string) {
	t.Helper()
	person, program := pseudoTerminal(t)
	cmd := exec.Command(filepath.Join(storyTool(t), "a2agen"), args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = program, program, program
	if err := errors.Join(cmd.Start(), program.Close()); err != nil {
		t.Fatal(err)
	}
	var shown strings.Builder
	for _, words := range talk {
		if words != endOfInput && (!strings.HasSuffix(words, "\n") || strings.HasSuffix(words, "\r\n")) {
			waitFor(t, person, &shown, words)
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
