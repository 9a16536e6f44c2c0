package config

import (
	"fmt"
	"go/token"
	"net/netip"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"
	"golang.org/x/mod/module"

	"github.com/a2agen/a2agen/generator/diag"
	"github.com/a2agen/a2agen/generator/shape"
	"github.com/a2agen/a2agen/generator/yamlx"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/spec"
)

// Patterns that the shipped JSON Schema shows to editors too. A path of the project never leaves it.
const (
	pathPattern   = `^[A-Za-z0-9_.@+-]+(/[A-Za-z0-9_.@+-]+)*$`
	folderPattern = `^([A-Za-z0-9_][A-Za-z0-9_.-]*/)*[a-z][a-z0-9_]*$`
	namePattern   = `^[a-z][a-z0-9_]*$`
	// versionPattern has no dot after the minor version: from there on peers take it for a patch number, which does not count (R70).
	versionPattern = `^[0-9]+\.[0-9]+(-[a-z0-9]+)*$`
	// definitionPattern is pathPattern with the endings of definitions.
	definitionPattern = `^[A-Za-z0-9_.@+-]+(/[A-Za-z0-9_.@+-]+)*\.(proto|json)$`
)

// project declares a2agen.yaml. Its choices are the rows of tables.
func project() *shape.Object {
	return &shape.Object{
		Name: "configuration", Doc: "Settings for the code that a2agen generates.",
		Fields: []*shape.Field{
			{Key: "protocol", Type: &shape.Type{Kind: shape.List, Min: 1, Max: 20, Elem: &shape.Type{Kind: shape.Text, Choices: Supported(), NotScalar: "write " + quoted(Supported()) + ", the versions this tool has, or {version: \"1.1-preview\", file: protocol/a2a.proto}", Or: &shape.Type{Kind: shape.Struct, Object: definition}}}, Doc: "Versions of the A2A protocol that the agent speaks, in quotes, or definitions of your own. The generated types are those of " + joined(releasedHubs(), " or ") + " or of a definition of your own, whether the agent speaks it or not. Versions that only clients of other agents need are not listed: their cards say it.", Default: defaultAlone + "; a2agen init writes [" + quoted(spec.Fresh()) + "]"},
			{Key: "protocol_import", Type: &shape.Type{Kind: shape.Text, Min: 1, Max: 500, Check: checkImport}, Doc: "The import path of a protocol package already generated, to share it between agents and clients of one code base.", Default: "one is generated"},
			{Key: "bindings", Type: bindingList(), Doc: "Bindings over which the agent is served, the preferred one first. Each version of the protocol is served over those that it has: GRPC needs a proto, HTTP+JSON a definition with routes.", Default: "[" + strings.Join(defaultBindings(), ", ") + "]"},
			{Key: "encodings", Type: &shape.Type{Kind: shape.List, Max: 2, Elem: &shape.Type{Kind: shape.Text, Choices: []string{"proto", "protojson"}}}, Doc: "Codecs of the protocol package beside those that the bindings need: proto is protobuf, of the versions that have it; protojson is the JSON of 0.3's proto, which its HTTP+JSON peers speak.", Default: "none"},
			{Key: "idempotency", Type: &shape.Type{Kind: shape.Text, Choices: []string{"messageId"}, Or: &shape.Type{Kind: shape.Struct, Object: idempotency}}, Doc: "How the agent recognizes a repeated message, so that it is not handled twice; messageId: by its id. A request with an Idempotency-Key is always recognized, for a day.", Default: "not at all"},
			{Key: "card", Type: file("the path of a file inside the project"), Doc: "The agent's card.", Default: "agent.yaml"},
			{Key: "cards", Type: &shape.Type{Kind: shape.Struct, Object: cards}, Doc: "How callers get the card."},
			{Key: "store", Type: &shape.Type{Kind: shape.Text, Choices: StoreWords()}, Doc: "Where the agent keeps its tasks: " + StoresInWords("") + ".", Default: Stores[0].Word},
			{Key: "mcp", Type: &shape.Type{Kind: shape.Bool}, Doc: "true: the agent serves its skills as tools of the Model Context Protocol (MCP), too, at /mcp, to callers that meet the same requirements.", Default: "false"},
			{Key: "telemetry", Type: &shape.Type{Kind: shape.Text, Choices: []string{TelemetryOTel}}, Doc: "otel: agent and clients report every call, run and delivery to OpenTelemetry, as traces and metrics, and propagate the trace. The program sets up the SDK that exports them.", Default: "logs only"},
			{Key: "auth", Type: &shape.Type{Kind: shape.Text, Choices: []string{"none"}, Or: &shape.Type{Kind: shape.Map, Min: 1, Max: 50, Elem: &shape.Type{Kind: shape.Text, Choices: []string{ownVerifier}, NotScalar: "write " + ownVerifier + ", or which credentials are good", Or: &shape.Type{Kind: shape.Struct, Object: verifier}}}}, Doc: "Which credentials are valid: an entry for each security scheme of the card, by its name; own: a verifier in main.go checks them. Or none: anybody who reaches the agent may use it. Otherwise an agent that requires nothing listens on its own machine only.", Default: "read from the environment"},
			{Key: "packages", Type: &shape.Type{Kind: shape.Struct, Object: packages}, Doc: "Folders of the packages. The last element is the package name."},
			{Key: "catalog", Type: &shape.Type{Kind: shape.Text, Min: 1, Max: 500, Check: checkCatalog}, Doc: "Where a2agen client NAME, a2agen update clients and a2agen card catalog find cards by their names: a folder, relative to the project, or a URL.", Default: ".a2agen/catalog"},
			{Key: "extensions", Type: &shape.Type{Kind: shape.List, Max: 100, Elem: file("the path of a file inside the project")}, Doc: "Files with the contracts of extensions of the protocol. The agent and clients whose cards declare one have its types.", Default: "those that agent.yaml has itself"},
			{Key: "clients", Type: &shape.Type{Kind: shape.List, Max: 200, Elem: &shape.Type{Kind: shape.Struct, Object: client()}}, Doc: "Typed clients for other agents; a2agen client adds them.", Default: "none"},
		},
		Foreign: map[string]string{
			"binding":   "write bindings: [" + strings.Join(defaultBindings(), ", ") + "]",
			"protocols": "write protocol: " + defaultAlone,
			"versions":  "write protocol: " + defaultAlone,
			"module":    "the module path is read from go.mod",
		},
	}
}

