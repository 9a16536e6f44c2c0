// Package talk carries on a conversation with an agent for a person or a script: it sends a message, shows what comes back, and sends the
// answers to what the agent asks, until the task ends.
package talk

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"google.golang.org/grpc"

	"github.com/a2agen/a2agen/internal/a2awires"
	"github.com/a2agen/a2agen/internal/dev/traffic"
	"github.com/a2agen/a2agen/internal/shell"
	"github.com/a2agen/a2agen/runtime"
	rpc "github.com/a2agen/a2agen/runtime/client"
	"github.com/a2agen/a2agen/runtime/client/grpcclient"
	"github.com/a2agen/a2agen/runtime/gen"
	"github.com/a2agen/a2agen/runtime/wire"
)

// Options say which agent to talk to, what to send, and how to print the answer.
type Options struct {
	Target   string // URL of the agent or of its card, or a project's folder
	Protocol string // the version to speak; "" is what the card prefers
	Binding  string // over which it is spoken; "" is what the card prefers
	Headers  []string
	Token    string // a bearer token, for the host of the agent alone

	Text          string   // "-" reads it from In
	Data          string   // JSON, @FILE, or "-" to read it from In
	Files         []string // paths of files to send
	Skill         string   // its id; "" leaves the choice to the agent
	Context, Task string   // ids; "" for new ones
	Cancel        bool     // cancel Task instead of talking

	OneGo   bool   // ask for the answer in one go, without a stream
	Live    bool   // print the answer as it comes
	JSON    bool   // print what came as JSON
	Verbose bool   // say on Err what happens
	Trace   bool   // print on Err what goes over the wire
	Output  string // folder for the files of the answer

	// HTTP makes the requests, if it is not nil; the agent is then called over HTTP alone.
	HTTP *http.Client

	In       io.Reader
	Out, Err io.Writer
	Asks     bool // a person sits at In and Err, and answers
	Screen   bool // Out is a terminal, too
	Again    string
}

// talk is one conversation.
type talk struct {
	Options
	client *rpc.Client
	print  *printer
	lines  *lines
	taskID string // of the task that is under way; "" before there is one

	loggedIn bool // there is a login for the agent
}

// Run carries out a conversation. An error that is not nil is an *[Error].
func Run(ctx context.Context, o Options) error {
	t := &talk{Options: o, lines: newLines(o.In), taskID: o.Task}
	t.print = &printer{Options: &t.Options}
	_, err := Address(o.Target) // before a text is missed that stands in place of the agent
	if err != nil {
		return t.failed(ctx, err)
	}
	parts, err := t.message()
	if err != nil {
		return t.failed(ctx, err)
	}
	if t.client, err = t.dial(ctx); err != nil {
		return t.failed(ctx, err)
	}
	defer t.client.Close()
	switch {
	case o.Cancel:
		err = t.cancel(ctx)
	case len(parts) == 0:
		err = t.wait(ctx)
	default:
		err = t.converse(ctx, parts)
	}
	return t.failed(ctx, err)
}

// message returns the parts of the first message. Without any, the conversation waits for the given task.
func (t *talk) message() ([]runtime.Part, error) {
	var parts []runtime.Part
	if text, err := t.text(); err != nil {
		return nil, err
	} else if text != "" {
		parts = append(parts, runtime.Text(text))
	}
	if t.Data != "" {
		src, err := t.data()
		if err != nil {
			return nil, err
		}
		if !json.Valid(src) {
			return nil, usage("--data is no valid JSON: write --data '{\"name\": \"value\"}', --data @FILE, or --data - to read it from stdin")
		}
		parts = append(parts, runtime.Data(json.RawMessage(src)))
	}
	for _, path := range t.Files {
		content, err := os.ReadFile(path)
		if err != nil {
			return nil, usage("--file: %w", err)
		}
		kind := mime.TypeByExtension(filepath.Ext(path))
		if kind == "" {
			kind = "application/octet-stream"
		}
		parts = append(parts, runtime.File(filepath.Base(path), kind, content))
	}
	switch {
	case t.Cancel && (t.Task == "" || len(parts) > 0):
		return nil, usage("--cancel takes the id of a task and no message: --cancel --task ID")
	case len(parts) == 0 && t.Task == "":
		return nil, usage("there is nothing to say: give a text, --data or --file, or --task ID to wait for a task")
	}
	return parts, nil
}

