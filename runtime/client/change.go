package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/observe"
)

// A card may change while a client runs. The client checks it when an answer suggests a change, and at intervals with [CheckCards], without a
// goroutine. A client is made for one card and never changes; for a new card another client takes its place for the calls that begin from then
// on.

const (
	// betweenChecks is the least time between two checks because of an answer.
	betweenChecks = time.Minute
	// checkTime limits a check.
	checkTime = 10 * time.Second
	// maxReported limits the changes that are reported to observers at once.
	maxReported = 100
	// maxValidator is the largest ETag that is kept, in bytes.
	maxValidator = 1 << 10
)

// ChangeKind is what changed in a card.
type ChangeKind string

// The kinds of changes.
const (
	ChangeSkillGone     ChangeKind = "skill gone"
	ChangeSkillNew      ChangeKind = "skill added"
	ChangeInput         ChangeKind = "input of a skill changed"
	ChangeOutput        ChangeKind = "output of a skill changed"
	ChangeSkill         ChangeKind = "skill changed otherwise" // its modes or requirements, say
	ChangeInterfaceGone ChangeKind = "interface gone"
	ChangeInterfaceNew  ChangeKind = "interface added"
	ChangeSecurity      ChangeKind = "security changed"
	ChangeOffers        ChangeKind = "capabilities changed"
)

// CardChange is one change of a card that matters to callers.
type CardChange struct {
	Kind  ChangeKind
	Skill string // the id of the skill; "" for other changes
	What  string // of an interface: binding, version and URL
}

// String renders the kind, with the skill or the interface.
func (c CardChange) String() string {
	switch {
	case c.Skill != "":
		return fmt.Sprintf("%s: %q", c.Kind, Printable(c.Skill))
	case c.What != "":
		return fmt.Sprintf("%s: %s", c.Kind, Printable(c.What))
	}
	return string(c.Kind)
}

// CardChangedError is a call that failed, of an agent whose card is no longer the one that the client was made for. The
// call may succeed with a client that is generated for the present card.
type CardChangedError struct {
	Agent   string // its name
	Changes []CardChange
	// Refused is the reason why the client does not use the new card, such as a *[CardError] with [VerifyCard]; nil if it does.
	Refused error
	Err     error // of the call
}

// Error renders the changes and the remedy.
func (e *CardChangedError) Error() string {
	s := fmt.Sprintf("the card of agent %q changed%s", Printable(e.Agent), listed(e.Changes))
	if e.Refused != nil {
		s += fmt.Sprintf(", and is not followed: %v", e.Refused)
	}
	return s + ": update the client (a2agen update clients) and build again: " + e.Err.Error()
}

// Unwrap returns the error of the call and the reason why the new card is not used.
func (e *CardChangedError) Unwrap() []error {
	if e.Refused == nil {
		return []error{e.Err}
	}
	return []error{e.Err, e.Refused}
}

// listed are the first of some changes in words, in parentheses.
func listed(list []CardChange) string {
	if len(list) == 0 {
		return ""
	}
	var all []string
	for _, c := range list[:min(len(list), 8)] {
		all = append(all, c.String())
	}
	if more := len(list) - len(all); more > 0 {
		all = append(all, fmt.Sprintf("and %d more", more))
	}
	return " (" + strings.Join(all, ", ") + ")"
}

// CardAt sets the URL of the card that is given to [FromCard], so that the client notices when the card changes.
func CardAt(url string) Option { return func(c *Client) { c.cards.base = url } }

// CheckCards checks whether the card changed, by a conditional request, before the first call after every d.
// Without it the client checks when an answer suggests a change, once a minute at most.
func CheckCards(d time.Duration) Option { return func(c *Client) { c.cards.every = d } }

// CheckCard checks now whether the agent's card is still the one that the client was made for, and returns the changes. The client uses the new
// card from then on if it can. Errors: those of the request; *[CardError].
func (c *Client) CheckCard(ctx context.Context) ([]CardChange, error) {
	w := c.cards
	if w.base == "" {
		return nil, errors.New("the client was made of a card and does not know where that is: use CardAt")
	}
	err := w.inspect(ctx, c, nil)
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.changes), err
}

