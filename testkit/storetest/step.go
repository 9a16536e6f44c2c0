package storetest

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store"
)

// A step is one call of a store, or a few that belong together, and is written as a row of words:
//
//	status t1 input-required handler done ticket=1
//
// The tables of rules consist of such rows, the random test draws them, and what fails there is printed as rows, which
// can then be added to the tables. A step says nothing that depends on those before it, so that any of them can be left
// out: versions, epochs and numbers of calls are those of the moment.
type step struct {
	Op    string // see [side.do]
	Task  string // its name says whose it is: see [keyOf]
	State runtime.State
	words
}

// words are what may be added to a step. What is zero is not there.
type words struct {
	Size, Parts                  int           // bytes of text, and in how many parts; of a claim and a page: how many tasks
	Name                         int           // of the artifact, or of a note's context
	Kind                         int           // of what is unfit: see [suite.update]
	More                         int           // events that come with the first: chunks, and then a status unless the first is one
	Stale                        int           // the version that is expected is so many too old; a handler need not name one
	Other                        int           // the epoch is so many too new
	Push, Repeat, Ticket, Redeem int           // which of them; of a settlement: which of those that were claimed at once
	Skill                        int           // of the task
	Max                          int           // configurations that the task may have
	Back                         int           // so many before the last one
	After                        int           // events after that version
	Good                         time.Duration // how long the ticket is, if not for an hour
	Wait                         time.Duration // before the step
	At                           time.Duration // of the status, after the time of the step
	Handler, Done                bool          // a handler says it, else a client; its call is over
	Call                         bool          // a message for a handler
	Input                        int           // bytes of a new task's private state: half is what it was given, half its trace
	Saves                        bool          // private state
	Any                          bool          // whatever version a note has
	Same, Unstamped              bool          // has the stamp of the task's step before; has none
	Fails, Later, Dead, Travels  bool          // what became of a delivery; its next two events go together
}

// each calls f with the words and their names.
func (w *words) each(f func(name string, v reflect.Value)) {
	v := reflect.ValueOf(w).Elem()
	for i := range v.NumField() {
		f(strings.ToLower(v.Type().Field(i).Name), v.Field(i))
	}
}

func (s step) String() string {
	row := []string{s.Op, s.Task}
	if s.State != runtime.StateUnspecified {
		row = append(row, s.State.String())
	}
	s.each(func(name string, v reflect.Value) {
		switch {
		case v.IsZero():
		case v.Kind() == reflect.Bool:
			row = append(row, name)
		default:
			row = append(row, fmt.Sprint(name, "=", v.Interface()))
		}
	})
	return strings.Join(slices.DeleteFunc(row, func(word string) bool { return word == "" }), " ")
}

// parse reads a row.
func parse(row string) (s step, err error) {
	list := strings.Fields(row)
	s.Op = list[0]
	for _, word := range list[1:] {
		name, value, valued := strings.Cut(word, "=")
		known := false
		for state := runtime.StateSubmitted; state <= runtime.StateAuthRequired; state++ {
			if name == state.String() {
				s.State, known = state, true
			}
		}
		s.each(func(of string, v reflect.Value) {
			if of != name {
				return
			}
			known = true
			switch v.Interface().(type) {
			case bool:
				v.SetBool(true)
			case time.Duration:
				var d time.Duration
				d, err = time.ParseDuration(value)
				v.SetInt(int64(d))
			default:
				var n int64
				n, err = strconv.ParseInt(value, 10, 32)
				v.SetInt(n)
			}
		})
		switch {
		case err != nil:
			return s, fmt.Errorf("%q in %q: %w", word, row, err)
		case known:
		case s.Task != "" || valued:
			return s, fmt.Errorf("%q in %q is no word", word, row)
		default:
			s.Task = word
		}
	}
	return s, nil
}

// ownersOf are the owners of tasks, by the beginnings of their names: ann1, ann2, … are Ann's, acme1 is hers in the tenant
// acme, bob1 is Bob's, and others are nobody's.
var ownersOf = map[string]store.Owner{"ann": {Principal: "ann"}, "acme": {Tenant: "acme", Principal: "ann"}, "bob": {Principal: "bob"}}

func keyOf(task string) store.Key {
	return store.Key{Owner: ownersOf[strings.TrimRight(task, "0123456789")], Task: task}
}

// Numbers of configurations that say something else than others.
const (
	ofQuotes = 7 // 9 kB that are longer as JSON
	notUTF8  = 8
	tooLarge = 9
)

// push is the configuration of a step.
func (s *step) push() *store.Push {
	if s.Push == 0 {
		return nil
	}
	p := config(fmt.Sprint("p", s.Push))
	p.Max, p.Tasks = s.Max, s.Push == 2
	switch s.Push {
	case ofQuotes:
		p.Config.URL = strings.Repeat(`"`, 9<<10)
	case notUTF8:
		p.Config.Token = "\xff"
	case tooLarge:
		p.Config.URL = strings.Repeat("x", 17<<10)
	default:
		p.Config.URL += strings.Repeat("x", s.Size)
	}
	return &p
}

func config(id string) store.Push {
	c := runtime.PushConfig{ID: id, URL: "https://example.com/" + id, Token: "t", Scheme: "Bearer", Credentials: "c"}
	return store.Push{ID: id, Version: "1.0", Config: c}
}

