// Package faults makes the way to an agent fail while somebody looks, as the page says.
package faults

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/a2agen/a2agen/internal/dev/reply"
	"github.com/a2agen/a2agen/internal/dev/traffic"
	"github.com/a2agen/a2agen/internal/faultproxy"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/testkit/fault"
)

// Most is how many faults there may be at once.
const Most = 16

// Asked is a fault as a person asks for it.
type Asked struct {
	Kind string `json:"kind"` // "cut"
	With string `json:"with"` // "3:2@SendStreamingMessage"
}

// Read reads the faults of "a2agen dev --faults": lines of KIND VALUE, which may also stand on one line with semicolons between them,
// and the seed of what is random, 1 unless a line says seed N.
func Read(text string) (list []Asked, seed int64, err error) {
	seed = 1
	for line := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == '\n' || r == ';' }) {
		line, _, _ = strings.Cut(line, "#")
		words := strings.Fields(line)
		switch {
		case len(words) == 0:
		case len(words) != 2:
			return nil, 0, fmt.Errorf("%q is no fault: write KIND VALUE, such as cut 3:2", strings.TrimSpace(line))
		case words[0] == "seed":
			if seed, err = strconv.ParseInt(words[1], 10, 64); err != nil {
				return nil, 0, fmt.Errorf("seed: %q is no whole number", words[1])
			}
		default:
			asked := Asked{words[0], words[1]}
			if _, err := parse(asked); err != nil {
				return nil, 0, err
			}
			list = append(list, asked)
		}
	}
	if len(list) == 0 {
		return nil, 0, errors.New("no fault is asked for: write KIND VALUE, such as cut 3:2")
	}
	return list, seed, nil
}

// Active is a fault that calls meet.
type Active struct {
	Asked
	Is   string `json:"is"`   // as Go has it: "CutAfter(3).Times(2)"
	Hits int    `json:"hits"` // how many calls it hit
}

// State is all that goes wrong with the calls of an agent.
type State struct {
	Agent   int      `json:"agent"`
	Faults  []Active `json:"faults"`
	Problem string   `json:"problem,omitempty"` // the last fault that could not be applied, and why
}

// Switch passes calls on to an agent, with the faults that are on. See [New].
type Switch struct {
	// Seed seeds random faults. Report, if it is set, gets a line for each request that met a fault.
	Seed   int64
	Report func(line string)

	agent   int
	next    http.Handler
	changed func(State)
	now     atomic.Pointer[faulty] // nil: calls pass as they are

	mu    sync.Mutex
	state State
}

// faulty is the way with faults.
type faulty struct {
	in      *fault.Injector
	handler http.Handler
}

// New returns a switch without faults before next. changed is called with each new state.
func New(agent int, next http.Handler, changed func(State)) *Switch {
	return &Switch{Seed: 1, agent: agent, next: next, changed: changed, state: State{Agent: agent, Faults: []Active{}}}
}

// ServeHTTP passes a call on.
func (s *Switch) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if f := s.now.Load(); f != nil {
		f.handler.ServeHTTP(w, r)
		return
	}
	s.next.ServeHTTP(w, r)
}

// State returns what is on.
func (s *Switch) State() State {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.state
	st.Faults = slices.Clone(st.Faults)
	return st
}

// Set puts faults in place of those that are on; none: calls pass as they are. What the former ones still keep from
// its caller, such as an answer that never begins, ends.
func (s *Switch) Set(asked []Asked) error {
	if len(asked) > Most {
		return fmt.Errorf("there can be %d faults at once, and these are %d", Most, len(asked))
	}
	var list []fault.Fault
	active := []Active{}
	for _, a := range asked {
		f, err := parse(a)
		if err != nil {
			return err
		}
		list, active = append(list, f), append(active, Active{Asked: a, Is: f.String()})
	}
	var next *faulty
	if len(list) > 0 {
		in, err := fault.New(s.Seed, list...)
		if err != nil {
			return err
		}
		next = &faulty{in, in.Handler(s.next)}
		in.WatchHits(func(r *http.Request, fault string) {
			traffic.Hit(r.Context(), fault)
			s.count(next, fault)
		})
		in.Watch(func(x fault.Exchange) {
			s.tell(next, x.Problems)
			if s.Report != nil && len(x.Faults) > 0 {
				s.Report(faultproxy.Line(x))
			}
		})
	}
	s.mu.Lock()
	s.state.Faults, s.state.Problem = active, ""
	former := s.now.Swap(next)
	s.mu.Unlock()
	if former != nil {
		former.in.Close()
	}
	s.changed(s.State())
	return nil
}

func parse(a Asked) (fault.Fault, error) {
	i := slices.IndexFunc(faultproxy.Kinds, func(k faultproxy.Kind) bool { return k.Name == a.Kind })
	if i < 0 {
		return fault.Fault{}, fmt.Errorf("there is no kind of fault %q: there are %s", a.Kind, strings.Join(kindNames(), ", "))
	}
	f, err := faultproxy.Kinds[i].Parse(a.With)
	if err != nil {
		return f, fmt.Errorf("%s: %w", a.Kind, err)
	}
	return f, nil
}

func kindNames() (names []string) {
	for _, k := range faultproxy.Kinds {
		names = append(names, k.Name)
	}
	return names
}

// count counts a call that a fault hit.
func (s *Switch) count(of *faulty, fault string) {
	s.change(of, func(st *State) {
		for i := range st.Faults {
			if name, _, _ := strings.Cut(st.Faults[i].Is, ")"); name+")" == fault {
				st.Faults[i].Hits++
			}
		}
	})
}

// tell keeps why a fault could not be applied to a call.
func (s *Switch) tell(of *faulty, problems []error) {
	if n := len(problems); n > 0 {
		s.change(of, func(st *State) { st.Problem = problems[n-1].Error() })
	}
}

// change changes the state, unless other faults are on by now.
func (s *Switch) change(of *faulty, how func(*State)) {
	s.mu.Lock()
	if s.now.Load() != of {
		s.mu.Unlock()
		return
	}
	how(&s.state)
	s.mu.Unlock()
	s.changed(s.State())
}

// kind is one of those that there are, for the page.
type kind struct {
	Name  string `json:"name"`
	Takes string `json:"takes"`
	Usage string `json:"usage"`
}

// Serve answers GET with what is on and what there is, and PUT, which says what is to be on.
func (s *Switch) Serve(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodPut {
		var body struct {
			Faults []Asked `json:"faults"`
		}
		err := reply.Read(w, r, &body)
		if err == nil {
			err = s.Set(body.Faults)
		}
		if err != nil {
			reply.Refuse(w, http.StatusBadRequest, err.Error())
			return
		}
	}
	kinds := make([]kind, len(faultproxy.Kinds))
	for i, k := range faultproxy.Kinds {
		kinds[i] = kind{k.Name, k.Takes, k.Usage}
	}
	operations := []string{}
	for _, role := range runtime.Roles {
		if role.RPC != "" {
			operations = append(operations, role.RPC)
		}
	}
	reply.JSON(w, struct {
		State
		Kinds      []kind   `json:"kinds"`
		Operations []string `json:"operations"`
	}{s.State(), kinds, append(operations, fault.Card)})
}
