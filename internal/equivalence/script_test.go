package equivalence

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/a2agen/a2agen/runtime"
)

// A script is a conversation, a line for each step, in the words of A2A 1.0:
//
//	send "book"                              a message of that text
//	send "book" {"configuration": {…}}       with further members of the request, or of its message
//	get {"id": "$task"}                      any operation, with its request
//	raw get {"id": 7}                        with a request that no careful client would write
//	s = subscribe {"id": "$task"}            opens a stream, of which nothing is read yet
//	s next 2                                 reads as many events
//	s rest                                   reads to the end
//	s close, s resume                        goes away, and takes up again what follows the last event that was read
//	param A2A-Version: 9.0                   sets a service parameter from here on; an empty one is not sent
//	release                                  lets the handler go on that waits
//	until completed                          waits until the task is in that state
//
// In a request, $task is the task of which the agent spoke last, $task1 the first one, $context the conversation,
// $time when the task's state last changed, $page the token of the next page, $me the caller, $version the speaker's, and
// $hook where notifications may go.

// operations are those of 1.0 by the words of scripts; others are called by their names.
var operations = map[string]runtime.Role{
	"send": runtime.RoleSend, "stream": runtime.RoleStream, "get": runtime.RoleGet, "list": runtime.RoleList,
	"cancel": runtime.RoleCancel, "subscribe": runtime.RoleSubscribe, "card": runtime.RoleExtendedCard,
	"push-create": runtime.RolePushCreate, "push-get": runtime.RolePushGet, "push-list": runtime.RolePushList,
	"push-delete": runtime.RolePushDelete,
}

// session is a script being played by a speaker.
type session struct {
	hub     *runtime.Version // whose words the scripts are in
	speaker *speaker
	agent   *agent
	link    link
	ctx     context.Context
	me      string
	params  map[string]string
	named   map[string]string // tasks that a client names itself, by the key of their message
	streams map[string]*opened
	seen    seen
	heard   []heard
	step    int
}

// opened is a stream of a session.
type opened struct {
	op    *runtime.Operation
	items items
	last  string // id of the event that was read last
	task  string
}

// heard is what a speaker heard at a step of a script: a value of the protocol, an error, or the end of a stream.
type heard struct {
	step  int
	op    *runtime.Operation // of 1.0
	event bool
	value any
	fault *fault
	text  string // anything else
}

// errNoWord says that a speaker has no words for what a step wants, or for what the step goes back to.
var errNoWord = errors.New("the speaker has no words for it")

// newSession makes a session of a caller.
func newSession(ctx context.Context, hub *runtime.Version, sp *speaker, a *agent, me string) (s *session, err error) {
	s = &session{hub: hub, speaker: sp, agent: a, ctx: ctx, me: me, named: map[string]string{}, streams: map[string]*opened{}}
	s.params = map[string]string{"Authorization": "Bearer " + s.me}
	if !sp.version.Rules.PlainErrors || sp.version.Name == "0.2" { // which nothing else tells from 0.3
		s.params["A2A-Version"] = sp.version.Name
	}
	s.link, err = sp.link(a)
	return s, err
}

// play plays a script from its first step to its last.
func play(ctx context.Context, hub *runtime.Version, sp *speaker, a *agent, script string) (*session, error) {
	s, err := newSession(ctx, hub, sp, a, newID())
	if err != nil {
		return s, err
	}
	defer s.end()
	for _, line := range stepsOf(script) {
		s.step++
		if err := s.do(line); errors.Is(err, errNoWord) {
			s.heard = append(s.heard, heard{step: s.step, text: errNoWord.Error()})
		} else if err != nil {
			return s, fmt.Errorf("%s: %w", line, err)
		}
	}
	return s, nil
}

// stepsOf are the lines of a script. One that begins with a brace goes on with the one before.
func stepsOf(script string) (steps []string) {
	for line := range strings.SplitSeq(script, "\n") {
		switch line = strings.TrimSpace(line); {
		case line == "":
		case line[0] == '{', line[0] == '"':
			steps[len(steps)-1] += line
		default:
			steps = append(steps, line)
		}
	}
	return steps
}

func (s *session) end() {
	for _, st := range s.streams {
		st.items.close()
	}
	s.link.close()
}

// do does one step.
func (s *session) do(line string) error {
	if name, rest, ok := strings.Cut(line, " = "); ok && !strings.ContainsAny(name, " \"{") {
		return s.begin(name, rest)
	}
	word, rest, _ := strings.Cut(line, " ")
	if st := s.streams[word]; st != nil {
		return s.follow(word, st, rest)
	}
	switch word {
	case "param":
		name, value, _ := strings.Cut(strings.NewReplacer("$version", s.speaker.version.Name, "$me", s.me).Replace(rest), ":")
		if s.params[name] = strings.TrimSpace(value); s.params[name] == "" {
			delete(s.params, name)
		}
		return nil
	case "release":
		s.agent.gates.of(s.me) <- struct{}{}
		return nil
	case "until":
		return s.until(rest)
	}
	if strings.HasPrefix(rest, "next") || rest == "rest" || rest == "close" || rest == "resume" {
		return errNoWord // the stream could not be opened
	}
	c, op, err := s.compose(word, rest)
	if err != nil {
		return err
	}
	return s.call(c, op)
}