// cards checks whether an agent's card changed since a client was made, and holds the client for the newest card. The clients that take the
// place of one another share it.
type cards struct {
	base   string // URL of agent or card; "": not known
	every  time.Duration
	latest atomic.Pointer[Client] // for the newest card; nil: the first
	// The times, in Unix nanoseconds, of the next check because of an answer, and of the next one at an interval.
	next, due atomic.Int64

	mu       sync.Mutex // held during a check; protects all that follows
	from     string     // URL that the card was fetched from, with its ETag; "" for none
	etag     string
	first    *shape // of the card that the client was made for
	changes  []CardChange
	refused  error
	old      []*Client // that were replaced, with connections of their own
	warnings []string
}

// current is the client for the newest card, after a check if one is due; c where there is no newer one.
func (w *cards) current(ctx context.Context, c *Client) *Client {
	if w.every > 0 && w.base != "" && past(&w.due) {
		_ = w.inspect(ctx, c, &w.due) // a card that cannot be fetched now is fetched later
	}
	return w.newest(c)
}

// newest is the client for the newest card; c where there is none but that.
func (w *cards) newest(c *Client) *Client {
	if newer := w.latest.Load(); newer != nil {
		return newer
	}
	return c
}

// past reports whether a time in Unix nanoseconds is over.
func past(at *atomic.Int64) bool { return time.Now().UnixNano() >= at.Load() }

// inspect checks the card if that is due (nil: in any case), and notifies the observers of changes. A call that comes during the check of
// another waits for it, [checkTime] at most.
func (w *cards) inspect(ctx context.Context, c *Client, due *atomic.Int64) error {
	w.mu.Lock()
	var change *observe.CardChange
	var err error
	if due == nil || past(due) {
		change, err = w.check(ctx, w.newest(c))
	}
	w.mu.Unlock()
	if change != nil {
		c.observers.CardChanged(ctx, change)
	}
	return err
}

// checked sets the times of the next checks: after the pause if an answer suggests a change.
func (w *cards) checked(pause time.Duration) {
	now := time.Now()
	w.next.Store(now.Add(pause).UnixNano())
	w.due.Store(now.Add(w.every).UnixNano())
}

// check fetches the card and uses it if it changed. now is the client for the newest card. It returns the change to report to observers, nil for
// none. Callers must hold w.mu.
func (w *cards) check(ctx context.Context, now *Client) (*observe.CardChange, error) {
	w.checked(betweenChecks)
	ctx, done := context.WithTimeout(ctx, checkTime)
	defer done()
	next := new(Client) // with the same options and no card
	*next = *now
	next.agent = agentCard{protocol: now.protocol, verifier: now.agent.verifier}
	next.links.version, next.links.all = nil, nil
	next.credentials.schemes, next.credentials.given = nil, maps.Clone(now.credentials.given)
	next.network.ownHTTP = false
	card, err := next.agent.fetch(ctx, &next.network, w.base, w)
	var status *HTTPError
	var untrusted *CardError
	switch {
	case errors.As(err, &status) && status.Status == http.StatusNotModified:
		return nil, nil
	case errors.As(err, &untrusted):
		return w.report(now, nil, err), err
	case err != nil:
		return nil, err
	}
	if w.first == nil {
		w.first = shapeOf(now.protocol, now.agent.card)
	}
	shape := shapeOf(now.protocol, card)
	if reflect.DeepEqual(shapeOf(now.protocol, now.agent.card), shape) {
		w.refused = nil
		return nil, nil
	}
	if err = next.useCard(card); err == nil {
		err = now.checkNext(next)
	}
	if err != nil || slices.Equal(now.links.interfaces(), next.links.interfaces()) {
		next.links.close()
		next.links.all = now.links.all
	}
	if err == nil {
		w.latest.Store(next)
	}
	if err == nil && &now.links.all[0] != &next.links.all[0] {
		if w.old = append(w.old, now); len(w.old) > keptClients {
			w.old[0].links.close()
			w.old = w.old[1:]
		}
	}
	return w.report(now, w.first.changes(shape), err), nil
}

// keptClients is how many clients for earlier cards keep their connections, for calls that began with them.
const keptClients = 4

