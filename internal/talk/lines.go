package talk

import (
	"bufio"
	"context"
	"io"
)

// lines reads what a person types, line by line.
type lines struct{ in *bufio.Reader }

func newLines(in io.Reader) *lines { return &lines{bufio.NewReader(in)} }

// next returns the next line. It reports false at the end of the input, and when the context ends first.
func (l *lines) next(ctx context.Context) (string, bool) {
	type read struct {
		line string
		err  error
	}
	got := make(chan read, 1)
	go func() {
		line, err := l.in.ReadString('\n')
		got <- read{line, err}
	}()
	select {
	case r := <-got:
		return r.line, r.err == nil || r.line != ""
	case <-ctx.Done(): // the read goes on until the process ends
		return "", false
	}
}
