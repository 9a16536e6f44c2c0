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

// A card may change while a client runs. The client looks when an answer suggests it, and when it is asked to
// ([CheckCards]): it has no goroutine for it. A client is made for one card and stays as it is; where the card changed
// so that other interfaces are to be called, another client takes the place of it for the calls that begin from then
// on.

const (
	// betweenChecks is how often at most a card is looked at because of an answer.
	betweenChecks = time.Minute
	// checkTime is how long a look may take.
	checkTime = 10 * time.Second
	// maxTold is how many changes observers are told of at once.
	maxTold = 100
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
	Skill string // its id; "" where it is about none
	What  string // of an interface: binding, version and URL
}

// String says it in words.
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
	// Refused is why the client does not follow the new card: a *[CardError] of one that [VerifyCard] does not trust,
	// for one. Nil: it does.
	Refused error
	Err     error // of the call
}

// Error says what changed and what to do.
func (e *CardChangedError) Error() string {
	s := fmt.Sprintf("the card of agent %q changed%s", Printable(e.Agent), listed(e.Changes))
	if e.Refused != nil {
		s += fmt.Sprintf(", and is not followed: %v", e.Refused)
	}
	return s + ": update the client (a2agen update clients) and build again: " + e.Err.Error()
}

// Unwrap returns the error of the call and why the card is not followed.
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

// CardAt says where the card is of which [FromCard] makes a client, so that the client notices when it changes. [New]
// knows it.
func CardAt(url string) Option { return func(c *Client) { c.cards.base = url } }

// CheckCards has a client look whether the card changed before the first call after every d, by a conditional request.
// Without it the client looks when an answer suggests it, once a minute at most.
func CheckCards(d time.Duration) Option { return func(c *Client) { c.cards.every = d } }

// CheckCard looks now whether the agent's card is still the one that the client was made for, and returns what is
// different. The client goes on by the new card if it can. Errors: those of the request; *[CardError].
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

// cards is what is known of an agent's card since a client was made. It looks whether the card changed, and has calls
// made by a client for the newest one. The clients that take the place of one another share it.
type cards struct {
	base   string // URL of agent or card; "": not known
	every  time.Duration
	latest atomic.Pointer[Client] // for the newest card; nil: the first
	// Before these times, in Unix nanoseconds, nothing is looked at: because of an answer, and without one.
	next, due atomic.Int64

	mu       sync.Mutex // of a look, and of all that follows
	from     string     // URL that the card was fetched from, with the ETag that it had; "" for none
	etag     string
	first    *shape // of the card that the client was made for
	changes  []CardChange
	refused  error
	old      []*Client // that were replaced, with connections of their own
	warnings []string
}

// current is the client for the newest card, after a look at that if it is time for one; c where there is no newer one.
func (w *cards) current(ctx context.Context, c *Client) *Client {
	if w.every > 0 && w.base != "" && past(&w.due) {
		_ = w.inspect(ctx, c, &w.due) // a card that cannot be had now is had later
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

// inspect looks at the card if the time for it has come (nil: in any case), and tells the observers what changed. Who
// comes while another call looks waits for that, [checkTime] at most.
func (w *cards) inspect(ctx context.Context, c *Client, due *atomic.Int64) error {
	w.mu.Lock()
	var told *observe.CardChange
	var err error
	if due == nil || past(due) {
		told, err = w.look(ctx, w.newest(c))
	}
	w.mu.Unlock()
	if told != nil {
		c.observers.CardChanged(ctx, told)
	}
	return err
}

// looked notes that the card was looked at, because of an answer or, with 0, in the beginning.
func (w *cards) looked(pause time.Duration) {
	now := time.Now()
	w.next.Store(now.Add(pause).UnixNano())
	w.due.Store(now.Add(w.every).UnixNano())
}

// look fetches the card and follows it if it changed. now is the client for the newest card. It returns what observers
// are to be told, nil for nothing. Callers must hold w.mu.
func (w *cards) look(ctx context.Context, now *Client) (*observe.CardChange, error) {
	w.looked(betweenChecks)
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
		return w.tell(now, nil, err), err
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
		err = now.mayBeFollowedBy(next)
	}
	if err != nil || slices.Equal(now.links.interfaces(), next.links.interfaces()) {
		next.links.close()
		next.links.all = now.links.all
	}
	if err == nil {
		w.replace(now, next)
	}
	return w.tell(now, w.first.changes(shape), err), nil
}

// keptClients is how many clients for earlier cards keep their connections, for calls that began with them.
const keptClients = 4

// replace has calls that begin from now on made by the next client. Callers must hold w.mu.
func (w *cards) replace(now, next *Client) {
	w.latest.Store(next)
	if &now.links.all[0] == &next.links.all[0] {
		return
	}
	if w.old = append(w.old, now); len(w.old) > keptClients {
		w.old[0].links.close()
		w.old = w.old[1:]
	}
}

// close lets go of the connections of all clients but the first.
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

// mayBeFollowedBy reports why calls must not go where a new card says: in clear text instead of encrypted, for another
// tenant, or to another host by a card that anybody on the way could have written.
func (c *Client) mayBeFollowedBy(next *Client) error {
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

// tell warns of changes, and returns them for the observers, once each; nil when all was told. Callers must hold w.mu.
func (w *cards) tell(c *Client, changes []CardChange, refused error) *observe.CardChange {
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
	told := &observe.CardChange{
		Agent: Printable(c.agent.info.Name), Peer: peerOf(c.links.all[0].iface.URL), Followed: refused == nil,
	}
	for _, change := range fresh[:min(len(fresh), maxTold)] {
		told.Changes = append(told.Changes, change.String())
	}
	return told
}

// noticed is what becomes of a call that failed with err, if that may come of a card that changed. It returns the
// client with which the call is made again, where nothing of it was carried out and the new card has other interfaces;
// else the error, with the changes that it may come of.
func (w *cards) noticed(ctx context.Context, c *Client, skill string, cl *call, err error) (*Client, error) {
	var output *OutputError
	suspicious := undone(err) || errors.As(err, &output) || errors.Is(err, runtime.ErrInvalidParams) ||
		errors.Is(err, runtime.ErrContentTypeNotSupported) || errors.Is(err, runtime.ErrUnauthenticated)
	if w.base == "" || ctx.Err() != nil || !suspicious {
		return nil, err
	}
	_ = w.inspect(ctx, c, &w.next) // whether or not the card can be had, the call failed
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

// undone reports whether an error says that there is nothing, or nothing of that version, where a request was sent: it
// was not carried out.
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
	offers     [4]bool // streaming, push notifications, an extended card, to know keys
}

// skillShape is what callers depend on in a skill.
type skillShape struct{ input, output, rest any }

// shapeOf reads the card as the newest version writes it. What cannot be read is empty.
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

// changes lists what is different in another shape.
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

// missing are those of one list that another does not have, in linear time.
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
