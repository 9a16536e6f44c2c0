package names

import "strconv"

// Scope hands out names that must differ from one another, such as the fields of a struct or the files of a package.
// It depends on nothing but the order of the calls. The zero value is not usable; make one with [NewScope].
type Scope struct {
	owner      map[string]string // name taken → source that took it; "" for a reserved one
	collisions []Collision
}

// Collision says that a source could not have the name it wanted.
type Collision struct {
	Source string // what wanted the name: a skill id, a field name
	Wanted string
	Got    string
	// Owner is the source that has the name; empty when the name is reserved.
	Owner string
}

// NewScope returns a scope in which the reserved names are taken.
func NewScope(reserved ...string) *Scope {
	s := &Scope{owner: make(map[string]string, len(reserved))}
	for _, name := range reserved {
		s.owner[name] = ""
	}
	return s
}

// Take returns wanted if it is free in the scope, else wanted with the first free number from 2 on. source says who
// asks; it is only reported.
func (s *Scope) Take(source, wanted string) string {
	owner, taken := s.owner[wanted]
	if !taken {
		s.owner[wanted] = source
		return wanted
	}
	for n := 2; ; n++ {
		got := numbered(wanted, n)
		if _, taken := s.owner[got]; taken || special(got) {
			continue
		}
		s.owner[got] = source
		s.collisions = append(s.collisions, Collision{Source: source, Wanted: wanted, Got: got, Owner: owner})
		return got
	}
}

// numbered puts n behind name, apart from a digit that name already ends in.
func numbered(name string, n int) string {
	if last := name[len(name)-1:]; last >= "0" && last <= "9" {
		name += "_"
	}
	return name + strconv.Itoa(n)
}

// Has reports whether name is taken or reserved.
func (s *Scope) Has(name string) bool {
	_, ok := s.owner[name]
	return ok
}

// Collisions returns what had to be renamed, in the order of the calls.
func (s *Scope) Collisions() []Collision { return s.collisions }