func (t *talk) text() (string, error) {
	if t.Text != "-" {
		return t.Text, nil
	}
	b, err := io.ReadAll(t.In)
	return strings.TrimSpace(string(b)), err
}

func (t *talk) data() ([]byte, error) {
	switch path, isFile := strings.CutPrefix(t.Data, "@"); {
	case t.Data == "-":
		return io.ReadAll(t.In)
	case isFile:
		b, err := os.ReadFile(path)
		if err != nil {
			return nil, usage("--data: %w", err)
		}
		return b, nil
	}
	return []byte(t.Data), nil
}

// Agent is an agent that can be called.
type Agent struct {
	Client *rpc.Client
	// Card is what the agent shows to this caller, if that is more than to everybody (R23); nil otherwise.
	Card *a2awires.AgentCard

	options  Options
	loggedIn bool
}

// Explain words the error of a call for a person, as [Run] does. It is an *[Error].
func (a *Agent) Explain(err error) error {
	t := &talk{Options: a.options, loggedIn: a.loggedIn}
	return t.failed(context.Background(), err)
}

// Dial makes a client of the agent, with the credentials that [Run] would use. An error is an *[Error].
func Dial(ctx context.Context, o Options) (*Agent, error) {
	t := &talk{Options: o}
	t.print = &printer{Options: &t.Options}
	c, err := t.dial(ctx)
	if err != nil {
		return nil, t.failed(ctx, err)
	}
	a := &Agent{Client: c, options: o, loggedIn: t.loggedIn}
	if card := t.card(ctx, c); card != c.Card().Generated() {
		a.Card = card
	}
	return a, nil
}

