package talk

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/a2agen/a2agen/internal/test/talktest"
	"github.com/a2agen/a2agen/runtime"
	rpc "github.com/a2agen/a2agen/runtime/client"
	"github.com/a2agen/a2agen/runtime/wire"
)

func agent(t *testing.T) string {
	t.Helper()
	url, stop, err := talktest.Agent()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	return url
}

// person is somebody at a terminal, who types lines.
func person(url, text, typed string) (o Options, out, screen *bytes.Buffer) {
	out, screen = &bytes.Buffer{}, &bytes.Buffer{}
	return Options{
		Target: url, Text: text, Skill: "chat", In: strings.NewReader(typed), Out: out, Err: screen, Asks: true, Screen: true, Live: true, Again: "again",
	}, out, screen
}

// TestAPersonAnswersQuestions: the question, a prompt, the answer in the same task, until it ends.
func TestAPersonAnswersQuestions(t *testing.T) {
	url := agent(t)
	for _, version := range append(Versions(), "") {
		for _, oneGo := range []bool{false, true} {
			o, out, screen := person(url, "ask", "Friday\n")
			o.Protocol, o.OneGo = version, oneGo
			if err := Run(t.Context(), o); err != nil {
				t.Errorf("%q: %v", version, err)
			}
			if out.String() != "for Friday\n" || screen.String() != "? For which day?\n> " {
				t.Errorf("%q: %q, %q", version, out, screen)
			}
		}
	}
}

func TestAQuestionThatIsLeftOpenSaysHowToGoOn(t *testing.T) {
	url := agent(t)
	for name, typed := range map[string]string{"an empty line": "\n", "the end of the input": ""} {
		o, _, _ := person(url, "ask", typed)
		var e *Error
		if err := Run(t.Context(), o); !errors.As(err, &e) || e.Code != ExitAsks || !strings.Contains(e.Error(), "answer with:  again --task ") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestAQuestionShowsItsChoicesAndItsSchema, to a person before the prompt, and in a pipe with the command that answers.
func TestAQuestionShowsItsChoicesAndItsSchema(t *testing.T) {
	ask := &rpc.InputRequiredError{TaskID: "t1", Prompt: "Which?", Data: wire.Value(`{"choices":["a\u001b"]}`), Schema: wire.Value(`{"type":"object"}`)}
	const shown = "\n{\n  \"choices\": [\n    \"a\\u001b\"\n  ]\n}\nthe answer is data of this schema: {\"type\":\"object\"}"
	var screen bytes.Buffer
	person := &talk{Options: Options{Err: &screen, Asks: true, Again: "again"}, lines: newLines(strings.NewReader("\n"))}
	person.print = &printer{Options: &person.Options}
	person.ask(t.Context(), ask)
	if want := "? Which?" + shown + "\n> \n"; screen.String() != want {
		t.Errorf("a person sees %q, want %q", &screen, want)
	}
	pipe := &talk{Options: Options{Again: "again"}}
	if got, want := pipe.asked(ask), "task t1 needs input: Which?"+shown+"\nanswer with:  again --task t1 --data '{…}'"; got != want {
		t.Errorf("a pipe gets %q, want %q", got, want)
	}
}

func TestAPersonSeesProgressAndText(t *testing.T) {
	url := agent(t)
	for text, want := range map[string]struct{ out, screen string }{
		"hello":  {"you said hello\n", "looking\n"},
		"stream": {"one two three\n", ""},
		"reply":  {"at once\n", ""},
		"escape": {"[2Jred\n", ""}, // without what clears the screen
		"file":   {"see the file\n", "file ../../map.txt (text/plain, 6 bytes): --save DIR saves it\n"},
	} {
		o, out, screen := person(url, text, "")
		if err := Run(t.Context(), o); err != nil {
			t.Errorf("%s: %v", text, err)
		}
		if out.String() != want.out || screen.String() != want.screen {
			t.Errorf("%s: %q, %q", text, out, screen)
		}
	}
}

func TestAPersonWaitsForAnAuthorization(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	o, _, screen := person(agent(t), "auth", "")
	o.Err = &trigger{screen, "log in", cancel}
	var e *Error
	if err := Run(ctx, o); !errors.As(err, &e) || e.Code != ExitInterrupted || !strings.Contains(e.Error(), "--cancel") {
		t.Errorf("got %v", err)
	}
}

// trigger calls do when words are written.
type trigger struct {
	io.Writer
	words string
	do    func()
}

func (w *trigger) Write(p []byte) (int, error) {
	if strings.Contains(string(p), w.words) {
		w.do()
	}
	return w.Writer.Write(p)
}

func TestFilesStayInTheirFolder(t *testing.T) {
	for given, want := range map[string]string{
		"map.txt": "map.txt", "../../etc/passwd": "passwd", `C:\x\y.txt`: "y.txt", "": "file", "..": "file", ".bashrc": "bashrc", "-rf": "rf", "a b\x1b[2J\n.txt": "a_b[2J.txt",
		"/": "file", "a:b": "a_b", "dots...": "dots", strings.Repeat("x", 300) + ".txt": strings.Repeat("x", 96) + ".txt",
	} {
		if got := fileName(given); got != want {
			t.Errorf("%q becomes %q, want %q", given, got, want)
		}
	}
	dir := filepath.Join(t.TempDir(), "out")
	for _, want := range []string{"a.txt", "a-2.txt", "a-3.txt"} {
		path, err := save(dir, "../a.txt", []byte("x"))
		if err != nil || path != filepath.Join(dir, want) {
			t.Errorf("%s, %v, want %s", path, err, want)
		}
	}
}

func TestWhereAnAgentOfThisMachineRuns(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, projectFile), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ public, addr, port, want string }{
		{"", "", "", "http://127.0.0.1:8080"},
		{"", "", "9000", "http://127.0.0.1:9000"},
		{"", "127.0.0.1:7", "9000", "http://127.0.0.1:7"},
		{"", ":7", "", "http://127.0.0.1:7"},
		{"", "0.0.0.0:7", "", "http://127.0.0.1:7"},
		{"", "[::1]:7", "", "http://[::1]:7"},
		{"https://weather.example", ":7", "9000", "https://weather.example"},
	} {
		t.Setenv("A2A_PUBLIC_URL", tt.public)
		t.Setenv("A2A_ADDR", tt.addr)
		t.Setenv("PORT", tt.port)
		if got, err := Address(dir); err != nil || got != tt.want {
			t.Errorf("%+v: %s, %v", tt, got, err)
		}
	}
}

// TestALostCallIsNoRefusal: whatever the last attempt was answered, it says what is known of the task and how to wait for it.
func TestALostCallIsNoRefusal(t *testing.T) {
	denied := runtime.ErrUnauthenticated.AsReceived()
	for want, err := range map[string]error{
		"wait for the task with: again --task t1":              &rpc.LostCallError{MessageID: "m1", TaskID: "t1", Err: denied},
		"it is not known what became of message m1":            &rpc.LostCallError{MessageID: "m1", Err: denied},
		"the stream of task t1 broke: nothing arrived for too": &rpc.LostCallError{Err: &rpc.StreamError{TaskID: "t1", Err: rpc.ErrIdle}},
	} {
		var e *Error
		got := (&talk{Options: Options{Again: "again"}}).failed(t.Context(), err)
		if !errors.As(got, &e) || e.Code != ExitUnreached || !strings.Contains(got.Error(), want) || strings.Contains(got.Error(), "refused") {
			t.Errorf("got %v, want %s", got, want)
		}
	}
}