// bindingList declares a list of bindings.
func bindingList() *shape.Type {
	return &shape.Type{Kind: shape.List, Min: 1, Max: len(runtime.Bindings), Elem: &shape.Type{Kind: shape.Text, Choices: Bindings()}}
}

var cards = &shape.Object{
	Name: "cards", Doc: "How callers get the card.",
	Fields: []*shape.Field{
		{Key: "requirements", Type: &shape.Type{Kind: shape.Text, Choices: []string{"specified", requirementLists}}, Doc: "How security requirements are written in cards of 1.0: as specified, or with scopes as plain lists, which a2a-go 2.4.0 needs to read a card at all, and the SDKs for Python and JavaScript also read.", Default: "specified"},
		{Key: "sign", Type: &shape.Type{Kind: shape.Bool}, Doc: "true: the agent signs its cards when it starts, with the private key in the file that A2A_CARD_KEY names, for the public URL in A2A_PUBLIC_URL. a2agen card keygen makes a key.", Default: "false"},
	},
	Check: func(c *shape.Checker, n *yaml.Node) {
		if sign := yamlx.Get(n, "sign"); isTrue(sign) && yamlx.Text(yamlx.Get(n, "requirements")) == requirementLists {
			c.Errorf(sign, "one-of", "leave out one of the two", `"sign: true" is for cards as specified, and "requirements: %s" writes others`, requirementLists)
		}
	},
}

var idempotency = &shape.Object{
	Name: "idempotency", Doc: "How repeated messages are recognized.",
	Fields: []*shape.Field{
		{Key: "by", Type: &shape.Type{Kind: shape.Text, Choices: []string{"messageId"}}, Doc: "The value by which a message is recognized as a repetition of another one of its caller; by default only an Idempotency-Key.", Default: "Idempotency-Key"},
		{Key: "window", Type: &shape.Type{Kind: shape.Duration, Max: 50}, Doc: "For how long messages are recognized.", Default: "24h"},
	},
}

