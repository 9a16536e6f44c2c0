package engine

import (
	"slices"
	"strconv"
	"strings"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/internal/invalid"
	"github.com/a2agen/a2agen/runtime/wire"
)

// terms are what the card and the protocol package say about versions, tenants and extensions.
type terms struct {
	versions []*Version
	byClient *Version // the one whose clients choose their tasks' ids; nil: none
	strict   bool
	card     runtime.Card
	info     runtime.CardInfo
	extended runtime.Card // for identified callers; nil: there is none, or nobody is identified
	// tenants are the declared ones; nil when the card declares none: then any tenant is a name space of its own.
	tenants  map[string]bool
	required []string        // extensions that a request must declare
	known    map[string]bool // all declared extensions
	values   Extensions      // those whose values are typed; nil: there are none
}

func newTerms(cfg Config, o Options) terms {
	t := terms{strict: o.Strict, card: cfg.Card, info: cfg.Card.CardInfo(), known: map[string]bool{}}
	codings := len(cfg.Protocol.Versions)
	for i, v := range cfg.Protocol.Versions {
		spoken := &Version{Version: v, Index: i, Unnamed: v.Rules.PlainErrors, wires: codings}
		codings += len(v.Wires)
		t.versions = append(t.versions, spoken)
		if t.byClient == nil && v.Rules.ClientIDs {
			t.byClient = spoken
		}
	}
	if o.Identifies {
		t.extended = cfg.Extended
	}
	for _, x := range t.info.Extensions {
		t.known[x.URI] = true
		if runtime.IsSkillsExtension(x.URI) {
			t.known[runtime.SkillsExtension], t.known[runtime.FormerSkillsExtension] = true, true
		}
		if x.Required {
			t.required = append(t.required, x.URI)
		}
	}
	t.values = cfg.Extensions
	if slices.ContainsFunc(t.info.Interfaces, func(i runtime.Interface) bool { return i.Tenant != "" }) {
		t.tenants = map[string]bool{}
		for _, i := range t.info.Interfaces {
			t.tenants[i.Tenant] = true
		}
	}
	return t
}

// Versions returns the spoken versions, newest first.
func (t *terms) Versions() []*Version { return t.versions }

// ByClient returns the version whose clients choose their tasks' ids; nil if none is spoken.
func (t *terms) ByClient() *Version { return t.byClient }

// Card returns the agent's card.
func (t *terms) Card() runtime.Card { return t.card }

// Extended returns the card for identified callers; nil if there is none, or nobody is identified.
func (t *terms) Extended() runtime.Card { return t.extended }

// Info returns what the runtime knows of the card.
func (t *terms) Info() *runtime.CardInfo { return &t.info }

// SpokenNames lists the versions, newest first.
func (t *terms) SpokenNames() string {
	names := make([]string, len(t.versions))
	for i, v := range t.versions {
		names[i] = v.Name
	}
	return strings.Join(names, ", ")
}

// Spoken finds a version by the name that a peer gives it, maybe with a patch number (R70); nil if it is not spoken.
func (t *terms) Spoken(asked string) *Version {
	for _, v := range t.versions {
		if asked == v.Name || minorOf(asked) == v.Name {
			return v
		}
	}
	return nil
}

// Negotiate finds the version of a request: the one that it asks for or, unless the engine is strict, one that has what
// it asks for (§3.6.2, R72, R73, T27). An error is VersionNotSupported.
func (t *terms) Negotiate(asked string, has func(*Version) bool) (*Version, *runtime.Error) {
	if asked == "" {
		return t.unasked(has)
	}
	if v := t.Spoken(asked); v != nil {
		return v, nil
	}
	return nil, t.NotSpoken(asked)
}

// ImpliedVersion is the version of a request that names none (R73).
const ImpliedVersion = "0.3"

// unasked finds the version of a request that names none. It means 0.3 (R73), so the newest version before A2A-Version
// that has what is asked for is taken. If there is none, the oldest of the others that have it is: the client of a
// later version has more reason to name it. A strict engine takes none of them.
func (t *terms) unasked(has func(*Version) bool) (*Version, *runtime.Error) {
	var found, named, unnamed *Version
	for _, v := range t.versions {
		if v.Name == ImpliedVersion {
			found = v
		}
		switch {
		case !has(v):
		case v.Unnamed && unnamed == nil:
			unnamed = v
		case !v.Unnamed && !t.strict:
			named = v
		}
	}
	switch {
	case unnamed != nil:
		return unnamed, nil
	case named != nil:
		return named, nil
	case found != nil:
		return found, nil
	case t.strict:
		return nil, t.NotSpoken(ImpliedVersion)
	}
	return t.versions[0], nil
}

// DeclaresTenant reports whether an interface of the card names the tenant.
func (t *terms) DeclaresTenant(name string) bool { return t.tenants[name] }

