package equivalence

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/a2agen/a2agen/runtime"
)

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
	s.link, err = sp.link(a.door)
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
	case "grant":
		handle, _ := s.agent.handles.Load(s.me)
		return s.agent.server.Redeem(s.ctx, handle.(string), rest)
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

// newID makes an id as agents make them.
func newID() string {
	b := make([]byte, 16)
	_, _ = rand.Read(b)
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