var definition = &shape.Object{
	Name: "definition", Doc: "A definition of the protocol that does not ship with a2agen, from either a file or a url. The generated types are those of the first one.",
	Fields: []*shape.Field{
		{Key: "version", Type: &shape.Type{Kind: shape.Text, Min: 1, Max: 20, Pattern: versionPattern, PatternSays: `MAJOR.MINOR with a word if you like, such as "1.1-preview"`, Check: checkOwnVersion}, Required: true, Doc: "The version as clients name it, in quotes. It is not one that ships."},
		{Key: "file", Type: definitionFile, Doc: "The .proto file, or the JSON Schema in a .json file. What a .proto file imports lies in its folder or below."},
		{Key: "url", Type: &shape.Type{Kind: shape.URL, Check: checkDefinitionURL}, Doc: "The https URL of such a file, which imports nothing but google/api and google/protobuf. a2agen update protocol fetches it into protocol/VERSION.proto or .json."},
	},
	Check: func(c *shape.Checker, n *yaml.Node) {
		file, url := yamlx.Get(n, "file"), yamlx.Get(n, "url")
		switch {
		case file == nil && url == nil:
			c.Errorf(n, "missing-key", "", `definition needs the key "file" or "url"`)
		case file != nil && url != nil:
			c.Errorf(url, "one-of", "", `"file" and "url" exclude each other`)
		}
	},
}

var packages = &shape.Object{
	Name: "packages", Doc: "Folders of the packages, relative to the project.",
	Fields: []*shape.Field{
		{Key: "protocol", Type: folder, Doc: "Protocol types and codecs.", Default: "a2a"},
		{Key: "agent", Type: folder, Doc: "Skill types, the Skills interface and the server.", Default: "agent"},
		{Key: "client", Type: folder, Doc: "The typed client of this agent.", Default: "client"},
		{Key: "skills", Type: folder, Doc: "Your handlers.", Default: "skills"},
		{Key: "extensions", Type: folder, Doc: "The folder of the packages of extensions, one in each folder below.", Default: "extensions"},
	},
}

func client() *shape.Object {
	return &shape.Object{
		Name: "client", Doc: "A typed client for another agent. Its card has a url, a name in a catalog, or a file.",
		Fields: append([]*shape.Field{
			{Key: "name", Type: &shape.Type{Kind: shape.Text, Min: 1, Max: 64, Pattern: namePattern, PatternSays: "a Go package name", Check: checkKeyword}, Required: true, Doc: "The name of the client's package."},
			{Key: "url", Type: &shape.Type{Kind: shape.URL}, Doc: "Where the card was fetched."},
			{Key: "catalog", Type: &shape.Type{Kind: shape.Text, Min: 1, Max: 130, Pattern: catalogPattern, PatternSays: "NAME or NAME@VERSION as a2agen card catalog list shows them"}, Doc: "The card's name in the catalog: NAME@VERSION, or NAME for the newest at every a2agen update clients."},
			{Key: "file", Type: file("the path of a file inside the project"), Doc: "The file that holds the card."},
			{Key: "out", Type: folder, Doc: "The folder of the client's package.", Default: "client/NAME"},
			{Key: "verify", Type: &shape.Type{Kind: shape.Struct, Object: verifyCard}, Doc: "The client verifies the signatures of the agent's card before it calls anything, and so does a2agen client. It has keys, urls, or both.", Default: "cards are not verified"},
			{Key: "bindings", Type: bindingList(), Doc: "The bindings that the client uses, the preferred one first.", Default: "those of the project, as the card orders them"},
		}, contractFields()...),
		Check: func(c *shape.Checker, n *yaml.Node) {
			one := ""
			for _, key := range []string{"url", "catalog", "file"} {
				k := yamlx.Get(n, key)
				if k != nil && one != "" {
					c.Errorf(k, "one-of", "", `"%s" and "%s" exclude each other`, one, key)
				}
				if k != nil && one == "" {
					one = key
				}
			}
			if one == "" {
				c.Errorf(n, "missing-key", "", `client needs the key "url", "catalog" or "file"`)
			}
		},
	}
}

// catalogPattern is what a catalog calls a card.
const catalogPattern = `^[a-z0-9][a-z0-9._-]*(@[^@ ]+)?$`

var verifyCard = &shape.Object{
	Name: "verify", Doc: "By which keys a client verifies the card of its agent.",
	Fields: []*shape.Field{
		{Key: "keys", Type: file("the path of a file inside the project"), Doc: "A file with the public keys, a JSON Web Key Set, as the agent's publisher gave it to you. The client embeds it."},
		{Key: "urls", Type: &shape.Type{Kind: shape.List, Min: 1, Max: 20, Elem: &shape.Type{Kind: shape.URL, Check: checkKeysURL}}, Doc: "URLs of key sets, https unless on this machine, which are fetched when they are needed. The jku of a signature counts if it is one of them."},
		{Key: "strict", Type: &shape.Type{Kind: shape.Bool}, Doc: "true: only signatures over the specification's form count, which cover the whole card. The SDKs of today make others.", Default: "false"},
	},
	Check: func(c *shape.Checker, n *yaml.Node) {
		if yamlx.Get(n, "keys") == nil && yamlx.Get(n, "urls") == nil {
			c.Errorf(n, "missing-key", "", `verify needs the key "keys" or "urls"`)
		}
	},
}

