package record

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/a2agen/a2agen/internal/sse"
)

// requestHeaders and responseHeaders are the headers that are written down. No other is, so that no secret is.
var (
	requestHeaders  = []string{"A2A-Version", "Last-Event-ID"}
	responseHeaders = []string{"Content-Type", "Retry-After", "WWW-Authenticate", "ETag", "Location", "A2A-Extensions"}
)

// timed is a frame with its time on the recorder's clock.
type timed struct {
	frame
	at   int
	card bool // it has a card, of which only secrets are changed
}

// Save writes the recording to a file, whole or not at all, for everybody to read: it has no secrets. The file's
// folder is made if it is not there.
func (r *Recorder) Save(file string) error {
	text, err := r.Lines()
	if err != nil {
		return fmt.Errorf("record %s: %w", file, err)
	}
	folder := filepath.Dir(file)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return fmt.Errorf("record %s: %w", file, err)
	}
	f, err := os.CreateTemp(folder, ".recording-*")
	if err != nil {
		return fmt.Errorf("record %s: %w", file, err)
	}
	defer os.Remove(f.Name()) // nothing is there after the rename
	_, err = f.Write(text)
	if err = cmp.Or(err, f.Chmod(0o644), f.Close()); err == nil {
		err = os.Rename(f.Name(), file)
	}
	if err != nil {
		return fmt.Errorf("record %s: %w", file, err)
	}
	return nil
}

var errNothing = errors.New("nothing was recorded: no request was made with the recorder " +
	`(gRPC cannot be recorded: rpc.Prefer("JSONRPC", "HTTP+JSON"))`)

// Lines returns the recording so far. It is an error if there is no exchange, or more than [MaxBytes].
func (r *Recorder) Lines() ([]byte, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.fault != nil:
		return nil, r.fault
	case len(r.exchanges) == 0:
		return nil, errNothing
	}
	m := newMasker(r.config)
	m.origin = r.exchanges[0].request.URL.Scheme + "://" + r.exchanges[0].request.URL.Host
	var frames []*timed
	for i, x := range r.exchanges {
		frames = append(frames, x.frames(i+1)...)
	}
	order(frames)
	for _, f := range frames {
		if !f.card {
			continue
		}
		for _, s := range object(object(f.Body)["securitySchemes"]) {
			for _, s := range []map[string]any{object(s), object(object(s)["apiKeySecurityScheme"])} {
				if name, ok := s["name"].(string); ok && name != "" {
					m.keyNames[plainName(name)] = true
				}
			}
		}
	}
	for _, x := range r.exchanges {
		m.findIn(x.request.URL, x.request.Header)
		if x.head != nil {
			for _, v := range x.head.Header.Values("Set-Cookie") {
				m.findHeader("Set-Cookie", v)
			}
		}
	}
	for _, f := range frames {
		if !f.card {
			walk(f.Body, place{}, m.findText)
		}
	}
	m.ready()
	for _, f := range frames {
		m.clean(&f.frame, f.card)
	}
	rename(frames)
	head := frame{Type: typeRecording, Format: Format, Tool: "a2agen"}
	for _, f := range frames {
		if f.Type == typeRequest && !isCard(f.Method, f.Path) {
			head.Protocol, head.Binding = f.Header["A2A-Version"], bindingOf(f.Body)
			break
		}
	}
	var b bytes.Buffer
	for _, f := range append([]*timed{{frame: head}}, frames...) {
		b.Write(encode(f.frame))
		b.WriteByte('\n')
	}
	return b.Bytes(), nil
}

// order puts frames in the order of time. What came between two requests is ordered by exchange: its time is chance,
// and differs in each recording.
func order(frames []*timed) {
	slices.SortStableFunc(frames, func(a, b *timed) int { return cmp.Compare(a.at, b.at) })
	for from := 0; from < len(frames); {
		to := from + 1
		for to < len(frames) && frames[to].Type != typeRequest {
			to++
		}
		slices.SortStableFunc(frames[from+1:to], func(a, b *timed) int { return cmp.Compare(a.N, b.N) })
		from = to
	}
}

// frames are those of the n-th exchange.
func (x *exchange) frames(n int) []*timed {
	u := x.request.URL
	card := isCard(x.request.Method, u.Path)
	request := requestFrame(x.request, x.sent)
	request.N = n
	id := ""
	if isRPC(request.Body) {
		envelope := object(request.Body)
		if sent, ok := envelope["id"]; ok {
			id = string(encode(sent))
			delete(envelope, "id")
		}
		request.Operation, _ = envelope["method"].(string)
	}
	frames := []*timed{{frame: request, at: x.begun}}
	if x.head != nil {
		head := frame{Type: typeResponse, N: n, Status: x.head.StatusCode, Header: pick(x.head.Header, responseHeaders)}
		if head.Header["ETag"] != "" {
			head.Header["ETag"] = `"recorded"` // what answers If-None-Match is recorded, too
		}
		stream := sse.IsContentType(x.head.Header.Get("Content-Type"))
		if !stream {
			head.content = contentOf(x.body)
			dropID(head.Body, id)
		}
		at := x.answered
		if n := len(x.chunks); n > 0 && !stream {
			at = x.chunks[n-1].at
		}
		frames = append(frames, &timed{frame: head, at: at, card: card})
		if stream {
			frames = append(frames, x.events(n, id)...)
		}
		if !stream && x.ended > 0 && x.how == "" {
			return frames
		}
	}
	end := frame{Type: typeEnd, N: n, How: x.how}
	at := x.ended
	if at == 0 {
		end.How, at = endLeft, math.MaxInt
	}
	if last := frames[len(frames)-1]; end.How == endLeft && last.Type == typeEvent && settles(last.Body) {
		end.How = "" // whether the client saw the end that the agent makes then is chance
	}
	return append(frames, &timed{frame: end, at: at})
}

