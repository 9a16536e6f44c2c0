package record_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/a2agen/a2agen/internal/test/growth"
	"github.com/a2agen/a2agen/testkit/record"
)

const (
	headLine     = `{"type":"recording","format":1,"protocol":"1.0","binding":"JSONRPC","tool":"a2agen"}` + "\n"
	requestLine  = `{"type":"request","n":1,"method":"POST","path":"/"}` + "\n"
	responseLine = `{"type":"response","n":1,"status":200,"body":{}}` + "\n"
	streamLine   = `{"type":"response","n":1,"status":200,"header":{"Content-Type":"text/event-stream"}}` + "\n"
	eventLine    = `{"type":"event","n":1,"body":{}}` + "\n"
	endLine      = `{"type":"end","n":1}` + "\n"
)

// write writes a recording by hand.
func write(t testing.TB, lines string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "r.jsonl")
	if err := os.WriteFile(file, []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestAFileThatCannotBePlayedIsSaidToBeOne, with the line that is wrong.
func TestAFileThatCannotBePlayedIsSaidToBeOne(t *testing.T) {
	good := headLine + requestLine + responseLine
	for _, tt := range []struct{ name, lines, want string }{
		{"an empty file", "", ": it is empty"},
		{"a file of something else", `{"name":"weather"}` + "\n", `:1: it is no recording: the first line is not {"type":"recording",…}`},
		{"no JSON", "hello\n", ":1: no line of a recording: invalid character 'h' looking for beginning of value"},
		{"a merge that was not finished", headLine + "<<<<<<< HEAD\n", ":2: no line of a recording: invalid character '<' looking for beginning of value"},
		{"a cut line", headLine + requestLine[:20], ":2: no line of a recording: unexpected EOF"},
		{"a later format", strings.Replace(good, `"format":1`, `"format":2`, 1), ":1: the recording has format 2, and this version of a2agen plays format 1: record again"},
		{"no header", requestLine + responseLine, `:1: it is no recording: the first line is not {"type":"recording",…}`},
		{"two headers", headLine + headLine, ":2: a second header"},
		{"two values in a line", headLine + `{"type":"end","n":1} {}` + "\n", ":2: no line of a recording: there is more behind the value"},
		{"an unknown member", headLine + `{"type":"request","n":1,"verb":"GET"}`, `:2: no line of a recording: unknown field "verb"`},
		{"an unknown type", headLine + requestLine + `{"type":"answer","n":1}`, `:3: a frame of the unknown type "answer"`},
		{"a request out of order", headLine + strings.Replace(requestLine, `"n":1`, `"n":2`, 1), ":2: request 2 where 1 comes"},
		{"a path that is none", headLine + strings.Replace(requestLine, `"/"`, `"x"`, 1), `:2: the path "x", which does not begin with a slash`},
		{"an answer of nothing", headLine + responseLine, ":2: a frame of request 1, which is not there"},
		{"two answers", good + responseLine, ":4: request 1 has ended before"},
		{"two heads", headLine + requestLine + streamLine + streamLine, ":4: request 1 has an answer already"},
		{"an event of no stream", headLine + requestLine + eventLine, ":3: an event of request 1, whose answer is no stream"},
		{"an event behind the end", headLine + requestLine + streamLine + endLine + eventLine, ":5: request 1 has ended before"},
		{"no status", headLine + requestLine + `{"type":"response","n":1}`, ":3: the status 0"},
		{"an unknown end", headLine + requestLine + `{"type":"end","n":1,"how":"well"}`, `:3: the end "well"`},
		{"an end without an answer", headLine + requestLine + endLine, `:3: the end ""`},
		{"a file that was cut", headLine + requestLine + streamLine + eventLine, ":2: request 1 has no end: the file was cut"},
	} {
		file := write(t, tt.lines)
		_, err := record.Open(file)
		var wrong *record.FormatError
		if !errors.As(err, &wrong) || err.Error() != file+tt.want {
			t.Errorf("%s: got %v, want %s", tt.name, err, tt.want)
		}
	}
	if _, err := record.Open(write(t, strings.ReplaceAll(good, "\n", "\r\n\r\n"))); err != nil {
		t.Errorf("other line ends, and empty lines: %v", err)
	}
}

// TestAHugeRecordingIsNeitherReadNorWritten.
func TestAHugeRecordingIsNeitherReadNorWritten(t *testing.T) {
	file := write(t, headLine+requestLine+responseLine)
	if _, err := record.Open(file, record.MaxBytes(100)); err == nil || err.Error() != file+": it has more than 100 bytes: allow more by record.MaxBytes" {
		t.Error(err)
	}
	endless := roundTrip(func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: 200, Body: io.NopCloser(io.LimitReader(zeros{}, 1<<20))}, nil
	})
	r := record.NewRecorder(record.Over(endless), record.MaxBytes(1000))
	if got, err := post(t, r, "/", "{}"); len(got) != 1<<20 || err != nil {
		t.Errorf("the client gets %d bytes, %v", len(got), err)
	}
	if err := r.Save(t.TempDir() + "/r"); err == nil || !strings.HasSuffix(err.Error(), "the recording is larger than 1000 bytes: record less, or allow more by record.MaxBytes") {
		t.Error(err)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

// TestARecordingIsWrittenWholeOrNotAtAll: the file that was there stays until the new one is complete.
func TestARecordingIsWrittenWholeOrNotAtAll(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "a", "b")
	r := record.NewRecorder(record.Over(echo()))
	file := filepath.Join(folder, "r.jsonl")
	if err := r.Save(file); err == nil || !strings.Contains(err.Error(), "nothing was recorded: no request was made with the recorder (gRPC cannot be recorded") {
		t.Error(err)
	}
	_, _ = post(t, r, "/", "{}")
	if err := r.Save(file); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o644 {
		t.Error(info, err)
	}
	if err := os.Chmod(folder, 0o500); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(folder, 0o700) // so that it can be removed
	before := text(t, file)
	_, _ = post(t, r, "/", "{}")
	if err := r.Save(file); err == nil && os.Getuid() != 0 {
		t.Error("written into a folder that cannot be written to")
	} else if err != nil && text(t, file) != before {
		t.Error("the file was changed")
	}
	if entries, err := os.ReadDir(folder); err != nil || len(entries) != 1 {
		t.Error(entries, err)
	}
}