// checkKeysURL rejects http, except to this machine: an attacker on the way could replace the keys.
func checkKeysURL(c *shape.Checker, n *yaml.Node) { checkFetched(c, n, "keys are") }

var folder = &shape.Type{Kind: shape.Text, Min: 1, Max: 200, Pattern: folderPattern, PatternSays: "a folder inside the project that ends in a Go package name", Check: checkKeyword}

var definitionFile = fileLike(definitionPattern, "the path of a .proto or .json file inside the project")

func file(says string) *shape.Type { return fileLike(pathPattern, says) }

func fileLike(pattern, says string) *shape.Type {
	return &shape.Type{Kind: shape.Text, Min: 1, Max: 500, Pattern: pattern, PatternSays: says, Check: func(c *shape.Checker, n *yaml.Node) {
		if path.Clean(n.Value) != n.Value || strings.HasPrefix(n.Value, "..") || n.Value == "." {
			c.Errorf(n, "bad-value", "", "%q is not %s", shape.Short(n.Value), says)
		}
	}}
}

// checkKeyword rejects folders whose last element cannot be a package name, or that the go tool ignores or hides.
func checkKeyword(c *shape.Checker, n *yaml.Node) {
	base := path.Base(n.Value)
	switch {
	case token.IsKeyword(base) || base == "main" || base == "_":
		c.Errorf(n, "bad-value", "", "%q cannot be a package name", base)
	case strings.HasSuffix(base, "_test"):
		c.Errorf(n, "bad-value", "", "%q cannot be a package name: Go takes it for tests", base)
	case slices.ContainsFunc(strings.Split(n.Value, "/"), func(s string) bool {
		return s == "." || s == ".." || s == "vendor" || s == "testdata" || strings.HasPrefix(s, "_")
	}):
		c.Errorf(n, "bad-value", "", "%q is a folder that Go does not build", shape.Short(n.Value))
	}
}

// checkOwnVersion rejects the name of a shipped version for a definition of the user: clients would expect the
// shipped one.
func checkOwnVersion(c *shape.Checker, n *yaml.Node) {
	if slices.Contains(Supported(), n.Value) {
		c.Errorf(n, "bad-value", "write "+strconv.Quote(n.Value)+" alone for the one that ships, or name yours otherwise, such as "+strconv.Quote(n.Value+"-mine"),
			"version %q ships with a2agen", n.Value)
	}
}

// checkDefinitionURL rejects http, except to this machine.
func checkDefinitionURL(c *shape.Checker, n *yaml.Node) { checkFetched(c, n, "a definition is") }

// checkFetched rejects http, except to this machine, for what is fetched.
func checkFetched(c *shape.Checker, n *yaml.Node, what string) {
	u, err := url.Parse(n.Value)
	if err != nil || u.Scheme == "https" {
		return
	}
	if addr, err := netip.ParseAddr(u.Hostname()); u.Hostname() != "localhost" && (err != nil || !addr.IsLoopback()) {
		c.Errorf(n, "bad-value", "", "%s fetched over https, not from %q", what, shape.Short(n.Value))
	}
}

// checkKept rejects a file of the user's at the path of a fetched definition of another version.
func checkKept(c *shape.Checker, versions []*yaml.Node, cfg *Config) {
	for _, n := range versions {
		file := yamlx.Get(n, "file")
		for _, p := range cfg.Protocol {
			if file != nil && slices.Contains(p.Kept(), file.Value) {
				c.Errorf(file, "bad-value", "give yours another name", "%q is where a2agen keeps the definition of version %q, which it fetches", file.Value, p.Version)
			}
		}
	}
}