// close closes the connections of all clients but the first.
func (w *cards) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range w.old {
		c.links.close()
	}
	if newer := w.latest.Load(); newer != nil {
		newer.links.close()
	}
}

// checkNext returns an error if calls must not go by a new card: it has them in clear text instead of encrypted, for another
// tenant, or to another host though the card could have been changed on the way.
func (c *Client) checkNext(next *Client) error {
	switch {
	case c.links.all[0].conn.Secure() && !next.links.all[0].conn.Secure():
		return errors.New("it has calls in clear text, which were encrypted")
	case c.Tenant() != next.Tenant():
		return errors.New("it is for another tenant")
	case c.network.atHTTPS || c.agent.verifier != nil:
		return nil
	}
	known := map[string]bool{}
	for _, l := range c.links.all {
		known[hostOf(l.iface.URL)] = true
	}
	for _, l := range next.links.all {
		if !known[hostOf(l.iface.URL)] {
			return errors.New("it has calls at another host, and came neither over https nor with a signature that is verified")
		}
	}
	return nil
}

// report adds a warning of changes, and returns those that were not reported before, for the observers; nil for none. Callers must hold w.mu.
func (w *cards) report(c *Client, changes []CardChange, refused error) *observe.CardChange {
	fresh := missing(changes, w.changes)
	again := refused == nil || w.refused != nil && w.refused.Error() == refused.Error()
	if changes != nil || refused == nil {
		w.changes = changes
	}
	w.refused = refused
	if len(fresh) == 0 && again {
		return nil
	}
	warning := "the agent's card changed since the client was made" + listed(fresh)
	if refused != nil {
		warning += ", and is not followed: " + refused.Error()
	}
	w.warnings = append(w.warnings[max(0, len(w.warnings)-50):], warning)
	change := &observe.CardChange{
		Agent: Printable(c.agent.info.Name), Peer: peerOf(c.links.all[0].iface.URL), Followed: refused == nil,
	}
	for _, one := range fresh[:min(len(fresh), maxReported)] {
		change.Changes = append(change.Changes, one.String())
	}
	return change
}

