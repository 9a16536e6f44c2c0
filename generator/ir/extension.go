package ir

// Extension is an extension of the protocol whose contract is known: a package of its own.
type Extension struct {
	URI         string   `json:"uri"`
	Description string   `json:"description,omitempty"`
	Package     string   `json:"package"`           // its folder and name: "traceability"
	Go          string   `json:"go"`                // in identifiers elsewhere: "Traceability"
	Key         string   `json:"key,omitempty"`     // member of metadata; "" is the URI
	Always      bool     `json:"always,omitempty"`  // values are sent also to callers who did not ask
	Methods     []string `json:"methods,omitempty"` // operations, by their names in JSON-RPC
	MediaType   string   `json:"mediaType,omitempty"`
	// What it carries, by place; nil where anything fits.
	Params     *DataRef `json:"params,omitempty"`
	Request    *DataRef `json:"request,omitempty"`
	Message    *DataRef `json:"message,omitempty"`
	Artifact   *DataRef `json:"artifact,omitempty"`
	Status     *DataRef `json:"status,omitempty"`
	CallerPart *DataRef `json:"callerPart,omitempty"`
	AgentPart  *DataRef `json:"agentPart,omitempty"`
	// Types are the Go types of all of these, sorted by Go name.
	Types []*DataType `json:"types,omitempty"`
}

// AgentExtension is an extension of an agent, with the names of what its client's package has for it.
type AgentExtension struct {
	*Extension
	Required    bool   `json:"required,omitempty"` // by the card: the agent's client asks for it in every request
	With        string `json:"with"`               // "WithTraceability"
	WithRequest string `json:"withRequest"`        // "WithTraceabilityRequest"
	WithPart    string `json:"withPart"`           // "WithTraceabilityPart"
	ParamsOf    string `json:"paramsOf"`           // "TraceabilityParams"
}
