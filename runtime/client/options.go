package client

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/internal/observing"
	"github.com/a2agen/a2agen/runtime/internal/security"
	"github.com/a2agen/a2agen/runtime/observe"
)

// Limits and times of a client unless options say otherwise.
const (
	DefaultIdleTimeout  = 2 * time.Minute
	DefaultQuietTimeout = 30 * time.Minute
	defaultReattach     = 5        // attempts in a row
	defaultMaxResponse  = 64 << 20 // bytes
	defaultMaxEvent     = 16 << 20 // bytes
	defaultMaxEvents    = 250_000
	maxCard             = 1 << 20 // bytes
	maxHeader           = 1 << 20 // bytes
)

// Option configures a [Client].
type Option func(*Client)

// HTTPClient sends requests by h, for instance for a transport, proxy or certificates. h.Timeout should be zero: it
// would end live streams. The client never closes h, and follows fewer redirects than h allows.
func HTTPClient(h *http.Client) Option {
	return func(c *Client) { c.network.http, c.network.ownHTTP = h, false }
}

// DefaultHeader sends a header with every request, the fetch of the card included.
func DefaultHeader(name, value string) Option {
	return func(c *Client) { c.network.header.Add(name, value) }
}

// DefaultExtensions activates extensions on every request (A2A-Extensions, R152).
func DefaultExtensions(uris ...string) Option {
	return func(c *Client) { c.extensions = append(c.extensions, uris...) }
}

// IdleTimeout sets how long nothing may arrive before a request counts as lost: of a stream not even a heartbeat, of another answer not
// a kilobyte a second. The answer to a send may begin as late as its context allows. Zero or less: for ever.
func IdleTimeout(d time.Duration) Option { return func(c *Client) { c.network.idle = d } }

// QuietTimeout sets how long a stream may bring heartbeats, or events of unknown kinds, but no known event, before it counts as broken and is
// taken up again. Zero or less: for ever.
func QuietTimeout(d time.Duration) Option { return func(c *Client) { c.quiet = d } }

// Reattach sets how many times in a row a broken stream is taken up again by subscribing to its task without a new event; 0
// turns it off. A stream that breaks each time before it lasted ten seconds is given up after twenty times as many, even with new events.
func Reattach(attempts int) Option { return func(c *Client) { c.reattach = attempts } }

// MaxResponse limits the size of an answer in bytes, also of one that a call puts together from the events of a stream.
func MaxResponse(bytes int) Option { return func(c *Client) { c.maxResponse = bytes } }

// MaxEvent limits the size of one event of a stream in bytes, and how many bytes may come without any event that is known.
func MaxEvent(bytes int) Option { return func(c *Client) { c.maxEvent = bytes } }

// MaxEvents limits the number of events that a call puts together. [Client.Stream] has no limit.
func MaxEvents(n int) Option { return func(c *Client) { c.maxEvents = n } }

// Endpoint calls the agent at url instead of the URL of the interface in its card, for a card without the URL of the
// deployment. Version and tenant stay those of the interface.
func Endpoint(url string) Option { return func(c *Client) { c.links.endpoint = url } }

// Use adds a binding to the client, such as that of package grpcclient.
func Use(b Binding) Option {
	return func(c *Client) {
		s := &c.links
		s.bindings = slices.DeleteFunc(s.bindings, func(old Binding) bool { return strings.EqualFold(old.Name(), b.Name()) })
		s.bindings = append(s.bindings, b)
	}
}

// Prefer sets the bindings to use, the best first, by their names on cards: "GRPC", "JSONRPC", "HTTP+JSON". Without it
// all that the client speaks are used, in the order of the card. A newer protocol version comes first in any case.
func Prefer(bindings ...string) Option { return func(c *Client) { c.links.prefer = bindings } }

// Tenant calls only the interfaces of a tenant, where the card has some of several (R125). "" is those without one.
func Tenant(name string) Option { return func(c *Client) { c.links.tenant = &name } }

// WithObserver adds observers of every call.
func WithObserver(list ...observe.Observer) Option {
	return func(c *Client) { c.observers = observing.Together(append(c.observers.List, list...), nil) }
}

// CallOption configures one call. Options that shape the message (InTask to ReturnImmediately) concern calls of skills; a call
// of a protocol operation takes its message as it is.
type CallOption func(*call)

// call is one call's configuration.
type call struct {
	header      http.Header
	extensions  []string
	lastEventID string
	lastLink    *link // from which lastEventID is; nil: the caller's
	reattach    int
	whole       bool   // the events of the stream are put together, within the limits of an answer
	taskID      string // of the task that the stream has to be of; "" is that of its first event
	notices     Notices
	skill       string // its id, where the call is one of a skill
	convention  Convention
	parts       []runtime.Part // behind the input
	policy      CallPolicy
	key         string      // idempotency key of a message; "": none
	safe        bool        // the agent promises that a message with the key is worked on once
	begun       time.Time   // when the last attempt began
	first       time.Time   // when the message was first sent, where that may have reached the agent
	ownTask     bool        // the client chose the id of the message's task
	nested      *nestedCall // of a handler's call; else nil
	lost        bool        // the agent may have accepted the message, but no answer arrived
	taken       bool        // the agent has accepted it: to send it by another client would do the work twice

	grant     security.Requirement // that a task asked for beside what the card demands
	grants    int                  // how many authorizations were answered
	presented []presented          // with the last request

	data        runtime.SendRequest
	message     runtime.MessageInfo
	metadata    []member // of the message
	reqMetadata []member // of the request
	result      *Result  // is set to the result of a skill's call; nil: none
	lenient     bool     // an output that breaks its schema is decoded as far as possible
}

