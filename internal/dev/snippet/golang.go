package snippet

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/format"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/a2agen/a2agen/generator/ir"
	"github.com/a2agen/a2agen/internal/dev/traffic"
)

// Import paths of the runtime.
const (
	rpcPath     = "github.com/a2agen/a2agen/runtime/client"
	runtimePath = "github.com/a2agen/a2agen/runtime"
	kitPath     = "github.com/a2agen/a2agen/testkit/a2atest"
)

// writer writes Go code.
type writer struct {
	*Project
	literals
	body strings.Builder

	id     int64  // of the exchange
	ctx    string // "ctx", "t.Context()"
	fail   string // "return err", "t.Fatal(err)"
	sent   []*said
	skill  *ir.Skill // that is called by its typed method; nil: any message is sent
	method string
	stream bool
	end    told
}

// newWriter reads the messages of a conversation: exchanges of one task, in their order, up to the one that is asked for.
func newWriter(list []traffic.Exchange, p *Project) (*writer, error) {
	if p.Agent == nil {
		return nil, errors.New(`there is no typed client: the agent is not of a project here ("a2agen client URL" makes one of its card)`)
	}
	pkg := path.Base(p.Client)
	w := &writer{Project: p, literals: literals{pkg: pkg, imports: map[string]bool{p.Client: true}}}
	for i := range list {
		s := read(&list[i])
		if s == nil || len(s.parts) == 0 {
			return nil, errors.New("only calls that send a message, and that were kept whole, can be copied as Go")
		}
		w.sent = append(w.sent, s)
	}
	if w.sent[0].task != "" {
		return nil, errors.New("the call that began the task is no longer kept")
	}
	last := &list[len(list)-1]
	w.id, w.end, w.stream = last.ID, result(last), len(list) == 1 && last.Operation == "SendStreamingMessage"
	w.skill = p.skill(w.sent[0].skill)
	if s := w.skill; s != nil && (s.Input != nil && w.sent[0].data() == nil || s.Input == nil && !w.sent[0].isText()) {
		w.skill = nil
	}
	if w.skill != nil {
		w.method = w.skill.Client.Call
	}
	return w, nil
}

// isText reports whether a message is one text.
func (s *said) isText() bool { return len(s.parts) == 1 && s.parts[0].Text != nil }

// Go returns a program that makes the calls of a conversation: exchanges of one task, in their order, up to the one that
// is asked for.
func Go(list []traffic.Exchange, p *Project) (string, error) {
	w, err := newWriter(list, p)
	if err != nil {
		return "", err
	}
	w.ctx, w.fail = "ctx", "return err"
	w.imports["context"], w.imports["fmt"], w.imports["log"] = true, true, true
	w.line("func main() {\nif err := run(context.Background()); err != nil {\nlog.Fatal(err)\n}\n}\n")
	w.line("func run(ctx context.Context) error {")
	w.line("c, err := %s.New(ctx, %s)", w.pkg, strconv.Quote(p.URL))
	w.check()
	w.line("defer c.Close()")
	if w.stream {
		w.streamed()
		return w.source("main", "")
	}
	w.calls("out", func() {
		w.line("var ask *rpc.InputRequiredError\nif !errors.As(err, &ask) {\nreturn fmt.Errorf(\"got %%w, want a question\", err)\n}")
	})
	w.check()
	w.line("fmt.Printf(\"%%+v\\n\", out)\nreturn nil\n}")
	return w.source("main", "")
}

// Test returns a file with a test of the project's handlers, which says the same and expects what the agent said.
func Test(list []traffic.Exchange, p *Project) (string, error) {
	w, err := newWriter(list, p)
	if err != nil {
		return "", err
	}
	w.ctx, w.fail = "t.Context()", "t.Fatal(err)"
	w.imports["testing"] = true
	name := "Agent"
	if w.skill != nil {
		name = w.skill.Go
	}
	w.line("func Test%s_call%d(t *testing.T) {", name, w.id)
	w.serve()
	out := "out"
	if w.end.err != "" || w.end.state != "completed" || !w.expectsOutput() {
		out = "_"
	}
	w.calls(out, func() {
		w.line("var ask *rpc.InputRequiredError\nif !errors.As(err, &ask) {\nt.Fatalf(\"got %%v, want a question\", err)\n}")
	})
	w.expect()
	w.line("}")
	return w.source(path.Base(p.Handlers), fmt.Sprintf("// Call #%d of a2agen dev, as a test.\n", w.id))
}

