package record

import (
	"cmp"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// asked is a request of this run, as recordings have requests.
type asked struct {
	frame
	id any // of JSON-RPC; nil: none
}

// ask reads a request. Callers must hold p.mu.
func (p *Player) ask(req *http.Request, sent []byte) *asked {
	if p.origin == "" {
		p.origin = req.URL.Scheme + "://" + req.URL.Host
		p.masker.origin = p.origin
	}
	m := p.masker
	m.findIn(req.URL, req.Header)
	a := &asked{frame: requestFrame(req, sent)}
	walk(a.Body, place{}, m.findText)
	if isRPC(a.Body) {
		a.id = object(a.Body)["id"]
		delete(object(a.Body), "id")
		a.Operation, _ = object(a.Body)["method"].(string)
	}
	m.clean(&a.frame, false)
	return a
}

// match finds the recorded exchange for a request, and marks it as used.
func (p *Player) match(req *http.Request, sent []byte) (int, *asked, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	a := p.ask(req, sent)
	for i := p.first; i < len(p.rec.exchanges); i++ {
		if p.used[i] {
			continue
		}
		m := p.matcher()
		if !m.request(&p.rec.exchanges[i].request, &a.frame) {
			continue
		}
		for name, id := range m.new {
			p.bound[name], p.names[id] = id, name
		}
		p.used[i] = true
		for p.first < len(p.used) && p.used[p.first] {
			p.first++
		}
		close(p.changed)
		p.changed = make(chan struct{})
		return i, a, nil
	}
	if i := p.lastCard(a); i >= 0 {
		return i, a, nil
	}
	return 0, nil, p.mismatch(a)
}

// lastCard is the last exchange in which the card was fetched that a request fetches; -1 without. A card may be
// fetched more often than it was.
func (p *Player) lastCard(a *asked) int {
	for i := len(p.rec.exchanges) - 1; i >= 0 && isCard(a.Method, a.Path); i-- {
		x := p.rec.exchanges[i]
		same := x.request.Method == a.Method && x.request.Path == a.Path
		if same && x.answer != nil && x.answer.Status == http.StatusOK {
			return i
		}
	}
	return -1
}

// matcher compares a request with a recorded one.
type matcher struct {
	player *Player
	new    map[string]string // names → ids that they stand for if the requests are the same
	ids    map[string]string // the other way round
	whole  bool              // goes on after a difference, to find all names
	failed bool
}

func (p *Player) matcher() *matcher {
	return &matcher{player: p, new: map[string]string{}, ids: map[string]string{}}
}

// differ notes a difference. It reports whether to go on.
func (m *matcher) differ() bool {
	m.failed = true
	return m.whole
}

// request reports whether a request is the recorded one.
func (m *matcher) request(rec, got *frame) bool {
	ok := rec.Method == got.Method && rec.Operation == got.Operation || m.differ()
	ok = ok && m.path(rec.Path, got.Path)
	ok = ok && m.query(parseQuery(rec.Query), parseQuery(got.Query))
	ok = ok && m.text(rec.Header["Last-Event-ID"], got.Header["Last-Event-ID"], place{member: "lastEventId"})
	ok = ok && m.value(rec.Body, got.Body, place{})
	ok = ok && (rec.Text == got.Text && string(rec.Bytes) == string(got.Bytes) || m.differ())
	return ok && !m.failed
}

// path compares paths: an id may be in each segment.
func (m *matcher) path(rec, got string) bool {
	a, b := strings.Split(rec, "/"), strings.Split(got, "/")
	if len(a) != len(b) {
		return m.differ()
	}
	for i := range a {
		id, verb, _ := strings.Cut(a[i], ":")
		gotID, gotVerb, _ := strings.Cut(b[i], ":")
		at := place{}
		if i > 0 {
			at.member = collections[a[i-1]]
		}
		if !m.text(unescaped(id), unescaped(gotID), at) || verb != gotVerb && !m.differ() {
			return false
		}
	}
	return true
}

// query compares queries. Parameters that are masked do not count.
func (m *matcher) query(rec, got url.Values) bool {
	secret := func(_ string, v []string) bool { return slices.Contains(v, masked) }
	maps.DeleteFunc(rec, secret)
	maps.DeleteFunc(got, secret)
	if len(rec) != len(got) && !m.differ() {
		return false
	}
	for name, values := range rec {
		if len(values) != len(got[name]) {
			if !m.differ() {
				return false
			}
			continue
		}
		for i, v := range values {
			if !m.text(v, got[name][i], place{member: name}) {
				return false
			}
		}
	}
	return true
}

// value compares JSON.
func (m *matcher) value(rec, got any, at place) bool {
	switch rec := rec.(type) {
	case map[string]any:
		other, ok := got.(map[string]any)
		if !ok {
			return m.differ()
		}
		for _, name := range slices.Sorted(maps.Keys(rec)) {
			value, ok := other[name]
			if m.ignored(name) {
				continue
			}
			if !ok && !m.differ() || ok && !m.value(rec[name], value, at.in(name, rec)) {
				return false
			}
		}
		for name := range other {
			if _, ok := rec[name]; !ok && !m.ignored(name) {
				return m.differ()
			}
		}
		return true
	case []any:
		other, ok := got.([]any)
		if (!ok || len(rec) != len(other)) && !m.differ() {
			return false
		}
		for i := range min(len(rec), len(other)) {
			if !m.value(rec[i], other[i], at) {
				return false
			}
		}
		return true
	case string:
		other, ok := got.(string)
		if !ok {
			return m.differ()
		}
		return m.text(rec, other, at)
	}
	return rec == got || m.differ()
}

// ignored reports whether the member of this name does not count.
func (m *matcher) ignored(name string) bool {
	plain := plainName(name)
	return m.player.config.ignored[plain] || traceMembers[plain]
}

// sameButMasked reports whether a text is a recorded one with anything in the place of what was masked in that.
func sameButMasked(rec, got string) bool {
	first, rest, found := strings.Cut(rec, masked)
	if !found {
		return false
	}
	got, ok := strings.CutPrefix(got, first)
	for ok && found {
		first, rest, found = strings.Cut(rest, masked)
		if !found {
			break
		}
		_, got, ok = strings.Cut(got, first)
	}
	return ok && strings.HasSuffix(got, first)
}

// text compares strings. What was masked is not known, times go on, and an id that a program made stands for the name
// that the recording has for it, from then on.
func (m *matcher) text(rec, got string, at place) bool {
	switch {
	case rec == got, sameButMasked(rec, got), sameButMasked(rec, m.named(got)):
		return true
	case timeMembers[plainName(at.member)] && !at.payload:
		return true
	case m.named(got) == rec:
		return true
	}
	// A name can stand for an id of the client's if neither stands for another one.
	p := m.player
	free := p.rec.seen[rec] && p.bound[rec] == "" && m.new[rec] == "" && p.names[got] == "" && m.ids[got] == ""
	if isName(rec) && idKind(at) != "" && machineMade(got) && free {
		m.new[rec], m.ids[got] = got, rec
		return true
	}
	return m.differ()
}

// named is a text of this run with the names of the recording in the place of ids: of the text, or of words in it.
func (m *matcher) named(s string) string {
	nameOf := func(id string) string { return cmp.Or(m.ids[id], m.player.names[id]) }
	if name := nameOf(s); name != "" {
		return name
	}
	var b strings.Builder
	for from := 0; from < len(s); {
		to := from
		for to < len(s) && strings.IndexByte(bytesOfIDs, s[to]) >= 0 {
			to++
		}
		b.WriteString(cmp.Or(nameOf(s[from:to]), s[from:to]))
		if to < len(s) {
			b.WriteByte(s[to])
			to++
		}
		from = to
	}
	return b.String()
}

// bytesOfIDs can be part of an id within a text.
const bytesOfIDs = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_"