// NotSpoken returns the error for a version that is not spoken.
func (t *terms) NotSpoken(asked string) *runtime.Error {
	supported := t.SpokenNames()
	return runtime.ErrVersionNotSupported.
		With("protocol version %.20q is not spoken here, supported: %s", asked, supported).
		WithMetadata("supportedVersions", supported).WithMetadata("requestedVersion", limit(asked, 20))
}

// minorOf cuts a patch number off: "1.0.1" is "1.0".
func minorOf(v string) string {
	major, rest, ok := strings.Cut(v, ".")
	if !ok {
		return v
	}
	minor, patch, ok := strings.Cut(rest, ".")
	if !ok {
		return v
	}
	if _, err := strconv.ParseUint(patch, 10, 16); err != nil {
		return v
	}
	return major + "." + minor
}

// Activate notes the requested extensions that the agent has, in the order of the request, and refuses a request that
// does not declare a required one (R49; unknown ones are ignored). A line has several, separated by commas. It returns
// them as the answer lists them.
func (r *Request) Activate(requested []string) (list string, err *runtime.Error) {
	t := &r.e.terms
	if len(requested)+len(t.required) == 0 {
		return "", nil
	}
	for _, line := range requested {
		for uri := range strings.SplitSeq(line, ",") {
			uri = strings.TrimSpace(uri)
			if t.known[uri] && !slices.Contains(r.active, uri) {
				r.active = append(r.active, uri)
			}
		}
	}
	r.framed = len(r.active)
	for _, uri := range t.required {
		if !slices.ContainsFunc(r.active, func(named string) bool {
			return named == uri || runtime.IsSkillsExtension(named) && runtime.IsSkillsExtension(uri)
		}) {
			return r.Active(), runtime.ErrExtensionSupportRequired.
				With("the extension %s is required: name it in A2A-Extensions", uri).WithMetadata("extension", uri)
		}
	}
	return r.Active(), nil
}

// Active lists the extensions that the request asks for and the agent has, as the answer does.
func (r *Request) Active() string { return strings.Join(r.active, ", ") }

// AskedByMessage reports, after [Request.Serve], whether the message asks for extensions that the frame does not name.
func (r *Request) AskedByMessage() bool { return len(r.active) > r.framed }

// What the engine does differently for clients of older versions. The codecs of the version do the rest.

// Version is a version of the protocol that the agent speaks.
type Version struct {
	*runtime.Version
	Index int // among the versions, newest 0
	// Unnamed: requests of the version do not name it. Before 1.0 there was no A2A-Version (R73).
	Unnamed bool

	wires int // index of the first of its wires among all codings
}

// Coding is how streams write events as a table of the version has them: its own JSON or one of its wires.
func (v *Version) Coding(t *runtime.Table) Coding {
	c := Coding{Index: v.Index, Append: t.AppendEvent}
	for i, w := range v.Wires {
		if t == &w.Table {
			c.Index = v.wires + i
		}
	}
	return c
}

// Decode reads the parameters of an operation of one of the version's tables. Where a message of an older version does
// not say whether it blocks, the answer may come early (0.3 §7.1.2), but clients expect what the official servers do,
// which is to wait: a2a-go 0.3.15 leaves the member out for that. The operation's own Decode cannot tell. In the
// version's other encodings the member is always there where there is a configuration.
func (v *Version) Decode(op *runtime.Operation, params []byte) (any, *runtime.Error) {
	request, err := op.Decode(params)
	if err != nil {
		return nil, invalid.Params(err)
	}
	p, ok := request.(*runtime.SendRequest)
	if ok && p.ReturnImmediately && v.Unnamed && slices.Contains(v.Operations, op) {
		p.ReturnImmediately = says(params, "configuration", "blocking")
	}
	return request, nil
}

// says reports whether parameters have the member at the path, with a value.
func says(v wire.Value, path ...string) bool {
	for _, name := range path {
		if v.Kind() != wire.KindObject {
			return false
		}
		v, _ = wire.Object(v).Get(name)
	}
	return len(v) > 0 && v.Kind() != wire.KindNull
}

// history returns how long a history is asked for; nil: nothing is said, which is what 0 means in 0.1 and 0.2.
func (v *Version) history(length *int) *int {
	if length != nil && *length == 0 && v.Rules.NoHistory {
		return nil
	}
	return length
}

// adapt sets what requests of versions before 1.0 leave to the server: the message's id, which 0.1 does not have and
// samples of 0.2 and 0.3 leave out (T38), and the history's length.
func (v *Version) adapt(p *runtime.SendRequest, info *runtime.MessageInfo, e *Engine) {
	p.HistoryLength = v.history(p.HistoryLength)
	if info.ID != "" {
		return
	}
	info.ID = e.runner.NewID()
	p.Message = e.protocol.NewMessage(runtime.MessageData{MessageInfo: *info, Parts: p.Message.Contents()})
}
