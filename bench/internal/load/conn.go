// Package load is the load generator: it speaks HTTP/1.1 over its own connections, so that it costs little beside the
// server it measures, checks every answer, and counts in how many writes a stream came.
package load

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"strconv"
	"time"
)

// patience is how long any single answer or event may take.
const patience = 30 * time.Second

// conn is one keep-alive connection.
type conn struct {
	net.Conn
	r    *bufio.Reader
	body []byte
}

// dialHTTP opens a connection, in clear text or over TLS.
func dialHTTP(addr string, secured *tls.Config) (line, error) {
	c, err := net.DialTimeout("tcp", addr, patience)
	if err != nil {
		return nil, err
	}
	if secured != nil {
		secured = secured.Clone()
		secured.ServerName, _, _ = net.SplitHostPort(addr)
		c = tls.Client(c, secured)
	}
	return &conn{Conn: c, r: bufio.NewReaderSize(c, 32<<10)}, nil
}

// send writes a request and reads the head of the answer. It returns the length of the answer's body, or -1 if the
// body comes in chunks.
func (c *conn) send(request []byte) (length int, err error) {
	if err := c.SetDeadline(time.Now().Add(patience)); err != nil {
		return 0, err
	}
	if _, err := c.Write(request); err != nil {
		return 0, fmt.Errorf("writing request: %w", err)
	}
	line, err := c.line()
	if err != nil {
		return 0, fmt.Errorf("reading status: %w", err)
	}
	if !bytes.HasPrefix(line, []byte("HTTP/1.1 200 ")) {
		return 0, fmt.Errorf("the answer is %q", line)
	}
	length = -2
	for {
		line, err := c.line()
		if err != nil {
			return 0, fmt.Errorf("reading header: %w", err)
		}
		if len(line) == 0 {
			break
		}
		if length, err = bodyLength(line, length); err != nil {
			return 0, err
		}
	}
	if length == -2 {
		return 0, fmt.Errorf("the answer has neither a length nor chunks")
	}
	return length, nil
}

// bodyLength reads one header line and returns the body's length if the line tells, else the one known so far.
func bodyLength(line []byte, known int) (int, error) {
	name, value, _ := bytes.Cut(line, []byte(": "))
	switch {
	case bytes.EqualFold(name, []byte("Content-Length")):
		return strconv.Atoi(string(value))
	case bytes.EqualFold(name, []byte("Transfer-Encoding")):
		return -1, nil
	case bytes.EqualFold(name, []byte("Connection")) && bytes.EqualFold(value, []byte("close")):
		return 0, fmt.Errorf("the server closes the connection")
	}
	return known, nil
}

// line reads one line without its end. It is valid until the next read.
func (c *conn) line() ([]byte, error) {
	line, err := c.r.ReadSlice('\n')
	if err != nil {
		return nil, err
	}
	return bytes.TrimRight(line, "\r\n"), nil
}

// call implements line.
func (c *conn) call(r *request) ([]byte, error) {
	length, err := c.send(r.raw)
	if err != nil {
		return nil, err
	}
	c.body = c.body[:0]
	if length < 0 {
		chunks := &chunkReader{c: c}
		buf := bytes.NewBuffer(c.body)
		_, err := buf.ReadFrom(chunks)
		c.body = buf.Bytes()
		return c.body, err
	}
	if cap(c.body) < length {
		c.body = make([]byte, length)
	}
	c.body = c.body[:length]
	_, err = io.ReadFull(c.r, c.body)
	return c.body, err
}

// stream implements line. Writes are HTTP chunks: net/http makes one of every flush, and of every 2 KB that are not
// flushed.
func (c *conn) stream(r *request, each func(data []byte) error) (writes int, err error) {
	length, err := c.send(r.raw)
	if err != nil {
		return 0, err
	}
	if length >= 0 {
		body := make([]byte, length)
		_, err := io.ReadFull(c.r, body)
		return 0, fmt.Errorf("a stream was asked for, this came: %.200s (%w)", body, err)
	}
	chunks := &chunkReader{c: c}
	lines := bufio.NewReaderSize(chunks, 32<<10)
	for {
		line, err := lines.ReadSlice('\n')
		if err == io.EOF {
			return chunks.n, nil
		}
		if err != nil {
			return chunks.n, fmt.Errorf("reading stream: %w", err)
		}
		data, ok := bytes.CutPrefix(line, []byte("data:"))
		if !ok {
			continue
		}
		if err := each(bytes.TrimSpace(data)); err != nil {
			return chunks.n, err
		}
	}
}

// chunkReader reads a chunked body and counts the chunks.
type chunkReader struct {
	c    *conn
	left int // bytes left in the current chunk
	n    int
	done bool
}

// Read implements io.Reader.
func (r *chunkReader) Read(p []byte) (int, error) {
	if r.done {
		return 0, io.EOF
	}
	if r.left == 0 {
		if err := r.next(); err != nil {
			return 0, err
		}
	}
	n, err := r.c.r.Read(p[:min(len(p), r.left)])
	r.left -= n
	if r.left == 0 && err == nil {
		err = r.end()
	}
	return n, err
}

// next reads the head of the next chunk; io.EOF says that it was the last.
func (r *chunkReader) next() error {
	if err := r.c.SetDeadline(time.Now().Add(patience)); err != nil {
		return err
	}
	line, err := r.c.line()
	if err != nil {
		return fmt.Errorf("reading chunk: %w", err)
	}
	size, err := strconv.ParseUint(string(line), 16, 31)
	if err != nil {
		return fmt.Errorf("reading chunk: %w", err)
	}
	if size == 0 {
		r.done = true
		if err := r.end(); err != nil {
			return err
		}
		return io.EOF
	}
	r.left = int(size)
	r.n++
	return nil
}

func (r *chunkReader) end() error {
	line, err := r.c.line()
	if err == nil && len(line) > 0 {
		err = fmt.Errorf("a chunk ends with %q", line)
	}
	return err
}
