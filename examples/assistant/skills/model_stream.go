package skills

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
)

const (
	maxLine  = 1 << 20 // bytes of an event
	maxCalls = 32      // of tools, in one reply
)

// chunk is an event of a stream, or the whole reply of an endpoint that does not stream.
type chunk struct {
	Model   string `json:"model"`
	Choices []struct {
		Delta   delta  `json:"delta"`
		Message delta  `json:"message"`
		Finish  string `json:"finish_reason"`
	} `json:"choices"`
	Usage *usage          `json:"usage"`
	Error json.RawMessage `json:"error"`
}

type delta struct {
	Content string     `json:"content"`
	Calls   []wireCall `json:"tool_calls"`
}

// reading is the state of reading a reply.
type reading struct {
	reply
	write    func(string) error
	text     strings.Builder
	finished bool // the model said that it has ended
}

// read reads a reply. One that ends before the model said so is an error: what was passed on is not all.
func (m *Model) read(resp *http.Response, write func(string) error) (reply, error) {
	body := &io.LimitedReader{R: resp.Body, N: m.Bytes}
	r := &reading{write: write, reply: reply{Model: m.Name}}
	err := r.events(body, !strings.HasPrefix(resp.Header.Get("Content-Type"), "application/json"))
	r.Text = r.text.String()
	for i := range r.Calls {
		r.Calls[i].ID = cmp.Or(r.Calls[i].ID, fmt.Sprintf("call_%d", i))
	}
	var passed *passError
	switch {
	case errors.As(err, &passed):
		return r.reply, passed.err
	case body.N <= 0, errors.Is(err, bufio.ErrTooLong):
		return r.reply, &ModelError{
			Remedy: "The model's reply is too long.", Status: http.StatusOK, Err: fmt.Errorf("more than %d bytes", m.Bytes),
		}
	case err != nil:
		return r.reply, &ModelError{Remedy: "The model's reply broke off, or is none. Try again.", Err: err}
	case !r.finished:
		return r.reply, &ModelError{Remedy: "The model's reply broke off. Try again.", Err: io.ErrUnexpectedEOF}
	}
	return r.reply, nil
}

// passError is an error of the function that the text is written with.
type passError struct{ err error }

func (e *passError) Error() string { return e.err.Error() }

// events reads the events of a stream, or the whole reply.
func (r *reading) events(body io.Reader, stream bool) error {
	if !stream {
		whole, err := io.ReadAll(body)
		if err != nil {
			return err
		}
		return r.event(whole)
	}
	lines := bufio.NewScanner(body)
	lines.Buffer(nil, maxLine)
	for lines.Scan() {
		data, ok := bytes.CutPrefix(lines.Bytes(), []byte("data:"))
		if !ok {
			continue // a comment, or the empty line after an event
		}
		data = bytes.TrimSpace(data)
		if string(data) == "[DONE]" {
			r.finished = true
			return nil
		}
		if err := r.event(data); err != nil {
			return err
		}
	}
	return lines.Err()
}

// event adds an event to the reply.
func (r *reading) event(data []byte) error {
	var c chunk
	if err := json.Unmarshal(data, &c); err != nil {
		return fmt.Errorf("an event of the model: %w", err)
	}
	if len(c.Error) > 0 && string(c.Error) != "null" {
		return fmt.Errorf("the endpoint says %.500s", c.Error)
	}
	if c.Model != "" {
		r.Model = c.Model
	}
	if c.Usage != nil {
		r.Usage = *c.Usage
	}
	for _, choice := range c.Choices {
		for _, d := range []delta{choice.Delta, choice.Message} {
			if err := r.add(d); err != nil {
				return err
			}
		}
		if choice.Finish != "" {
			r.finished, r.Cut = true, choice.Finish == "length"
		}
	}
	return nil
}

// add adds a piece of the message: text is passed on, and calls are put together of their pieces.
func (r *reading) add(d delta) error {
	if d.Content != "" {
		r.text.WriteString(d.Content)
		if err := r.write(d.Content); err != nil {
			return &passError{err}
		}
	}
	for i, piece := range d.Calls {
		at := max(piece.Index, i)
		if at < len(r.Calls) && piece.ID != "" && r.Calls[at].ID != "" && piece.ID != r.Calls[at].ID {
			at = len(r.Calls) // of an endpoint that does not number calls
		}
		if at > len(r.Calls) || at >= maxCalls {
			return fmt.Errorf("call %d of a tool, when there are %d", at, len(r.Calls))
		}
		if at == len(r.Calls) {
			r.Calls = append(r.Calls, call{})
		}
		c := &r.Calls[at]
		c.ID, c.Name = cmp.Or(c.ID, piece.ID), cmp.Or(c.Name, piece.Function.Name)
		c.Arguments += piece.Function.Arguments
	}
	return nil
}
