package dev

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/a2agen/a2agen/internal/dev/status"
	"github.com/a2agen/a2agen/internal/dev/traffic"
)

// Console prints what several agents do, whole lines at a time.
type Console struct {
	mu  sync.Mutex
	out io.Writer
	raw bool // the terminal does not return the carriage by itself
}

// write writes whole lines.
func (c *Console) write(lines []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.raw {
		lines = bytes.ReplaceAll(lines, []byte("\n"), []byte("\r\n"))
	}
	_, _ = c.out.Write(lines) // a reader that went away does not end the loop
}

// console prints what one agent does.
type console struct {
	*Console
	name string // before its lines, if there are several agents
	log  func(line string)
	// told takes what an agent says for the page alone, which is not printed; it reports false for any other line.
	told func(line string) bool
}

func (c *console) prefix() string {
	if c.name == "" {
		return ""
	}
	return "[" + c.name + "] "
}

// say prints a text of the loop's own.
func (c *console) say(text string) {
	c.write([]byte(c.prefix() + "a2agen: " + strings.ReplaceAll(text, "\n", "\n  ") + "\n"))
}

// failed prints the problems of a round, and what is of the agent.
func (c *console) failed(s status.Agent) {
	var b strings.Builder
	for _, p := range s.Problems {
		b.WriteString(c.prefix() + traffic.Visible(p.String()) + "\n")
	}
	c.write([]byte(b.String()))
	if s.Phase == status.Stale {
		c.say(fmt.Sprintf("%s failed; the agent of %s still answers", s.Step, s.Since.Format(time.TimeOnly)))
		return
	}
	c.say(fmt.Sprintf("%s failed, and no agent answers yet; save a file to try again", s.Step))
}

// ready prints that the newest agent answers.
func (c *console) ready(s status.Agent, debug bool) {
	text := fmt.Sprintf("%s answers at %s (%.1f s", s.Name, s.URL, float64(s.TookMS)/1000)
	if debug {
		text += fmt.Sprintf("; for a debugger: dlv attach %d", s.Pid)
	}
	for _, n := range s.Notes {
		text += "; " + n
	}
	c.say(text + ")")
}

// output returns a writer for what the agent prints. It is for one process.
func (c *console) output() io.Writer { return &lineWriter{console: c} }

// lineWriter passes on whole lines, so that those of two agents do not mix.
type lineWriter struct {
	*console
	rest []byte
}

// maxLine is how long a line may be before it is broken, in bytes.
const maxLine = 64 << 10

// Write takes everything.
func (w *lineWriter) Write(p []byte) (int, error) {
	w.rest = append(w.rest, p...)
	for {
		i := bytes.IndexByte(w.rest, '\n')
		if i < 0 && len(w.rest) < maxLine {
			return len(p), nil
		}
		if i < 0 {
			i = maxLine - 1
		}
		line := string(w.rest[:i])
		w.rest = w.rest[min(len(w.rest), i+1):]
		if w.told != nil && w.told(line) {
			continue
		}
		w.write([]byte(w.prefix() + traffic.Visible(line) + "\n"))
		w.log(line)
	}
}
