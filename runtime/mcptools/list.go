package mcptools

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Listing is what a server says of its tools.
type Listing struct {
	Name  string // of the server, by itself
	Title string
	Tools []json.RawMessage // as the server wrote them, in its order
}

// Limits of a listing.
const (
	maxListing = 16 << 20 // bytes of all that the server says meanwhile
	maxPages   = 1000
)

// List asks the server for its tools, over a connection of its own, which it ends. A command ends with it.
func (s *Server) List(ctx context.Context) (Listing, error) {
	tap := &tap{}
	if err := s.lock.take(ctx); err != nil {
		return Listing{}, err
	}
	c, err := s.connect(ctx, tap)
	s.lock.release()
	if err != nil {
		return Listing{}, err
	}
	defer func() {
		c.close()
		<-c.gone
	}()
	list := Listing{}
	if about := c.session.InitializeResult(); about != nil && about.ServerInfo != nil {
		list.Name, list.Title = about.ServerInfo.Name, about.ServerInfo.Title
	}
	params := &sdk.ListToolsParams{}
	for range maxPages {
		page, err := c.session.ListTools(ctx, params)
		if err != nil {
			return list, s.unreachable(c, tap.explain(err))
		}
		if page.NextCursor == "" || page.NextCursor == params.Cursor {
			list.Tools, err = tap.tools()
			return list, err
		}
		params = &sdk.ListToolsParams{Cursor: page.NextCursor}
	}
	return list, fmt.Errorf("the tools of %s have more than %d pages", s.Name, maxPages)
}

// tap keeps what a server says, byte for byte: the library decodes schemas to maps, which have no order.
type tap struct {
	mu     sync.Mutex
	bodies []*bytes.Buffer
	size   int
}

// of returns a reader that the tap sees. A nil tap sees nothing.
func (t *tap) of(r io.Reader) io.Reader {
	if t == nil {
		return r
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	b := &bytes.Buffer{}
	t.bodies = append(t.bodies, b)
	return tapped{r, t, b}
}

type tapped struct {
	io.Reader
	tap  *tap
	body *bytes.Buffer
}

// Read reads, and keeps what it reads.
func (r tapped) Read(b []byte) (int, error) {
	n, err := r.Reader.Read(b)
	r.tap.mu.Lock()
	defer r.tap.mu.Unlock()
	if r.tap.size += n; r.tap.size > maxListing {
		return 0, errListing
	}
	r.body.Write(b[:n])
	return n, err
}

var errListing = errors.New("the listing is larger than the 16 MiB that are read")

// explain is why a listing was cut short.
func (t *tap) explain(err error) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.size > maxListing {
		return errListing
	}
	return err
}

// tools are those of all pages that the server sent.
func (t *tap) tools() (all []json.RawMessage, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, body := range t.bodies {
		for _, message := range messages(body.Bytes()) {
			var answer struct {
				Result *struct {
					Tools []json.RawMessage `json:"tools"`
				} `json:"result"`
			}
			if json.Unmarshal(message, &answer) == nil && answer.Result != nil {
				all = append(all, answer.Result.Tools...)
			}
		}
	}
	return all, nil
}

// messages are those of a body: one in JSON, several on a line each, or the data of server-sent events.
func messages(body []byte) (list [][]byte) {
	if json.Valid(body) {
		return [][]byte{body}
	}
	var data []byte
	for line := range bytes.Lines(append(body, "\n\n"...)) {
		line = bytes.TrimRight(line, "\r\n")
		value, isData := bytes.CutPrefix(line, []byte("data:"))
		switch {
		case isData:
			data = append(append(data, bytes.TrimPrefix(value, []byte(" "))...), '\n')
		case len(line) == 0 && len(data) > 0:
			list, data = append(list, data), nil
		case len(line) > 0 && line[0] == '{':
			list = append(list, line)
		}
	}
	return list
}