// checkCatalog rejects what is neither a folder of the project nor a URL.
func checkCatalog(c *shape.Checker, n *yaml.Node) {
	if strings.Contains(n.Value, "://") {
		if why := shape.BadURL(n.Value); why != "" {
			c.Errorf(n, "bad-url", "", `"catalog" must be a folder or an http or https URL: %s`, why)
		}
		return
	}
	if path.Clean(n.Value) != n.Value || path.IsAbs(n.Value) || strings.ContainsAny(n.Value, `\:`) {
		c.Errorf(n, "bad-value", "", "%q is not a folder relative to the project", shape.Short(n.Value))
	}
}

func checkImport(c *shape.Checker, n *yaml.Node) {
	if err := module.CheckImportPath(n.Value); err != nil {
		c.Errorf(n, "bad-value", "", "%q is not a Go import path", shape.Short(n.Value))
	}
}

// checkFolders reports packages that share a folder, versions listed twice and clients of one name.
func checkFolders(c *shape.Checker, root *yaml.Node, cfg *Config) {
	seen := map[string]*yaml.Node{}
	claim := func(key string, n *yaml.Node, format string) {
		if n == nil || key == "" {
			return
		}
		if first := seen[format+key]; first != nil {
			c.Add(diag.Diagnostic{
				Code: "duplicate", Severity: diag.Error, Pos: yamlx.Pos(c.File, n), Message: fmt.Sprintf(format, key),
				Related: []diag.Related{{Pos: yamlx.Pos(c.File, first), Message: "first here"}},
			})
			return
		}
		seen[format+key] = n
	}
	versions := yamlx.Items(yamlx.Get(root, "protocol"))
	for _, n := range versions {
		claim(versionOf(n), n, "protocol version %q is listed twice")
	}
	checkKept(c, versions, cfg)
	for _, n := range yamlx.Items(yamlx.Get(root, "bindings")) {
		claim(yamlx.Text(n), n, "binding %q is listed twice")
	}
	for _, n := range yamlx.Items(yamlx.Get(root, "encodings")) {
		claim(yamlx.Text(n), n, "encoding %q is listed twice")
		if cfg.ProtocolImport != "" {
			c.Errorf(n, "one-of", "list it where that package is generated", `"encodings" are those of a package that is generated, and "protocol_import" takes one that is`)
		}
	}
	pkgs := yamlx.Get(root, "packages")
	at := func(key string) *yaml.Node {
		if n := yamlx.Get(pkgs, key); n != nil {
			return n
		}
		if pkgs == nil {
			return root
		}
		return pkgs
	}
	const folderTwice = "two packages share the folder %q"
	if cfg.ProtocolImport == "" {
		claim(cfg.Packages.Protocol, at("protocol"), folderTwice)
	}
	claim(cfg.Packages.Agent, at("agent"), folderTwice)
	claim(cfg.Packages.Types(), at("agent"), folderTwice)
	claim(cfg.Packages.Tools(), at("agent"), folderTwice)
	claim(cfg.Packages.Client, at("client"), folderTwice)
	claim(cfg.Packages.Skills, at("skills"), folderTwice)
	claim(cfg.Packages.Extensions, at("extensions"), folderTwice)
	for _, n := range yamlx.Items(yamlx.Get(root, "extensions")) {
		claim(yamlx.Text(n), n, "the extension %q is listed twice")
	}
	for i, n := range yamlx.Items(yamlx.Get(root, "clients")) {
		for _, b := range yamlx.Items(yamlx.Get(n, "bindings")) {
			claim(yamlx.Text(b), b, fmt.Sprintf("binding %%q of client %d is listed twice", i+1))
		}
		claim(cfg.Clients[i].Name, n, "two clients are named %q")
		if cfg.Clients[i].Name != "" {
			claim(cfg.Clients[i].Out, n, folderTwice)
		}
	}
}

// versionOf returns the version that an entry of "protocol" names.
func versionOf(n *yaml.Node) string {
	if n.Kind == yaml.MappingNode {
		return yamlx.Text(yamlx.Get(n, "version"))
	}
	return yamlx.Text(n)
}

func quoted(ss []string) string { return joined(ss, ", ") }

func joined(ss []string, by string) string {
	out := make([]string, len(ss))
	for i, s := range ss {
		out[i] = strconv.Quote(s)
	}
	return strings.Join(out, by)
}

// releasedHubs are the versions that give the types without being listed: no draft does.
func releasedHubs() []string {
	return slices.DeleteFunc(spec.Hubs(), func(v string) bool { return slices.Contains(spec.Drafts(), v) })
}

// defaultAlone is the default list of versions.
const defaultAlone = `["` + spec.Default + `"]`