func (w *writer) line(format string, args ...any) { fmt.Fprintf(&w.body, format+"\n", args...) }

func (w *writer) check() { w.line("if err != nil {\n%s\n}", w.fail) }

// serve gets a client of the agent in the process of the test.
func (w *writer) serve() {
	if w.Helper {
		w.line("c := newClient(t)")
		delete(w.imports, w.Client)
		return
	}
	w.imports[w.Server], w.imports[kitPath] = true, true
	w.line("srv, err := %s.NewServer(New(), a2atest.ServerOptions(t)...)", path.Base(w.Server))
	w.check()
	w.line("a := a2atest.Serve(t, srv)")
	w.line("c, err := %s.New(t.Context(), a.URL(), a.Options()...)", w.pkg)
	w.check()
	w.line("t.Cleanup(c.Close)")
}

// calls writes the calls of a conversation. Each but the last asks something; asked writes what checks that.
func (w *writer) calls(out string, asked func()) {
	input := w.input()
	for i, s := range w.sent {
		to, define := "_", "="
		if i == len(w.sent)-1 {
			to = out
		}
		if i == 0 && (to != "_" || w.Helper && w.ctx != "ctx") || to != "_" {
			define = ":="
		}
		if i == 0 {
			w.line("%s, err %s %s", to, define, w.call("", input))
		} else {
			w.line("%s, err %s %s", to, define, w.call("Answer", "ask, "+w.parts(s.parts)))
		}
		if i < len(w.sent)-1 {
			w.imports["errors"], w.imports[rpcPath] = true, true
			asked()
			asked = func() { w.line("if !errors.As(err, &ask) {\n%s\n}", w.fail) }
		}
	}
}

// input writes the input of the first message, and what must stand before it.
func (w *writer) input() string {
	switch s := w.sent[0]; {
	case w.skill == nil:
		w.imports[rpcPath], w.imports[runtimePath] = true, true
		w.line("skill := rpc.Skill[[]runtime.Part, *rpc.Result]{ID: %s, In: rpc.PlainInput, Out: rpc.PlainOutput}", strconv.Quote(s.skill))
		return "[]runtime.Part{" + w.parts(s.parts) + "}"
	case w.skill.Input == nil:
		return strconv.Quote(*s.parts[0].Text)
	}
	data := w.sent[0].data()
	if text, err := w.named(w.skill.Input.Type, data); err == nil {
		w.imports[w.Client] = true
		return "&" + text
	}
	w.decode("in", w.skill.Input, data)
	return "in"
}

// decode writes code that reads a value from JSON.
func (w *writer) decode(name string, of *ir.DataRef, data json.RawMessage) {
	w.imports["encoding/json"], w.imports[w.Client] = true, true
	var compact bytes.Buffer
	if json.Compact(&compact, data) != nil {
		compact.Write(data) // what is no JSON fails the test
	}
	w.line("%s := new(%s.%s)", name, w.pkg, of.Name)
	w.line("if err := json.Unmarshal([]byte(%s), %s); err != nil {\n%s\n}", quote(compact.String()), name, w.fail)
}

// call writes a call: of a typed method, or of any skill.
func (w *writer) call(suffix, args string) string {
	if w.skill == nil {
		if suffix == "" {
			suffix = "Call"
		}
		return fmt.Sprintf("skill.%s(%s, c.RPC(), %s)", suffix, w.ctx, args)
	}
	name := w.method
	switch suffix {
	case "Answer":
		name = w.skill.Client.Answer
	case "Stream":
		name = w.skill.Client.Stream
	}
	return fmt.Sprintf("c.%s(%s, %s)", name, w.ctx, args)
}