// TestACompressedAnswerIsNotRecorded: its secrets could not be seen.
func TestACompressedAnswerIsNotRecorded(t *testing.T) {
	r := record.NewRecorder(record.Over(handler(func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Content-Encoding", "br") })))
	_, _ = post(t, r, "/", "{}")
	if _, err := r.Lines(); err == nil || !strings.Contains(err.Error(), "compresses its answers (br)") {
		t.Error(err)
	}
}

// conversation is a recording of n streamed calls, of as many events each as there are calls, or one.
func conversation(n, events int) string {
	var b strings.Builder
	b.WriteString(headLine)
	for i := 1; i <= n; i++ {
		fmt.Fprintf(&b, `{"type":"request","n":%d,"method":"POST","path":"/","operation":"SendStreamingMessage","body":{"jsonrpc":"2.0","method":"SendStreamingMessage","params":{"message":{"messageId":"message-%d"}}}}`+"\n", i, i)
		fmt.Fprintf(&b, `{"type":"response","n":%d,"status":200,"header":{"Content-Type":"text/event-stream"}}`+"\n", i)
		for range events {
			fmt.Fprintf(&b, `{"type":"event","n":%d,"body":{"jsonrpc":"2.0","result":{"task":{"id":"task-%d"}}}}`+"\n", i, i)
		}
		fmt.Fprintf(&b, `{"type":"end","n":%d}`+"\n", i)
	}
	return b.String()
}

// play makes the n calls of a conversation.
func play(t testing.TB, over http.RoundTripper, n int) {
	for i := range n {
		body := request(i, "SendStreamingMessage", fmt.Sprintf(`{"message":{"messageId":"01ARZ3NDEKTSV4RRFF%08d"}}`, i))
		resp, err := over.RoundTrip(must(http.NewRequest(http.MethodPost, agentURL+"/", strings.NewReader(body))))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, resp.Body); err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
	}
}

// TestRecordingsTakeLinearTime to read, to play and to write: of many calls, and of many events.
func TestRecordingsTakeLinearTime(t *testing.T) {
	for name, size := range map[string]func(n int) (calls, events int){
		"calls": func(n int) (int, int) { return n, 1 }, "events": func(n int) (int, int) { return 1, n },
	} {
		t.Run(name, func(t *testing.T) {
			growth.Linear(t, 100, func(n int) func() {
				calls, events := size(n)
				file := write(t, conversation(calls, events))
				return func() {
					p, err := record.Open(file)
					if err != nil {
						t.Fatal(err)
					}
					r := record.NewRecorder(record.Over(p))
					play(t, r, calls)
					if _, err := r.Lines(); err != nil {
						t.Fatal(err)
					}
				}
			})
		})
	}
}

// FuzzRecording: whatever a file has, reading it ends, and so does playing it; and what is played can be recorded and
// played again.
func FuzzRecording(f *testing.F) {
	for _, s := range []string{
		headLine + requestLine + responseLine, headLine + requestLine + streamLine + eventLine + endLine, conversation(2, 2),
		headLine + requestLine + streamLine + `{"type":"event","n":1,"id":"e","retry":5,"name":"x","text":"a\nb","unfinished":true}` + "\n" + `{"type":"end","n":1,"how":"cut"}`,
		headLine + requestLine + `{"type":"end","n":1,"how":"unreached"}`, headLine + requestLine + `{"type":"response","n":1,"status":404,"bytes":"/w=="}` + "\n" + `{"type":"end","n":1,"how":"left"}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		p, err := record.Open(write(t, string(src)))
		if err != nil {
			if !errors.As(err, new(*record.FormatError)) {
				t.Fatal(err)
			}
			return
		}
		if bytes.Contains(src, []byte(`"left"`)) {
			return // such a stream stays open
		}
		r := record.NewRecorder(record.Over(p))
		for _, body := range []string{"", "{}", request(1, "SendStreamingMessage", `{"message":{"messageId":"`+fresh1+`"}}`)} {
			_, _ = post(t, r, "/", body)
		}
		if err := r.Save(filepath.Join(t.TempDir(), "again")); err != nil {
			t.Fatal(err)
		}
		_ = p.Unused()
	})
}
