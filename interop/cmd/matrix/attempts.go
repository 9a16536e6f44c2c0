package main

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/a2agen/a2agen/interop/internal/desk"
)

// attempt is one call of an agent with what the caller has. The SDK's own hook has to bring it to the agent, by what the
// card says. Callers of other languages read it as a line of JSON.
type attempt struct {
	URL     string  `json:"url"`
	Version string  `json:"version"`
	Binding string  `json:"binding"`
	Stream  bool    `json:"stream"`
	Secrets secrets `json:"secrets"` // by the names of schemes
	CA      string  `json:"ca"`      // of the agent, in PEM; "": it does not speak TLS
	Cert    string  `json:"cert"`    // the client's
	Key     string  `json:"key"`
}

// say is the message that is sent.
func (a *attempt) say() string {
	if a.Stream {
		return "tell"
	}
	return "hello"
}

// caller makes attempts.
type caller interface {
	Try(ctx context.Context, a *attempt) *desk.Answer
}

// entry is how one peer gets into one agent.
type entry struct {
	scheme *scheme
	keys   *keyring
	caller caller
	url    string
	spoken spoken
}

// Checks of every scheme.
const (
	right   = "right"   // the caller is let in
	wrong   = "wrong"   // such as are not good are refused, and the client says so
	missing = "missing" // so are none
	narrow  = "scope"   // so are those that may too little, in another way
)

// visit makes the checks.
func (e *entry) visit(ctx context.Context) []desk.Result {
	results := []desk.Result{
		{Check: right, Fault: faultOf(e.enters(ctx))},
		{Check: wrong, Fault: faultOf(e.refused(ctx, e.scheme.wrong(e.keys), unknown))},
		{Check: missing, Fault: faultOf(e.refused(ctx, nil, unknown))},
	}
	if e.scheme.narrow != nil {
		err := e.refused(ctx, e.scheme.narrow(e.keys), denied)
		results = append(results, desk.Result{Check: narrow, Fault: faultOf(err)})
	}
	return results
}

func faultOf(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// try makes an attempt. A certificate is shown as files.
func (e *entry) try(ctx context.Context, s secrets, stream bool) *desk.Answer {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	a := &attempt{URL: e.url, Version: e.spoken.version, Binding: e.spoken.binding, Stream: stream, Secrets: s}
	if e.scheme.tls {
		shown := e.keys.clients[s[certificate]]
		a.Secrets, a.CA, a.Cert, a.Key = nil, e.keys.authority, shown.cert, shown.key
	}
	return e.caller.Try(ctx, a)
}

// enters: the agent answers, and tells its story.
func (e *entry) enters(ctx context.Context) error {
	a := e.try(ctx, e.scheme.right(e.keys), false)
	if said := desk.Text(a.Message); said != desk.Greeting {
		return fmt.Errorf("the answer is %q %s", said, a.Error)
	}
	a = e.try(ctx, e.scheme.right(e.keys), true)
	story := ""
	for _, event := range a.Events {
		story += event.Text
	}
	if story != strings.Join(desk.Lines, "") {
		return fmt.Errorf("the story is %q %s", story, a.Error)
	}
	return nil
}

// How clients tell of errors: by the status of HTTP, the code of JSON-RPC, or in words.
var (
	unknown = regexp.MustCompile(`(?i)\b(31)?401\b|unauthenticated|authentication failed`)
	denied  = regexp.MustCompile(`(?i)\b(31)?403\b|permission[_ ]?denied|authorization failed`)
)

// refused: no message gets in, and the client tells why. Who shows a certificate of somebody else does not get as far as that.
func (e *entry) refused(ctx context.Context, s secrets, why *regexp.Regexp) error {
	for _, stream := range []bool{false, true} {
		a := e.try(ctx, s, stream)
		switch {
		case a.Error == "":
			return errors.New("it is let in")
		case s[certificate] == wrongClient:
		case !why.MatchString(a.Error):
			return fmt.Errorf("the error is %q", a.Error)
		}
	}
	return nil
}

// cardForm is the direction of rows that tell how the card of 1.0 is read, of an agent that demands a token with a scope.
const cardForm = "card of 1.0"

// Checks of that.
const (
	specified = "as specified"
	asLists   = "with lists" // as "requirements: list" has it
)

// secured are our agents by what they demand, at index 1 with lists on their cards.
type secured struct {
	keys *keyring
	urls map[*scheme][2]string
}

// startSecured starts them.
func startSecured(dir string) (s *secured, stop func(), err error) {
	s = &secured{urls: map[*scheme][2]string{}}
	if s.keys, err = newKeyring(dir); err != nil {
		return nil, nil, err
	}
	stops := []func(){s.keys.issuer.stop}
	stop = func() {
		for _, f := range stops {
			f()
		}
	}
	for _, demanded := range schemes {
		var urls [2]string
		for i := range urls {
			url, end, err := demanded.start(s.keys, i == 1)
			if err != nil {
				stop()
				return nil, nil, fmt.Errorf("our agent that demands %s: %w", demanded.name, err)
			}
			urls[i], stops = url, append(stops, end)
		}
		s.urls[demanded] = urls
	}
	return s, stop, nil
}

// admit lets a peer into all of them, over what it speaks.
func (r *report) admit(ctx context.Context, p *peer, dir string, s *secured) {
	c, stop, err := p.caller(dir)
	if err != nil {
		r.fail(fmt.Errorf("%s with credentials: %w", p.name, err))
		return
	}
	defer stop()
	form := 0
	if p.lists {
		form = 1
	}
	for _, spoken := range p.calls {
		for _, demanded := range schemes {
			if among(demanded.speaks(), spoken) {
				e := &entry{demanded, s.keys, c, s.urls[demanded][form], spoken}
				r.add(row{p.name, demanded.name, spoken, e.visit(ctx)})
			}
		}
	}
	if spoken := p.calls[0]; spoken.version == "1.0" {
		row := row{peer: p.name, direction: cardForm, spoken: spoken}
		oauth := schemes[slices.IndexFunc(schemes, func(s *scheme) bool { return s.narrow != nil })]
		for i, check := range []string{specified, asLists} {
			e := &entry{oauth, s.keys, c, s.urls[oauth][i], spoken}
			row.results = append(row.results, desk.Result{Check: check, Fault: faultOf(e.enters(ctx))})
		}
		r.add(row)
	}
}