// settles reports whether an event is one after which a stream ends: a message, or a task that ended or waits for its
// client, in any version.
func settles(body any) bool {
	item := object(body)
	if isRPC(body) {
		item = object(item["result"])
	}
	for _, wrapper := range []string{"task", "statusUpdate"} {
		if inner := object(item[wrapper]); inner != nil {
			item = inner
		}
	}
	state, _ := object(item["status"])["state"].(string)
	switch strings.ReplaceAll(strings.ToLower(strings.TrimPrefix(state, "TASK_STATE_")), "_", "-") {
	case "completed", "failed", "canceled", "rejected", "input-required", "auth-required":
		return true
	}
	return item["kind"] == "message" || object(item["message"]) != nil
}

// requestFrame is the frame of a request.
func requestFrame(r *http.Request, sent []byte) frame {
	return frame{
		Type: typeRequest, Method: r.Method, Path: cmp.Or(r.URL.EscapedPath(), "/"), Query: r.URL.Query().Encode(),
		Header: pick(r.Header, requestHeaders), content: contentOf(sent),
	}
}

// events are the frames of the events of a stream. id is that of the JSON-RPC request.
func (x *exchange) events(n int, id string) (frames []*timed) {
	r := sse.NewReader(bytes.NewReader(x.body), len(x.body)+1)
	at, read := 0, 0
	lastID, retry := "", int64(0)
	for {
		e, err := r.Next()
		if err == io.EOF || err != nil {
			return frames
		}
		for read += e.Size; x.chunks[at].end < read && at < len(x.chunks)-1; {
			at++
		}
		if e.Unfinished && x.how != "" {
			return frames // the client has not seen it
		}
		f := frame{Type: typeEvent, N: n, Name: string(e.Name), Unfinished: e.Unfinished, content: contentOf(e.Data)}
		if string(e.ID) != lastID {
			f.ID = string(e.ID)
			lastID = f.ID
		}
		if ms := r.Retry().Milliseconds(); ms != retry {
			f.Retry, retry = ms, ms
		}
		dropID(f.Body, id)
		frames = append(frames, &timed{frame: f, at: x.chunks[at].at})
	}
}

// pick returns those of the headers that are named.
func pick(h http.Header, names []string) map[string]string {
	picked := map[string]string{}
	for _, name := range names {
		if v := strings.Join(h.Values(name), ", "); v != "" {
			picked[name] = v
		}
	}
	return picked
}

// dropID takes the id out of a JSON-RPC response, if it is that of its request. The player puts in that of the
// request it answers.
func dropID(body any, id string) {
	if got, ok := object(body)["id"]; ok && id != "" && isRPC(body) && string(encode(got)) == id {
		delete(object(body), "id")
	}
}

// clean masks the secrets of a frame. Of a card only known secrets are masked, and what is secret in its URLs.
func (m *masker) clean(f *frame, card bool) {
	if f.Type == typeRequest {
		f.Path, f.Query = m.text.Replace(f.Path), m.query(parseQuery(f.Query)).Encode()
	}
	for name, v := range f.Header {
		f.Header[name] = m.plain(v)
	}
	f.ID, f.Name, f.Text = m.plain(f.ID), m.plain(f.Name), m.plain(f.Text)
	if m.text.Replace(string(f.Bytes)) != string(f.Bytes) {
		f.Bytes = []byte(m.text.Replace(string(f.Bytes)))
	}
	f.Body = m.keys(walk(f.Body, place{}, func(at place, s string) string {
		if s != "" && !card && m.secretMember(at) {
			return masked
		}
		return m.plain(s)
	}))
}

// rename gives names to the ids of a recording, when all are known, and its own time to the times.
func rename(frames []*timed) {
	n := &names{of: map[string]string{}, taken: map[string]bool{}}
	frames = slices.DeleteFunc(slices.Clone(frames), func(f *timed) bool { return f.card })
	for _, f := range frames {
		if f.ID != "" {
			n.see(kindEvent, f.ID)
		}
		f.each(n.seeText)
	}
	last, pairs := map[string]int{}, []string(nil)
	for _, id := range n.order {
		kind, name := n.of[id], ""
		for name == "" || n.taken[name] {
			last[kind]++
			name = kind + "-" + strconv.Itoa(last[kind])
		}
		n.of[id] = name
		if len(id) >= 16 && len(id) <= longestID {
			pairs = append(pairs, id, name)
		}
	}
	n.long = strings.NewReplacer(pairs...)
	for _, f := range frames {
		f.each(n.rewrite)
		f.Path = n.long.Replace(f.Path)
		for name, v := range f.Header {
			f.Header[name] = n.text(v)
		}
		f.ID, f.Text = n.text(f.ID), n.text(f.Text)
	}
}

// bindingOf is the binding of a call.
func bindingOf(body any) string {
	if isRPC(body) {
		return "JSONRPC"
	}
	return "HTTP+JSON"
}

// parseQuery reads what can be read of a query.
func parseQuery(query string) url.Values {
	q, _ := url.ParseQuery(query)
	return q
}
