package ir

import (
	"encoding/json"
	"slices"
	"time"
)

// Agent is the user's agent: its card and its skills with their typed contracts.
type Agent struct {
	Name string `json:"name"` // card name, as written
	// Card is the agent card to embed, as 1.0 JSON, with the skill schemas in the a2agen extension's params.
	Card json.RawMessage `json:"card"`
	// Extended is the card for callers who say who they are; nil: there is none.
	Extended       json.RawMessage `json:"extended,omitempty"`
	ExtendedScopes []string        `json:"extendedScopes,omitempty"` // that they need, all of them
	// Bindings are those of the card's interfaces, in its order.
	Bindings []string `json:"bindings,omitempty"`
	// Calls say how the client of the agent calls it.
	Calls  Calls    `json:"calls,omitzero"`
	Skills []*Skill `json:"skills"`
	// Types are the Go types of all skill inputs and outputs, sorted by Go name.
	Types []*DataType `json:"types"`
	// Extensions are those that the card declares and whose contracts are known.
	Extensions []*AgentExtension `json:"extensions,omitempty"`
	// Remotes are the agents that handlers call, and RemotesType is the type with a client of each: "Clients".
	Remotes     []*Remote `json:"remotes,omitempty"`
	RemotesType string    `json:"remotesType,omitempty"`
	// Operations are those of the protocol that the runtime does not know, and that the handlers may implement.
	Operations []*OwnOperation `json:"operations,omitempty"`
	// Repeats say how messages are known that come again; nil: as the runtime has it.
	Repeats *Repeats `json:"repeats,omitempty"`
	// Store is the file in which tasks are kept unless somebody says another; "" is none.
	Store string `json:"store,omitempty"`
	// OpenStore is the package that opens the store, in the runtime's module; "" keeps tasks in memory.
	OpenStore string `json:"openStore,omitempty"`
	// Pushes: the card says that the agent sends push notifications.
	Pushes bool `json:"pushes,omitempty"`
	// RequirementLists: cards are served with security requirements as a2a-go reads them.
	RequirementLists bool `json:"requirementLists,omitempty"`
	// SignCards: the server signs its cards, with the key that the environment names.
	SignCards bool `json:"signCards,omitempty"`
	// MCP: the server serves the skills over MCP, too.
	MCP bool `json:"mcp,omitempty"`
	// Telemetry: the server tells OpenTelemetry of what it does.
	Telemetry bool `json:"telemetry,omitempty"`
	// Open: anybody who reaches the agent may use it.
	Open bool `json:"open,omitempty"`
	// Secured: the card declares security schemes. Verifiers are those that generated code has for them, by scheme.
	Secured   bool        `json:"secured,omitempty"`
	Verifiers []*Verifier `json:"verifiers,omitempty"`
}

// Tokens reports whether a verifier checks tokens, whose package links a library. A nil agent has none.
func (a *Agent) Tokens() bool {
	return a != nil && slices.ContainsFunc(a.Verifiers, func(v *Verifier) bool { return v.Kind.Tokens() })
}

// Verifier is what checks the credentials of a security scheme.
type Verifier struct {
	Scheme string       `json:"scheme"` // its name in the card
	Kind   VerifierKind `json:"kind"`

	Holders []Holder `json:"holders,omitempty"` // of keys, passwords, certificates

	CAFile  string   `json:"caFile,omitempty"` // of certificates
	Proxies []string `json:"proxies,omitempty"`

	Issuer       string        `json:"issuer,omitempty"` // of tokens
	Audience     []string      `json:"audience,omitempty"`
	Types        []string      `json:"types,omitempty"`
	Algorithms   []string      `json:"algorithms,omitempty"`
	Skew         time.Duration `json:"skew,omitempty"`
	TenantsClaim string        `json:"tenantsClaim,omitempty"`
	KeySet       string        `json:"keySet,omitempty"`

	Endpoint string `json:"endpoint,omitempty"` // of introspection
	ClientID string `json:"clientId,omitempty"`
}

// Holder is the owner of a credential, and what the owner may do.
type Holder struct {
	Name    string   `json:"name"`
	Hash    string   `json:"-"` // what it is known by; for nobody to read
	Scopes  []string `json:"scopes,omitempty"`
	Tenants []string `json:"tenants,omitempty"`
}

// VerifierKind is what a verifier is, by the runtime's function that makes it.
type VerifierKind string

// The kinds.
const (
	Keys          VerifierKind = "Keys"
	Passwords     VerifierKind = "Passwords"
	Certificates  VerifierKind = "Certificates"
	JWT           VerifierKind = "JWT"
	Introspection VerifierKind = "Introspection"
)

// Tokens reports whether what is checked are tokens of an issuer.
func (k VerifierKind) Tokens() bool { return k == JWT || k == Introspection }

// CardKeys are the keys by which a client verifies its agent's card.
type CardKeys struct {
	File   string   `json:"file,omitempty"` // beside the client, which embeds it; "": none
	URLs   []string `json:"urls,omitempty"`
	Strict bool     `json:"strict,omitempty"`
}