// dial fetches the agent's card and makes a client.
func (t *talk) dial(ctx context.Context) (*rpc.Client, error) {
	url, err := Address(t.Target)
	if err != nil {
		return nil, err
	}
	if t.Binding != "" && !slices.Contains(Bindings(), t.Binding) {
		return nil, usage("--binding %.40s: there are %s", t.Binding, strings.Join(Bindings(), ", "))
	}
	p, err := speaking(t.Protocol)
	if err != nil {
		return nil, err
	}
	opts := t.transports()
	if t.Binding != "" {
		opts = append(opts, rpc.Prefer(t.Binding))
	}
	credentials, err := t.credentials(url)
	if err != nil {
		return nil, err
	}
	opts = append(opts, credentials...)
	c, err := rpc.New(ctx, p, url, opts...)
	if err != nil {
		return nil, unreached(url, t.Target, err)
	}
	t.remark(url, c)
	if err := t.knowsSkill(ctx, c); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// transports are those over which the agent is called. A trace prints what passes, of the card, too.
func (t *talk) transports() []rpc.Option {
	if t.HTTP != nil {
		return []rpc.Option{rpc.HTTPClient(t.HTTP)}
	}
	if !t.Trace {
		return []rpc.Option{rpc.Use(grpcclient.Binding())}
	}
	trace := traffic.NewTracer(t.Err)
	plain := http.DefaultTransport.(*http.Transport).Clone()
	return []rpc.Option{
		rpc.HTTPClient(&http.Client{Transport: trace.Transport(plain)}),
		rpc.Use(grpcclient.Binding(grpcclient.DialOptions(grpc.WithStatsHandler(trace.Stats())))),
	}
}

// remark prints notes about the agent that was found.
func (t *talk) remark(url string, c *rpc.Client) {
	name, i := c.Card().CardInfo().Name, c.Interface()
	t.verbose("%s speaks A2A %s over %s at %s", name, i.Version, i.Binding, i.URL)
	if own := nameIn(t.Target); own != "" && own != name {
		t.note("warning: the agent at %s is %q, not %q as %s says", url, name, own, filepath.Join(t.Target, projectFile))
	}
	for _, w := range c.Warnings() {
		if t.Asks || t.Verbose {
			t.note("warning: %s", w)
		}
	}
	if len(t.Headers) > 0 && !sameHost(url, i.URL) {
		t.note("the card sends calls to %s: your headers go there too", i.URL)
	}
}

// speaking returns the protocol of all versions, or of the one that is asked for.
func speaking(version string) (*runtime.Protocol, error) {
	p := a2awires.Protocol()
	if version == "" {
		return p, nil
	}
	i := slices.IndexFunc(p.Versions, func(v *runtime.Version) bool { return v.Name == version })
	if i < 0 {
		return nil, usage("--protocol %s: there are %s", version, strings.Join(Versions(), ", "))
	}
	one := *p
	one.Versions, one.DecodeCard = p.Versions[i:i+1], p.Versions[i].ReadCard
	return &one, nil
}

// Versions returns the protocol versions that can be spoken, newest first.
func Versions() []string {
	var names []string
	for _, v := range a2awires.Protocol().Versions {
		names = append(names, v.Name)
	}
	return names
}

// Bindings returns the bindings that can be spoken.
func Bindings() (names []string) {
	for _, b := range runtime.Bindings {
		names = append(names, b.Name)
	}
	return names
}

// card returns the agent's card: the extended one for callers with credentials (R23).
func (t *talk) card(ctx context.Context, c *rpc.Client) *a2awires.AgentCard {
	public, _ := c.Card().Generated().(*a2awires.AgentCard)
	if !c.Card().CardInfo().Extended || !t.known() {
		return public
	}
	more := rpc.Method{Role: runtime.RoleExtendedCard, RPC: "GetExtendedAgentCard"}
	extended, err := gen.As[*a2awires.AgentCard](c.Call(ctx, more, &a2awires.GetExtendedAgentCardRequest{Tenant: c.Tenant()}))
	if err != nil {
		t.verbose("the extended card is not to be had: %v", err)
		return public
	}
	return extended
}

// knowsSkill rejects a skill that the card does not list.
func (t *talk) knowsSkill(ctx context.Context, client *rpc.Client) error {
	if t.Skill == "" {
		return nil
	}
	c := t.card(ctx, client)
	if c == nil || len(c.Skills) == 0 {
		return nil
	}
	var ids []string
	for _, s := range c.Skills {
		if s != nil && s.ID == t.Skill {
			return nil
		} else if s != nil {
			ids = append(ids, s.ID)
		}
	}
	return usage("the agent has no skill %q; it has %s", t.Skill, clean(strings.Join(ids, ", ")))
}

// skill is the skill to call. Its input and output are not checked here: the agent does that.
func (t *talk) skill() *rpc.Skill[[]runtime.Part, *rpc.Result] {
	return &rpc.Skill[[]runtime.Part, *rpc.Result]{ID: t.Skill, In: rpc.PlainInput, Out: rpc.PlainOutput}
}

// converse sends a message, and answers the agent's questions.
func (t *talk) converse(ctx context.Context, parts []runtime.Part) error {
	opts := []rpc.CallOption{rpc.InTask(t.Task), rpc.InContext(t.Context)}
	for {
		r, err := t.say(ctx, parts, opts)
		var ask *rpc.InputRequiredError
		if !errors.As(err, &ask) {
			return t.done(r, err)
		}
		t.taskID = ask.TaskID
		if ask.Auth != nil || !t.Asks {
			return t.done(ask.Result, err)
		}
		answer, ok := t.ask(ctx, ask)
		if !ok {
			return t.done(ask.Result, err)
		}
		parts, opts = []runtime.Part{answer}, []rpc.CallOption{rpc.InTask(ask.TaskID), rpc.InContext(ask.ContextID)}
	}
}

// say sends one message and waits for its result.
func (t *talk) say(ctx context.Context, parts []runtime.Part, opts []rpc.CallOption) (*rpc.Result, error) {
	if t.OneGo {
		return t.skill().Call(ctx, t.client, parts, opts...)
	}
	var result *rpc.Result
	for e, err := range t.skill().Stream(ctx, t.client, parts, opts...) {
		if err != nil {
			return result, err
		}
		if e.TaskID != "" && e.TaskID != t.taskID {
			t.taskID = e.TaskID
			t.verbose("task %s", e.TaskID)
		}
		result = e.Result
		if err := t.step(e); err != nil {
			return nil, err
		}
		if e.State == runtime.StateAuthRequired && !t.Asks { // a person may see to it while the stream stays open
			return t.client.Await(ctx, e.TaskID)
		}
	}
	return result, nil
}

// step prints one step of a stream.
func (t *talk) step(e rpc.Event[*rpc.Result]) error {
	switch {
	case t.JSON && t.Live && e.Raw != nil:
		return t.print.event(e.Raw)
	case t.JSON:
		return nil
	}
	news := !e.State.Terminal() && e.State != runtime.StateInputRequired // what is said otherwise
	if e.Progress != "" && news && (t.Asks || t.Verbose) {
		t.print.endLine()
		t.note("%s", e.Progress)
	}
	if e.Artifact != nil && t.Live {
		return t.print.chunk(e.Artifact)
	}
	return nil
}

// ask asks the person the agent's question. It reports false if there is no answer.
func (t *talk) ask(ctx context.Context, ask *rpc.InputRequiredError) (runtime.Part, bool) {
	t.print.endLine()
	t.note("? %s%s", ask.Prompt, choices(ask))
	fmt.Fprint(t.Err, "> ")
	line, ok := t.lines.next(ctx)
	if line = strings.TrimSpace(line); !ok || line == "" {
		fmt.Fprintln(t.Err)
		return runtime.Part{}, false
	}
	if v := wire.Value(line); line[0] == '{' && json.Valid(v) {
		return runtime.Data(v), true
	}
	return runtime.Text(line), true
}

// done prints a result that was not printed yet.
func (t *talk) done(r *rpc.Result, err error) error {
	var failed *rpc.TaskError
	if errors.As(err, &failed) {
		r, t.taskID = failed.Result, failed.TaskID
	}
	if r == nil {
		return err
	}
	var e error
	switch {
	case t.JSON && !t.Live:
		e = t.print.result(r)
	case !t.JSON && err == nil:
		e = t.print.answer(r)
	default:
		t.print.endLine()
	}
	return errors.Join(err, e)
}

// wait waits for a running task.
func (t *talk) wait(ctx context.Context) error {
	r, err := t.client.Await(ctx, t.Task)
	var ask *rpc.InputRequiredError
	if !errors.As(err, &ask) {
		return t.done(r, err)
	}
	if answer, ok := t.answer(ctx, ask); ok {
		return t.converse(ctx, []runtime.Part{answer})
	}
	return t.done(ask.Result, err)
}

// answer returns the person's answer to a question, if there is a person.
func (t *talk) answer(ctx context.Context, ask *rpc.InputRequiredError) (runtime.Part, bool) {
	if ask.Auth != nil || !t.Asks {
		return runtime.Part{}, false
	}
	return t.ask(ctx, ask)
}

// cancel cancels a task.
func (t *talk) cancel(ctx context.Context) error {
	request := a2awires.Protocol().NewTaskRequest(runtime.RoleCancel, runtime.TaskRequest{Tenant: t.client.Tenant(), ID: t.Task})
	v, err := t.client.Call(ctx, rpc.Method{Role: runtime.RoleCancel, RPC: "CancelTask"}, request)
	if err != nil {
		return err
	}
	if t.JSON {
		return t.print.event(v)
	}
	t.note("task %s is canceled", t.Task)
	return nil
}

// again returns the command that continues the task.
func (t *talk) again(more string) string {
	return t.Again + " --task " + shell.Word(clean(t.taskID)) + more
}

// note prints a line for a person, which may contain text of the agent.
func (t *talk) note(format string, args ...any) {
	fmt.Fprintln(t.Err, t.hide(clean(fmt.Sprintf(format, args...))))
}

func (t *talk) verbose(format string, args ...any) {
	if t.Verbose {
		t.note(format, args...)
	}
}
