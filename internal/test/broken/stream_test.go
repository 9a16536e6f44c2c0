package broken

import (
	"bufio"
	"encoding/json"
	"io"
	"strings"
	"sync"
)

// changeStream changes the events of a stream as they come.
func (p *proxy) changeStream(x *exchange, from io.ReadCloser, mine bool) io.ReadCloser {
	reader, writer := io.Pipe()
	go func() {
		defer func() { _ = from.Close() }()
		writer.CloseWithError(p.copyEvents(x, from, writer, mine))
	}()
	return &stream{reader, from}
}

// stream closes the agent's stream when its reader has had enough.
type stream struct {
	*io.PipeReader
	from io.Closer
}

func (s *stream) Close() error {
	_ = s.from.Close()
	return s.PipeReader.Close()
}

func (p *proxy) copyEvents(x *exchange, from io.Reader, to io.Writer, mine bool) error {
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, 1<<20)
	var data strings.Builder
	for lines.Scan() {
		line := lines.Text()
		if rest, ok := strings.CutPrefix(line, "data:"); ok {
			data.WriteString(strings.TrimPrefix(rest, " "))
		}
		if line != "" || data.Len() == 0 {
			continue
		}
		doc := p.changeDocument(x, decode([]byte(data.String())), mine)
		data.Reset()
		events := []any{doc}
		if mine && p.row.event != nil {
			events = p.row.event(x, x.seen, doc)
		}
		x.seen++
		for _, e := range events {
			if err := p.writeEvent(to, e, mine); err != nil {
				return err
			}
		}
	}
	return lines.Err()
}

func (p *proxy) writeEvent(to io.Writer, doc any, mine bool) error {
	body, err := json.Marshal(doc)
	if err != nil {
		return err
	}
	event := "data: " + string(body) + "\n\n"
	if mine && p.row.line != nil {
		event = p.row.line(string(body))
	}
	_, err = io.WriteString(to, event)
	return err
}

// memory is what has been seen of tasks, for rows that answer with what was.
type memory struct {
	mu    sync.Mutex
	tasks map[string]map[string]any // the last whole task by id
	seen  map[string]bool
}

// note keeps the task that an answer or an event holds.
func (m *memory) note(result any) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, t := range append(wholeTasks(result), elements(asMap(result)["tasks"])...) {
		if m.tasks == nil {
			m.tasks = map[string]map[string]any{}
		}
		m.tasks[text(t["id"])] = t
	}
}

// task is the last that was seen of a task.
func (m *memory) task(id string) map[string]any {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.tasks[id]
}

// wholeTasks is the task that a result is or holds, if any.
func wholeTasks(result any) []map[string]any {
	doc := asMap(result)
	if t := asMap(doc["task"]); t != nil {
		doc = t
	}
	if doc["id"] != nil && doc["status"] != nil {
		return []map[string]any{doc}
	}
	return nil
}

func asMap(v any) map[string]any { m, _ := v.(map[string]any); return m }

// any is some task that was seen.
func (m *memory) any() any {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, t := range m.tasks {
		return t
	}
	return nil
}

// noteToken keeps a token that a list had; sawToken reports whether one did.
func (m *memory) noteToken(token string) { m.twice("token " + token) }

func (m *memory) sawToken(token string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.seen["token "+token]
}

// twice reports whether a word was there before, and keeps it.
func (m *memory) twice(word string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.seen == nil {
		m.seen = map[string]bool{}
	}
	before := m.seen[word]
	m.seen[word] = true
	return before
}

func jsonText(doc any) string {
	body, _ := json.Marshal(doc)
	return string(body)
}