// failed checks the card after a call that failed with err, if a change may be the reason. It returns the
// client with which the call is made again, where nothing of it was carried out and the new card has other interfaces;
// else the error, with the changes that may be the reason.
func (w *cards) failed(ctx context.Context, c *Client, skill string, cl *call, err error) (*Client, error) {
	var output *OutputError
	suspicious := undone(err) || errors.As(err, &output) || errors.Is(err, runtime.ErrInvalidParams) ||
		errors.Is(err, runtime.ErrContentTypeNotSupported) || errors.Is(err, runtime.ErrUnauthenticated)
	if w.base == "" || ctx.Err() != nil || !suspicious {
		return nil, err
	}
	_ = w.inspect(ctx, c, &w.next) // the error of the call counts
	next := w.latest.Load()
	moved := next != nil && next != c && !slices.Equal(next.agent.info.Interfaces, c.agent.info.Interfaces)
	if moved && !cl.lost && !cl.taken && undone(err) {
		if cl.ownTask { // it was chosen for the version in which the message was sent
			cl.ownTask, cl.message.TaskID = false, ""
		}
		cl.lastLink, cl.lastEventID = nil, ""
		return next, nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	var relevant []CardChange
	for _, change := range w.changes {
		if change.Skill != "" && change.Skill == skill ||
			change.Kind == ChangeSecurity && errors.Is(err, runtime.ErrUnauthenticated) ||
			change.Kind == ChangeInterfaceGone && w.refused != nil && undone(err) {
			relevant = append(relevant, change)
		}
	}
	if len(relevant) == 0 && (w.refused == nil || !undone(err)) {
		return nil, err
	}
	return nil, &CardChangedError{Agent: c.agent.info.Name, Changes: relevant, Refused: w.refused, Err: err}
}

// undone reports whether a request was not carried out because there is no agent, or none that speaks its version, where it was sent.
func undone(err error) bool {
	var status *HTTPError
	return unsent(err) || errors.As(err, &status) && status.missing() ||
		errors.Is(err, runtime.ErrMethodNotFound) || errors.Is(err, runtime.ErrVersionNotSupported) ||
		errors.Is(err, runtime.ErrUnsupportedOperation) || errors.Is(err, runtime.ErrExtensionSupportRequired)
}

// shape is what callers depend on in a card.
type shape struct {
	skills     map[string]skillShape
	interfaces []string
	security   []any
	offers     [4]bool // streaming, push notifications, an extended card, idempotency keys
}

// skillShape is what callers depend on in a skill.
type skillShape struct{ input, output, rest any }

// shapeOf reads the card as the newest version writes it. A part that cannot be read is empty.
func shapeOf(p *runtime.Protocol, card runtime.Card) *shape {
	s := &shape{skills: map[string]skillShape{}}
	src, err := p.Versions[0].AppendCard(nil, card)
	var doc struct {
		Skills                                []map[string]any
		SecuritySchemes, SecurityRequirements any
		DefaultInputModes, DefaultOutputModes any
		Security                              any
	}
	if err != nil || json.Unmarshal(src, &doc) != nil {
		return s
	}
	s.security = []any{doc.SecuritySchemes, doc.SecurityRequirements, doc.Security}
	info := card.CardInfo()
	s.offers = [4]bool{info.Streaming, info.Push, info.Extended, knowsKeys(info.Extensions)}
	for _, i := range info.Interfaces {
		s.interfaces = append(s.interfaces, i.Binding+" "+i.Version+" at "+i.URL)
	}
	var contracts map[string]struct{ Input, Output any } // that the skills extension has
	for _, e := range info.Extensions {
		all := contracts
		raw, ok := e.Params.Get("skills")
		if ok && contracts == nil && runtime.IsSkillsExtension(e.URI) && json.NewDecoder(bytes.NewReader(raw)).Decode(&all) == nil {
			contracts = all
		}
	}
	for _, skill := range doc.Skills {
		id, _ := skill["id"].(string)
		for _, cosmetic := range []string{"id", "name", "description", "tags", "examples"} {
			delete(skill, cosmetic)
		}
		contract := contracts[id]
		rest := []any{skill, doc.DefaultInputModes, doc.DefaultOutputModes}
		s.skills[id] = skillShape{contract.Input, contract.Output, rest}
	}
	return s
}

// changes lists the differences of another shape.
func (s *shape) changes(now *shape) (list []CardChange) {
	for id, old := range s.skills {
		skill, ok := now.skills[id]
		switch {
		case !ok:
			list = append(list, CardChange{Kind: ChangeSkillGone, Skill: id})
			continue
		case !reflect.DeepEqual(old.input, skill.input):
			list = append(list, CardChange{Kind: ChangeInput, Skill: id})
		}
		if !reflect.DeepEqual(old.output, skill.output) {
			list = append(list, CardChange{Kind: ChangeOutput, Skill: id})
		}
		if !reflect.DeepEqual(old.rest, skill.rest) {
			list = append(list, CardChange{Kind: ChangeSkill, Skill: id})
		}
	}
	for id := range now.skills {
		if _, ok := s.skills[id]; !ok {
			list = append(list, CardChange{Kind: ChangeSkillNew, Skill: id})
		}
	}
	for _, gone := range missing(s.interfaces, now.interfaces) {
		list = append(list, CardChange{Kind: ChangeInterfaceGone, What: gone})
	}
	for _, added := range missing(now.interfaces, s.interfaces) {
		list = append(list, CardChange{Kind: ChangeInterfaceNew, What: added})
	}
	if !reflect.DeepEqual(s.security, now.security) {
		list = append(list, CardChange{Kind: ChangeSecurity})
	}
	if s.offers != now.offers {
		list = append(list, CardChange{Kind: ChangeOffers})
	}
	slices.SortFunc(list, func(a, b CardChange) int { return strings.Compare(a.String(), b.String()) })
	return list
}

// missing returns the elements of one list that another does not have, in linear time.
func missing[T comparable](from, in []T) (list []T) {
	has := make(map[T]bool, len(in))
	for _, v := range in {
		has[v] = true
	}
	for _, v := range from {
		if !has[v] {
			list = append(list, v)
		}
	}
	return list
}