// begin opens a stream under a name.
func (s *session) begin(name, line string) error {
	word, rest, _ := strings.Cut(line, " ")
	c, op, err := s.compose(word, rest)
	if err != nil {
		return err
	}
	a, err := s.link.call(s.ctx, c)
	if err != nil {
		return err
	}
	s.note(a.active)
	if a.stream == nil {
		return s.told(op, a)
	}
	s.streams[name] = &opened{op: op, items: a.stream}
	return nil
}

// follow does something with an open stream.
func (s *session) follow(name string, st *opened, what string) error {
	verb, count, _ := strings.Cut(what, " ")
	switch verb {
	case "next":
		n, err := strconv.Atoi(count)
		if err != nil {
			return err
		}
		return s.read(st, n)
	case "rest":
		return s.read(st, -1)
	case "close":
		st.items.close()
		return nil
	case "resume":
		return s.resume(name, st)
	}
	return fmt.Errorf("no step: %q", what)
}

// resume takes a stream up again behind the last event that was read.
func (s *session) resume(name string, st *opened) error {
	c, op, err := s.compose("subscribe", `{"id":"$task"}`)
	if err != nil {
		return err
	}
	c.after = st.last
	a, err := s.link.call(s.ctx, c)
	if err != nil {
		return err
	}
	if a.stream == nil {
		return s.told(op, a)
	}
	s.streams[name] = &opened{op: op, items: a.stream, last: st.last}
	return nil
}

// read hears the next events of a stream; all of them if n is less than 0.
func (s *session) read(st *opened, n int) error {
	for ; n != 0; n-- {
		it, ok := st.items.next()
		if !ok {
			if n > 0 {
				s.heard = append(s.heard, heard{step: s.step, text: "the stream has ended"})
			}
			return nil
		}
		st.last = it.id
		if err := s.hear(st.op, true, it.body, it.fault); err != nil {
			return err
		}
	}
	return nil
}

// until waits for a state of the task that was spoken of last, which nobody hears of.
func (s *session) until(state string) error {
	for s.ctx.Err() == nil {
		c, op, err := s.compose("get", `{"id":"$task"}`)
		if err != nil {
			return err
		}
		a, err := s.link.call(s.ctx, c)
		if err != nil {
			return err
		}
		if a.fault != nil {
			return a.fault
		}
		v, err := s.speaker.row(op).Read(a.body)
		if err != nil {
			return err
		}
		if task, ok := v.(runtime.Task); ok && task.TaskInfo().State.String() == state {
			return nil
		}
		time.Sleep(2 * time.Millisecond)
	}
	return fmt.Errorf("the task is never %s", state)
}

// operation finds an operation of 1.0 by the word of a script; nil if there is none.
func (s *session) operation(word string) *runtime.Operation {
	role, known := operations[word]
	for _, op := range s.hub.Operations {
		if known && op.Role == role || !known && op.RPC == word {
			return op
		}
	}
	return nil
}

// compose writes the request of a step in the speaker's words.
func (s *session) compose(word, request string) (c call, op *runtime.Operation, err error) {
	raw := word == "raw"
	if raw {
		word, request, _ = strings.Cut(request, " ")
	}
	if op = s.operation(word); op == nil {
		return c, nil, fmt.Errorf("no step: %q", word)
	}
	if c.op = s.speaker.row(op); c.op == nil {
		return c, op, errNoWord
	}
	neutral, err := s.request(request)
	if err != nil {
		return c, op, err
	}
	c.params = maps.Clone(s.params)
	if raw {
		c.request, err = s.speaker.raw(op, neutral)
		return c, op, err
	}
	wanted, err := op.Decode(neutral)
	if err != nil {
		return c, op, err
	}
	if c.request, err = c.op.AppendRequest(nil, s.generated(wanted)); err != nil {
		return c, op, err
	}
	said, err := c.op.Decode(c.request)
	if err == nil && !sameWish(wanted, said) {
		err = errNoWord
	}
	return c, op, err
}

// sameWish reports whether a request still wants the same now that it is written in another version's words.
func sameWish(wanted, said any) bool {
	return reflect.DeepEqual(wishes(wanted), wishes(said))
}

// wishes are what a request wants of the agent, as far as it changes what comes of it.
func wishes(v any) (list []any) {
	push := func(c *runtime.PushConfig) string {
		if c == nil {
			return ""
		}
		return c.URL + " " + c.ID
	}
	length := func(n *int) int {
		if n == nil {
			return -1 // which is none
		}
		return *n
	}
	switch p := v.(type) {
	case *runtime.SendRequest:
		return []any{p.Tenant, p.ReturnImmediately, push(p.Push), len(p.AcceptedOutputModes), length(p.HistoryLength)}
	case *runtime.TaskRequest:
		return []any{p.Tenant, p.ID, length(p.HistoryLength)}
	case *runtime.PushRequest:
		return []any{p.Tenant, p.TaskID, p.Config.ID, length(p.PageSize), p.PageToken}
	}
	return nil
}