func (s *step) repeat() *store.Repeat {
	if s.Repeat == 0 {
		return nil
	}
	return &store.Repeat{Key: fmt.Sprint("k", s.Repeat), Digest: sha256.Sum256([]byte(s.Task)), For: time.Hour}
}

// hashOf is the hash of a ticket.
func hashOf(ticket int) [32]byte { return sha256.Sum256(fmt.Append(nil, "w", ticket)) }

// outcome is what a delivery comes to.
func (s *step) outcome(next int64) (o store.Outcome) {
	if s.Travels {
		o.Until = next + 2
	}
	switch {
	case s.Dead:
		return store.Outcome{Dead: "dead"}
	case s.Later:
		return store.Outcome{Later: time.Minute}
	case s.Fails:
		o.Again = time.Minute
	}
	if s.Travels || !s.Fails {
		o.Sent = next
	}
	return o
}

// contextOf is the context of a task: there are two of each owner's.
func contextOf(task string) string { return fmt.Sprint("c", int(task[len(task)-1])%2) }

// parts are the text of a step.
func (s *step) parts(letter string) []runtime.Part {
	parts := make([]runtime.Part, max(s.Parts, 1))
	for i := range parts {
		parts[i] = runtime.Text(strings.Repeat(letter, s.Size/len(parts)))
	}
	return parts
}

// creation is the new task of a step.
func (t *suite) creation(s *step, now time.Time, stamp uint64) store.New {
	task := t.Protocol.NewTask(s.Task, contextOf(s.Task), now)
	m := t.message("m-"+s.Task, s.parts("x")...)
	m.Bind(contextOf(s.Task), s.Task)
	task.AddMessage(m)
	n := store.New{
		Task: task, Private: store.Private{Skill: skill(s.Skill)}, Size: store.SizeOfMessage(m, m.Contents()), Stamp: stamp,
		Push: s.push(), Repeat: s.repeat(),
	}
	if s.Saves || s.Input > 0 {
		n.Private.Input = slices.Repeat([]byte("1"), max(s.Input/2, 7))
		n.Private.Trace = strings.Repeat("t", s.Input/2)
	}
	if s.Call {
		n.Call = t.call(fmt.Sprint("call 1 of ", s.Task))
	}
	n.Then, n.Done = t.more(s, now), s.Done && s.Call
	return n
}

func skill(n int) string { return fmt.Sprint("skill", n) }

// more are the events that come with the first one, or with a new task.
func (t *suite) more(s *step, now time.Time) (then []store.Change) {
	for i := range s.More {
		data := runtime.ArtifactData{ID: fmt.Sprint("more", i%2), Parts: []runtime.Part{runtime.Text("more")}, Append: true}
		c := store.Change{Event: t.Protocol.NewArtifact(s.Task, contextOf(s.Task), data)}
		if i == s.More-1 && s.Op != "status" {
			c.Event = t.Protocol.NewStatus(s.Task, contextOf(s.Task), s.State, nil, now.Add(s.At))
			c.Messages = []runtime.Message{t.message("of-"+s.Task, runtime.Text("well"))}
		}
		then = append(then, c)
	}
	return then
}

// update is the update of a step, and the version that it expects, for a task of which a head is known.
func (t *suite) update(s *step, h store.Head, now time.Time, stamp uint64) (u store.Update, expect int64) {
	u = store.Update{Stamp: stamp, Push: s.push(), Repeat: s.repeat()}
	artifact := runtime.ArtifactData{ID: fmt.Sprint("a", s.Name), Parts: s.parts("z"), Append: s.Op == "chunk"}
	switch {
	case s.Op == "unfit" && s.Kind == 0:
		u.Event = t.Protocol.NewStatus("other", contextOf(s.Task), runtime.StateWorking, nil, now)
	case s.Op == "unfit" && s.Kind == 1:
		u.Event = t.Protocol.NewArtifact("other", contextOf(s.Task), artifact)
	case s.Op == "unfit":
		u.Event = t.Protocol.NewTask(s.Task, contextOf(s.Task), now)
	case s.Op == "status":
		u.Event = t.Protocol.NewStatus(s.Task, contextOf(s.Task), s.State, nil, now.Add(s.At))
		if s.Size > 0 {
			u.Messages = []runtime.Message{t.message("m", s.parts("y")...)}
		}
	default:
		u.Event = t.Protocol.NewArtifact(s.Task, contextOf(s.Task), artifact)
	}
	u.Then = t.more(s, now)
	if s.Saves {
		saved := fmt.Appendf(nil, "at version %d", h.Version)
		u.Saved = &saved
	}
	if s.Call {
		u.Call = t.call(fmt.Sprintf("call %d of %s", h.Calls+1, s.Task))
	}
	if s.Ticket != 0 {
		u.Ticket = &store.Ticket{Hash: hashOf(s.Ticket), For: cmp.Or(s.Good, time.Hour), Request: t.call("a ticket").Request}
	}
	if s.Redeem != 0 {
		hash := hashOf(s.Redeem)
		u.Redeem = &hash
	}
	if !s.Handler {
		return u, h.Version - int64(s.Stale)
	}
	if u.Epoch = h.Epoch + int64(s.Other); s.Done {
		u.Done = h.Done + 1
	}
	if s.Stale != 0 {
		expect = h.Version - int64(s.Stale)
	}
	return u, expect
}