// Calls are how a client calls an agent.
type Calls struct {
	Links  []string `json:"links,omitempty"`  // packages of bindings, in the runtime's module: "runtime/client/grpcclient"
	Prefer []string `json:"prefer,omitempty"` // bindings, the preferred one first; none: as the card orders them
	Reach  string   `json:"reach,omitempty"`  // how the agent of a card is called, in words: "over JSONRPC, in version 0.3 …"
	// Telemetry: the client tells OpenTelemetry of its calls.
	Telemetry bool `json:"telemetry,omitempty"`
	// Verify says by which keys the client verifies the agent's card; nil: it does not.
	Verify *CardKeys `json:"verify,omitempty"`
	// Credentials are those for which the client has an option, one for each security scheme of the card.
	Credentials []*Credential `json:"credentials,omitempty"`
	// Environment is the client's name in the environment variables of credentials; "" for the agent's own client.
	Environment string `json:"environment,omitempty"`
}

// Credential is what a client gives for a security scheme of the card, and what the card says of that.
type Credential struct {
	Scheme      string      `json:"scheme"` // its name in the card
	Go          string      `json:"go"`     // of the option: "WithCorp"
	Kind        string      `json:"kind"`   // the key of its kind in cards: "apiKeySecurityScheme"
	HTTP        string      `json:"http,omitempty"`
	In          string      `json:"in,omitempty"`
	Key         string      `json:"key,omitempty"`
	URL         string      `json:"url,omitempty"` // where OpenID Connect or OAuth 2 describes itself
	Description string      `json:"description,omitempty"`
	Flows       []OAuthFlow `json:"flows,omitempty"`
}

// OAuthFlow is a flow of OAuth 2 that a card names.
type OAuthFlow struct {
	Name     string            `json:"name"`
	TokenURL string            `json:"tokenUrl,omitempty"`
	Scopes   map[string]string `json:"scopes,omitempty"`
}

// Repeats are known by their messages' ids, for a time (0: as the runtime has it).
type Repeats struct {
	ByMessage bool          `json:"byMessage"`
	Window    time.Duration `json:"window"`
}

// Remote is somebody else's agent that handlers call.
type Remote struct {
	Client string `json:"client"` // its name in a2agen.yaml
	Go     string `json:"go"`     // of the field with its client: "Weather"
	Agent  string `json:"agent"`  // the name on its card
	Import string `json:"import"` // path of the client's package
	Fake   string `json:"fake"`   // path of the package with a fake of the agent; "" without skills
	URL    string `json:"url,omitempty"`
}

// OwnOperation is an operation that the runtime does not know, with the names of what implements it.
type OwnOperation struct {
	*Operation
	Interface string `json:"interface"` // "PauseTaskOperation"
	Handler   string `json:"handler"`   // its method
}

// SkillFake are the names of a skill in the agent's fake.
type SkillFake struct {
	Field string `json:"field"` // what the fake of the skill is set up by: "Forecast"
	On    string `json:"on"`    // the method that gives it a handler: "OnForecast"
}

// SkillMethods are the names of a skill's methods in the agent's client.
type SkillMethods struct {
	Call   string `json:"call"`   // "Forecast"
	Stream string `json:"stream"` // "ForecastStream"
	Answer string `json:"answer"` // "ForecastAnswer"
	// AnswerStream is "ForecastAnswerStream".
	AnswerStream string `json:"answerStream"`
}

// Convention is how a message calls a skill: a function of the runtime's client, and the arguments with which it makes one.
type Convention struct {
	Func string   `json:"func"` // "ByParameters", "ByContract"
	Args []string `json:"args,omitempty"`
}

// Skill is one skill and its contract.
type Skill struct {
	ID          string   `json:"id"`
	Name        string   `json:"name"`
	Description string   `json:"description"`
	Tags        []string `json:"tags,omitempty"`
	Examples    []string `json:"examples,omitempty"`
	InputModes  []string `json:"inputModes,omitempty"`  // the skill's own, else the card's defaults
	OutputModes []string `json:"outputModes,omitempty"` // likewise
	Go          string   `json:"go"`                    // method name: "Forecast"
	// Client has a number behind a name that the client has itself: "Close2".
	Client SkillMethods `json:"client"`
	Fake   SkillFake    `json:"fake"`
	File   string       `json:"file"` // base name of the handler's file, safe for Go: "forecast"
	// Convention is how a client of somebody else's agent calls the skill; zero: as the runtime finds it on the card.
	Convention Convention `json:"convention,omitzero"`
	// Input and Output are nil when the card gives no schema: the handler then takes a *a2a.Message, or answers text.
	Input  *DataRef `json:"input,omitempty"`
	Output *DataRef `json:"output,omitempty"`
	// InputSchema and OutputSchema are self-contained JSON Schemas (2020-12), compact; nil without a schema.
	InputSchema  json.RawMessage `json:"inputSchema,omitempty"`
	OutputSchema json.RawMessage `json:"outputSchema,omitempty"`
	// TextField is the input property that plain text fills: the only required one, a string. "" when there is none.
	TextField     string        `json:"textField,omitempty"`
	Timeout       time.Duration `json:"timeout,omitempty"`       // 0: the runtime's default
	MaxConcurrent int           `json:"maxConcurrent,omitempty"` // 0: unlimited
	Retry         bool          `json:"retry,omitempty"`         // what a crash interrupts is tried again
	Default       bool          `json:"default,omitempty"`       // it takes plain text that fits no skill
	Hidden        bool          `json:"hidden,omitempty"`        // from callers who do not say who they are
}
