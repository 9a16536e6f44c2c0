package names

import "strconv"

// Scope hands out names that must differ from one another, such as the fields of a struct or the files of a package.
// It depends on nothing but the order of the calls. The zero value is not usable; make one with [NewScope].
type Scope struct{ taken map[string]bool }

// NewScope returns a scope in which the reserved names are taken.
func NewScope(reserved ...string) *Scope {
	s := &Scope{taken: make(map[string]bool, len(reserved))}
	for _, name := range reserved {
		s.taken[name] = true
	}
	return s
}

// Take returns wanted if it is free in the scope, else wanted with the first free number from 2 on.
func (s *Scope) Take(wanted string) string {
	got := wanted
	for n := 2; s.taken[got] || got != wanted && special(got); n++ {
		got = numbered(wanted, n)
	}
	s.taken[got] = true
	return got
}

// numbered puts n behind name, apart from a digit that name already ends in.
func numbered(name string, n int) string {
	if last := name[len(name)-1:]; last >= "0" && last <= "9" {
		name += "_"
	}
	return name + strconv.Itoa(n)
}

// Has reports whether name is taken or reserved.
func (s *Scope) Has(name string) bool { return s.taken[name] }
