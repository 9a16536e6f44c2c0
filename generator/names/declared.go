package names

import "slices"

// What the emitted packages always declare. Nothing else gets these names,
// and a test of package emit holds the lists to what is printed.
var (
	// ProtocolDeclares are of the protocol package, beside [Sentinels].
	ProtocolDeclares = []string{"Protocol", "ServerProtocol", "ClientProtocol", "NewMessage", "Text", "Data"}
	// ClientOwn are the methods of the protocol's client that are no operations.
	ClientOwn = []string{"Card", "Close", "RPC"}
	// FakeOwn are the fields and methods of every agent's fake.
	FakeOwn = []string{"Fake", "Agent", "Client", "URL", "HTTPClient", "Dial", "Options", "Fault", "Conform", "Versions", "Over", "Samples"}
	// AgentDeclares are of the agent package.
	AgentDeclares = []string{"Skills", "Task", "NewServer", "CardJSON", "Card", "Caller"}
	// ClientDeclares are of the package of a client, of skills or of the protocol.
	ClientDeclares = []string{"Client", "New", "FromCard"}
	// SkillClientDeclares are of the package of a client of skills, beside [ClientDeclares].
	SkillClientDeclares = []string{"Skills", "Tools"}
)

// ExtensionDeclares are of the package of an extension, beside its types.
var ExtensionDeclares = []string{
	"URI", "Contract", "Active", "Of", "OfRequest", "OnArtifact", "OnMessage", "OnResult", "OnStatus", "AppendPart",
	"ReadMessage", "ReadArtifact", "ReadStatus", "ReadPart", "ReadCallerPart", "NewCallerPart", "ParseParams",
}

// OfSkills is the scope of what is declared for the contracts of skills. The agent package and the client package have
// their types.
func OfSkills() *Scope {
	return NewScope(slices.Concat(AgentDeclares, ClientDeclares, SkillClientDeclares)...)
}

// dataMethods are the methods of the types of contracts, whose fields cannot have their names.
var dataMethods = []string{"Validate", "AppendJSON", "MarshalJSON", "UnmarshalJSON"}

// Sentinels are the errors of the runtime that the protocol package exports under the same names.
var Sentinels = []string{
	"ErrParse", "ErrInvalidRequest", "ErrMethodNotFound", "ErrInvalidParams", "ErrInternal",
	"ErrTaskNotFound", "ErrTaskNotCancelable", "ErrPushNotificationNotSupported", "ErrUnsupportedOperation",
	"ErrContentTypeNotSupported", "ErrInvalidAgentResponse", "ErrExtendedAgentCardNotConfigured",
	"ErrExtensionSupportRequired", "ErrVersionNotSupported", "ErrUnauthenticated", "ErrPermissionDenied",
}

// GenerationSentinels are those that only a protocol with generations has.
var GenerationSentinels = []string{"ErrTaskGenerationMismatch"}