// parts writes parts of a message.
func (w *writer) parts(list []part) string {
	w.imports[runtimePath] = true
	var texts []string
	for _, p := range list {
		switch {
		case p.Text != nil:
			texts = append(texts, "runtime.Text("+strconv.Quote(*p.Text)+")")
		case p.Data != nil:
			w.imports["encoding/json"] = true
			texts = append(texts, "runtime.Data(json.RawMessage("+quote(string(p.Data))+"))")
		case p.URL != "":
			texts = append(texts, fmt.Sprintf("runtime.Link(%q, %q, %q)", p.Filename, p.MediaType, p.URL))
		default:
			texts = append(texts, fmt.Sprintf("runtime.File(%q, %q, []byte(%q))", p.Filename, p.MediaType, p.Raw))
		}
	}
	return strings.Join(texts, ", ")
}

// streamed writes a call whose steps are printed.
func (w *writer) streamed() {
	input := w.input()
	w.line("for e, err := range %s {", w.call("Stream", input))
	w.check()
	w.line("fmt.Println(e.Text())\n}\nreturn nil\n}")
}

// expectsOutput reports whether a test can say what the output must be.
func (w *writer) expectsOutput() bool {
	if w.skill != nil && w.skill.Output != nil {
		return w.end.data != nil
	}
	return w.end.text != nil && *w.end.text != ""
}

// states are those in which a call ends with an error, by their names in 1.0.
var states = map[string]string{"failed": "StateFailed", "rejected": "StateRejected", "canceled": "StateCanceled"}

// expect writes what a test expects of the last call.
func (w *writer) expect() {
	switch state := states[w.end.state]; {
	case w.end.err != "":
		w.line("if err == nil {\nt.Errorf(\"got no error, want one such as %%q\", %s)\n}", strconv.Quote(w.end.err))
	case w.end.state == "input-required", w.end.state == "auth-required":
		w.imports["errors"], w.imports[rpcPath] = true, true
		if len(w.sent) == 1 {
			w.line("var ask *rpc.InputRequiredError")
		}
		w.line("if !errors.As(err, &ask) {\nt.Errorf(\"got %%v, want a question\", err)\n}")
	case state != "":
		w.imports["errors"], w.imports[rpcPath], w.imports[runtimePath] = true, true, true
		w.line("var ended *rpc.TaskError\nif !errors.As(err, &ended) || ended.State != runtime.%s {", state)
		w.line("t.Errorf(\"got %%v, want a task that is %s\", err)\n}", w.end.state)
	default:
		w.check()
		w.expectOutput()
	}
}

func (w *writer) expectOutput() {
	switch {
	case w.end.state != "completed" || !w.expectsOutput():
	case w.skill != nil && w.skill.Output != nil:
		w.imports["reflect"] = true
		w.decode("want", w.skill.Output, w.end.data)
		w.line("if !reflect.DeepEqual(out, want) {\nt.Errorf(\"got %%+v, want %%+v\", out, want)\n}")
	default:
		w.line("if want := %s; out.Text() != want {\nt.Errorf(\"got %%q, want %%q\", out.Text(), want)\n}", quote(*w.end.text))
	}
}

// source returns the file.
func (w *writer) source(pkg, comment string) (string, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "%spackage %s\n\nimport (\n", comment, pkg)
	own := false
	for _, imp := range slices.SortedFunc(maps.Keys(w.imports), ownLast) {
		name := ""
		if !own && strings.Contains(imp, ".") {
			own = true
			b.WriteString("\n")
		}
		if imp == rpcPath {
			name = "rpc "
		}
		fmt.Fprintf(&b, "%s%q\n", name, imp)
	}
	b.WriteString(")\n\n" + w.body.String())
	out, err := format.Source([]byte(b.String()))
	if err != nil {
		return "", fmt.Errorf("this is a defect of a2agen: the code cannot be read: %w", err)
	}
	return string(out), nil
}

// ownLast orders imports: those of the standard library first.
func ownLast(a, b string) int {
	if x, y := strings.Contains(a, "."), strings.Contains(b, "."); x != y {
		if y {
			return -1
		}
		return 1
	}
	return strings.Compare(a, b)
}