// member is one member of a metadata object.
type member struct {
	name  string
	value any // or an error
}

// Header sends a header with this call.
func Header(name, value string) CallOption { return func(c *call) { c.header.Add(name, value) } }

// Extensions activates extensions for this call.
func Extensions(uris ...string) CallOption {
	return func(c *call) { c.extensions = append(c.extensions, uris...) }
}

// LastEventID resumes a subscription after the event with this id, where the agent supports it.
func LastEventID(id string) CallOption { return func(c *call) { c.lastEventID = id } }

// ReattachCall is [Reattach] for one call.
func ReattachCall(attempts int) CallOption { return func(c *call) { c.reattach = attempts } }

// InTask sends the message to a task that waits or works, instead of starting a new one (A2A 1.0 §3.4).
func InTask(id string) CallOption { return func(c *call) { c.message.TaskID = id } }

// IfGeneration sends the message only to a task that has not changed since it had a generation ([Result].Generation): otherwise the error is
// runtime.ErrTaskGenerationMismatch, and the message is not accepted. It is for agents that speak a version with generations (the draft
// of A2A 1.1); for others it is an error before anything is sent.
func IfGeneration(n int64) CallOption { return func(c *call) { c.data.IfGenerationMatch = &n } }

// InContext sends the message in a conversation.
func InContext(id string) CallOption { return func(c *call) { c.message.ContextID = id } }

// MessageID sets the id of the message, which is random otherwise. Repeat it to let the agent recognise a repeated message.
func MessageID(id string) CallOption { return func(c *call) { c.message.ID = id } }

// IdempotencyKey allows the call to be made again without the work being done twice: to the same key and content the agent
// answers with the task of the first call, for as long as it keeps keys (a day by default). It is a header of agents of a2agen.
// An agent whose card promises to recognize keys gets one with every call of a skill: see [CallPolicy].
func IdempotencyKey(key string) CallOption { return func(c *call) { c.key = key } }

// SentBefore declares that the message of a call was sent before, first at t, with an unknown outcome: see [LostCallError]. An
// agent that may have forgotten messages of that time does not accept it.
func SentBefore(t time.Time) CallOption { return func(c *call) { c.first = t } }

// References names tasks that the message refers to.
func References(taskIDs ...string) CallOption {
	return func(c *call) { c.message.References = append(c.message.References, taskIDs...) }
}

// WithMetadata adds a member to the metadata of the message. The value must encode as JSON.
func WithMetadata(name string, value any) CallOption {
	return func(c *call) { c.metadata = append(c.metadata, member{name, value}) }
}

// WithRequestMetadata adds a member to the metadata of the request around the message.
func WithRequestMetadata(name string, value any) CallOption {
	return func(c *call) { c.reqMetadata = append(c.reqMetadata, member{name, value}) }
}

// AcceptModes sets the media types that the result may have.
func AcceptModes(mediaTypes ...string) CallOption {
	return func(c *call) { c.data.AcceptedOutputModes = append(c.data.AcceptedOutputModes, mediaTypes...) }
}

// Lenient decodes an output that breaks its schema as far as possible, instead of an [*OutputError]: for agents that may have changed
// since the client was made. Missing members are zero. An output of which nothing can be decoded is an error all the same.
func Lenient() CallOption { return func(c *call) { c.lenient = true } }

// ResultTo sets to to the result of a skill's call, beside its output: the task, and artifacts with their metadata.
// It is not changed when there is no output.
func ResultTo(to *Result) CallOption { return func(c *call) { c.result = to } }

// HistoryLength asks for at most n messages of history with the task; 0 asks for none (R300).
func HistoryLength(n int) CallOption { return func(c *call) { c.data.HistoryLength = &n } }

// ReturnImmediately makes the agent answer as soon as the task exists (A2A 1.0 §3.2.2). A skill call that ends before its task does
// returns a [*PendingError]; wait for the task with [Client.Await].
func ReturnImmediately() CallOption { return func(c *call) { c.data.ReturnImmediately = true } }

// WithPush makes the agent send the events of the task to a webhook of yours, with the token (A2A 1.0 §4.3). A
// push.Receiver of runtime/push receives them. An agent whose card declares no push notifications is not called.
func WithPush(url, token string) CallOption {
	return WithPushConfig(runtime.PushConfig{URL: url, Token: token})
}

// WithPushConfig is [WithPush] with a whole configuration: with an id, and the scheme and credentials of
// the header Authorization that the agent sends.
func WithPushConfig(config runtime.PushConfig) CallOption {
	return func(c *call) { c.data.Push = &config }
}

// Notices notifies of tasks that ended or wait for their client. A *push.Receiver implements it.
type Notices interface {
	// Settled returns a channel that gets a value when the task ended or waits. stop is called in the end.
	Settled(taskID string) (news <-chan struct{}, stop func())
}

// ByPush waits for a task by push notifications instead of by its stream: no connection is open while the
// task works. A skill's call returns its output all the same; combine it with [WithPush]. In case a notification is lost,
// the agent is asked twice a minute.
func ByPush(n Notices) CallOption { return func(c *call) { c.notices = n } }

// newCall applies the options over the client's defaults.
func (c *Client) newCall(opts []CallOption) *call {
	cl := &call{
		header: c.network.header.Clone(), extensions: slices.Clone(c.extensions), reattach: c.reattach, policy: c.policy,
	}
	for _, o := range opts {
		o(cl)
	}
	return cl
}