// generated is the generated request of a neutral one, as a client of the version would make it.
func (s *session) generated(v any) any {
	switch p := v.(type) {
	case *runtime.SendRequest:
		if info := p.Message; s.speaker.version.Rules.ClientIDs && info != nil && info.MessageInfo().TaskID == "" {
			key := s.params["Idempotency-Key"]
			if s.named[key] == "" || key == "" {
				s.named[key] = newID()
			}
			info.Bind(info.MessageInfo().ContextID, s.named[key])
		}
		return p.Source
	case *runtime.TaskRequest:
		return p.Source
	case *runtime.ListRequest:
		return p.Source
	case *runtime.PushRequest:
		return p.Source
	}
	return v
}

// request makes the JSON of a request of what a script says.
func (s *session) request(text string) ([]byte, error) {
	text = s.seen.fill(strings.NewReplacer("$me", s.me, "$hook", s.agent.hook.url).Replace(text))
	if strings.Contains(text, "$task") {
		return nil, errNoWord
	}
	if text == "" {
		return []byte("{}"), nil
	}
	if text[0] != '"' {
		return []byte(text), nil
	}
	d := json.NewDecoder(strings.NewReader(text))
	var said string
	var more map[string]any
	if err := d.Decode(&said); err != nil {
		return nil, err
	}
	if d.More() {
		if err := d.Decode(&more); err != nil {
			return nil, err
		}
	}
	message := map[string]any{"messageId": fmt.Sprintf("m%d", s.step), "role": "ROLE_USER",
		"parts": []any{map[string]any{"text": said}}}
	request := map[string]any{"message": message}
	for name, value := range more {
		if extra, ok := value.(map[string]any); ok && name == "message" {
			maps.Copy(message, extra)
		} else {
			request[name] = value
		}
	}
	return json.Marshal(request)
}

// call makes a call and hears all that comes of it.
func (s *session) call(c call, op *runtime.Operation) error {
	a, err := s.link.call(s.ctx, c)
	if err != nil {
		return err
	}
	s.note(a.active)
	if a.stream != nil {
		defer a.stream.close()
		return s.read(&opened{op: op, items: a.stream}, -1)
	}
	return s.told(op, a)
}

func (s *session) told(op *runtime.Operation, a *answer) error {
	return s.hear(op, false, a.body, a.fault)
}

// note hears which extensions are active.
func (s *session) note(active string) {
	if active != "" {
		s.heard = append(s.heard, heard{step: s.step, text: "extensions " + active})
	}
}

// hear takes down what came: a result or an event in the speaker's words, or an error.
func (s *session) hear(op *runtime.Operation, event bool, body []byte, f *fault) error {
	h := heard{step: s.step, op: op, event: event && op.Role != runtime.RoleOther, fault: f}
	if f == nil {
		var err error
		if h.value, err = s.speaker.value(h, body); err != nil {
			return fmt.Errorf("%w in %q", err, body)
		}
		text, err := neutral(s.hub, h)
		if err != nil {
			return err
		}
		s.seen.look(text)
	}
	s.heard = append(s.heard, h)
	return nil
}

// seen are the names that the agent gave.
type seen struct {
	tasks         []string
	context, time string
	page          string
}

var (
	taskNames = regexp.MustCompile(`"(?:taskId|task":\{"id)":"([^"]+)"|^\{"id":"([^"]+)","contextId":`)
	contexts  = regexp.MustCompile(`"contextId":"([^"]+)"`)
	times     = regexp.MustCompile(`"timestamp":"([^"]+)"`)
	pages     = regexp.MustCompile(`"nextPageToken":"([^"]*)"`)
)

// look takes the names out of an answer in the words of 1.0.
func (n *seen) look(answer string) {
	for _, m := range taskNames.FindAllStringSubmatch(answer, -1) {
		if id := m[1] + m[2]; len(n.tasks) == 0 || n.tasks[len(n.tasks)-1] != id {
			n.tasks = append(n.tasks, id)
		}
	}
	last := func(re *regexp.Regexp, to *string) {
		if all := re.FindAllStringSubmatch(answer, -1); len(all) > 0 {
			*to = all[len(all)-1][1]
		}
	}
	last(contexts, &n.context)
	last(times, &n.time)
	last(pages, &n.page)
}

// fill puts the names into a request.
func (n *seen) fill(request string) string {
	for i := len(n.tasks); i > 0; i-- {
		request = strings.ReplaceAll(request, "$task"+strconv.Itoa(i), n.tasks[i-1])
	}
	if len(n.tasks) > 0 {
		request = strings.ReplaceAll(request, "$task", n.tasks[len(n.tasks)-1])
	}
	return strings.NewReplacer("$context", n.context, "$time", n.time, "$page", n.page).Replace(request)
}

// newID makes an id as agents make them.
func newID() string {
	b := make([]byte, 16)
	_, _ = rand.Read(b)
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
