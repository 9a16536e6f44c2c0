package config

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/a2agen/a2agen/generator/diag"
	"github.com/a2agen/a2agen/generator/yamlx"
)

var ignorePositions = cmpopts.IgnoreTypes(diag.Pos{})

func TestRead(t *testing.T) {
	usual := Packages{Protocol: "a2a", Agent: "agent", Client: "client", Skills: "skills", Extensions: "extensions"}
	byDefault := []Binding{{Name: "JSONRPC"}, {Name: "HTTP+JSON"}}
	tests := []struct {
		name, src string
		want      Config
	}{
		{
			"bindings, the preferred one first", "bindings: [GRPC, JSONRPC]\n",
			Config{Bindings: []Binding{{Name: "GRPC"}, {Name: "JSONRPC"}}, Protocol: []Protocol{{Version: "1.0"}}, Card: "agent.yaml", Store: "memory", Packages: usual},
		},
		{"a missing file gives the defaults", "", Config{Bindings: byDefault, Protocol: []Protocol{{Version: "1.0"}}, Card: "agent.yaml", Store: "memory", Packages: usual}},
		{"a file of comments gives the defaults", "# nothing yet\n\n  # here\n", Config{Bindings: byDefault, Protocol: []Protocol{{Version: "1.0"}}, Card: "agent.yaml", Store: "memory", Packages: usual}},
		{"the scaffold gives the defaults and 0.3", string(Scaffold("", nil, nil)), Config{Bindings: byDefault, Protocol: []Protocol{{Version: "1.0"}, {Version: "0.3"}}, Card: "agent.yaml", Store: "memory", Packages: usual}},
		{"the scaffold of an agent of 0.3 alone", string(Scaffold("", nil, []string{"0.3"})), Config{Bindings: byDefault, Protocol: []Protocol{{Version: "0.3"}}, Card: "agent.yaml", Store: "memory", Packages: usual}},
		{
			"definitions of one's own stand first, the shipped ones newest first", "protocol: [\"0.3\", {version: \"1.1-preview\", file: protocol/a2a.proto}, \"1.0\", {version: \"9.2\", file: b.json}]\n",
			Config{Bindings: byDefault, Protocol: []Protocol{{Version: "1.1-preview", File: "protocol/a2a.proto"}, {Version: "9.2", File: "b.json"}, {Version: "1.0"}, {Version: "0.3"}}, Card: "agent.yaml", Store: "memory", Packages: usual},
		},
		{
			"a definition may come from a URL, in tests from this machine", "protocol: [{version: \"9.1\", url: \"https://a.example/a2a.proto\"}, {version: \"9.2\", url: \"http://127.0.0.1:80/a.json\"}, {version: \"1.3\", url: \"http://localhost/a.json\"}]\n",
			Config{Bindings: byDefault, Protocol: []Protocol{{Version: "9.1", URL: "https://a.example/a2a.proto"}, {Version: "9.2", URL: "http://127.0.0.1:80/a.json"}, {Version: "1.3", URL: "http://localhost/a.json"}}, Card: "agent.yaml", Store: "memory", Packages: usual},
		},
		{
			"encodings beside JSON", "protocol: [\"1.0\", \"0.3\"]\nencodings: [protojson, proto]\n",
			Config{Bindings: byDefault, Protocol: []Protocol{{Version: "1.0"}, {Version: "0.3"}}, Encodings: []Encoding{{Name: "protojson"}, {Name: "proto"}}, Card: "agent.yaml", Store: "memory", Packages: usual},
		},
		{
			"messages that come again are known by their ids", "idempotency: messageId\n",
			Config{Bindings: byDefault, Protocol: []Protocol{{Version: "1.0"}}, Repeats: Repeats{ByMessage: true}, Card: "agent.yaml", Store: "memory", Packages: usual},
		},
		{
			"how long they are known", "idempotency: {by: messageId, window: 1h}\n",
			Config{Bindings: byDefault, Protocol: []Protocol{{Version: "1.0"}}, Repeats: Repeats{ByMessage: true, Window: time.Hour}, Card: "agent.yaml", Store: "memory", Packages: usual},
		},
		{"a definition of one's own needs no other version", "protocol: [{version: \"1.1-preview\", file: a.proto}]\n", Config{Bindings: byDefault, Protocol: []Protocol{{Version: "1.1-preview", File: "a.proto"}}, Card: "agent.yaml", Store: "memory", Packages: usual}},
		{
			"everything that can be said",
			"protocol: [\"1.0\"]\nprotocol_import: example.com/shared/a2a\ncard: cards/weather.json\npackages: {agent: internal/agent, skills: handlers}\nstore: sqlite\ntelemetry: otel\nmcp: true\ncatalog: ../cards\n" +
				"clients:\n  - {name: routes, url: \"https://routes.example.com\"}\n  - {name: old, file: old/card.json, out: clients/old}\n  - {name: sky, catalog: weather-agent@1.2.0}\n",
			Config{
				Catalog:  "../cards",
				Bindings: byDefault, Protocol: []Protocol{{Version: "1.0"}}, Card: "cards/weather.json", ProtocolImport: "example.com/shared/a2a",
				Store: "sqlite", Telemetry: TelemetryOTel, Packages: Packages{Protocol: "a2a", Agent: "internal/agent", Client: "client", Skills: "handlers", Extensions: "extensions"},
				Clients: []Client{
					{Name: "routes", URL: "https://routes.example.com", Out: "client/routes"},
					{Name: "old", Path: "old/card.json", Out: "clients/old"},
					{Name: "sky", Catalog: "weather-agent@1.2.0", Out: "client/sky"},
				},
			},
		},
	}
	editor := editorSchema(t)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.want.File = File
			got, list := Read(File, []byte(tt.src))
			if len(list) > 0 {
				t.Fatal(list)
			}
			if diff := cmp.Diff(&tt.want, got, ignorePositions); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if v, ok := value(t, tt.src); ok {
				if err := editor.Validate(v); err != nil {
					t.Errorf("the editor's schema says: %v", err)
				}
			}
		})
	}
}

func TestMistakes(t *testing.T) {
	tests := []struct {
		name, src, want string
		onlyReader      bool // the JSON Schema cannot express it
	}{
		{"a misspelt key", "protocl: [\"1.0\"]\n", `a2agen.yaml:1:1: unknown key "protocl" in configuration (did you mean "protocol"?)`, false},
		{"a key in the place of its hash", "auth: {key: {keys: [{caller: ci, sha256: open sesame}]}}\n", "a2agen.yaml:1:42: the hash is not 64 hexadecimal digits (" + hashKey + ")", true},
		{"a key that is a number", "auth: {key: {keys: [{caller: ci, sha256: [1]}]}}\n", `a2agen.yaml:1:42: "sha256" must be text, not a list (` + hashKey + ")", false},
		{"a key beside its caller", "auth: {key: {keys: [{caller: ci, key: open sesame}]}}\n", "a2agen.yaml:1:21: key entry lacks the key \"sha256\"\na2agen.yaml:1:34: key \"key\" does not belong in key entry (" + hashKey + ")", false},
		{"a password in the place of its hash", "auth: {login: {passwords: [{user: ada, hash: open sesame}]}}\n", "a2agen.yaml:1:46: the hash is not of the form pbkdf2-sha256$iterations$salt$hash (" + hashPassword + ")", true},
		{"two kinds of credentials", "auth: {key: {issuer: \"https://id.example\", ca: ca.pem}}\n", `a2agen.yaml:1:44: "issuer" and "ca" exclude each other: they are of different kinds of credentials`, true},
		{"no word that there is", "auth: {key: mine}\n", `a2agen.yaml:1:13: "key" cannot be "mine" (write own)`, false},
		{"a list of verifiers", "auth: {key: [own]}\n", `a2agen.yaml:1:13: "key" must be text, not a list (write own, or which credentials are good)`, false},
		{"a verifier that says nothing", "auth: {key: {}}\n", "a2agen.yaml:1:13: the verifier says nothing (leave it out for what the environment says)", true},
		{"a proxy that is a name", "auth: {cert: {proxies: [proxy.example]}}\n", `a2agen.yaml:1:25: "proxy.example" is no address and no network (such as 10.1.2.3 or 10.1.0.0/16)`, true},
		{"a symmetric algorithm", "auth: {idp: {algorithms: [HS256]}}\n", `a2agen.yaml:1:27: an element of "algorithms" cannot be "HS256" (did you mean "ES256"?)`, false},
		{"a version that is a number", "protocol: [1.0]\n", `a2agen.yaml:1:12: an element of "protocol" must be text, not the number 1.0 (put it in quotes: "1.0")`, false},
		{"a version this tool does not have", "protocol: [\"1.0\", \"7\"]\n", `a2agen.yaml:1:19: an element of "protocol" cannot be "7" (one of ` + inYAML(Supported()) + `)`, false},
		{"a draft", "protocol: [\"1.0\", \"1.1-draft\"]\n", `a2agen.yaml:1:19: warning: "1.1-draft" is a draft of A2A and not final: it may change, or go, with any later a2agen`, true},
		{"a draft alone", "protocol: [\"1.1-draft\"]\n", `a2agen.yaml:1:12: "1.1-draft" is a draft of A2A, which no agent speaks alone (list "1.0" beside it)`, true},
		{"a version that is a list", "protocol: [[\"1.0\"]]\n", `a2agen.yaml:1:12: an element of "protocol" must be text, not a list (write ` + quoted(Supported()) + `, the versions this tool has, or {version: "1.1-preview", file: protocol/a2a.proto})`, false},
		{"a definition without a version", "protocol: [{file: protocol/a2a.proto}]\n", `a2agen.yaml:1:12: definition lacks the key "version"`, false},
		{"a definition without a file", "protocol: [{version: \"9.1\"}, \"1.0\"]\n", `a2agen.yaml:1:12: definition needs the key "file" or "url"`, true},
		{"a definition from two places", "protocol: [{version: \"9.1\", url: \"https://a.example/a2a.proto\", file: a.proto}]\n", `a2agen.yaml:1:34: "file" and "url" exclude each other`, true},
		{"a definition over http", "protocol: [{version: \"9.1\", url: \"http://a.example/a2a.proto\"}]\n", `a2agen.yaml:1:34: a definition is fetched over https, not from "http://a.example/a2a.proto"`, true},
		{"a definition over http from a private network", "protocol: [{version: \"9.1\", url: \"http://10.0.0.1/a2a.proto\"}]\n", `a2agen.yaml:1:34: a definition is fetched over https, not from "http://10.0.0.1/a2a.proto"`, true},
		{"a definition whose URL holds credentials", "protocol: [{version: \"9.1\", url: \"https://u:p@a.example/a2a.proto\"}]\n", `a2agen.yaml:1:34: "url" must be an http or https URL: it holds credentials`, false},
		{"a definition's URL that is a path", "protocol: [{version: \"9.1\", url: protocol/a2a.proto}]\n", `a2agen.yaml:1:34: "url" must be an http or https URL: it does not begin with https://`, false},
		{"a file where a fetched definition is kept", "protocol: [{version: \"9.1\", url: \"https://a.example/a2a.proto\"}, {version: \"9.2\", file: protocol/9.1.json}]\n", `a2agen.yaml:1:89: "protocol/9.1.json" is where a2agen keeps the definition of version "9.1", which it fetches (give yours another name)`, true},
		{"a definition outside the project", "protocol: [{version: \"9.1\", file: ../a2a.proto}]\n", `a2agen.yaml:1:35: "../a2a.proto" is not the path of a .proto or .json file inside the project`, true},
		{"a definition that is neither a proto nor a schema", "protocol: [{version: \"9.1\", file: a2a.txt}]\n", `a2agen.yaml:1:35: "file" must be the path of a .proto or .json file inside the project, not "a2a.txt"`, false},
		{"a definition whose version is a number", "protocol: [{version: 1.1, file: a.proto}]\n", `a2agen.yaml:1:22: "version" must be text, not the number 1.1 (put it in quotes: "1.1")`, false},
		{"a definition whose version has a patch number", "protocol: [{version: \"1.1.2\", file: a.proto}]\n", `a2agen.yaml:1:22: "version" must be MAJOR.MINOR with a word if you like, such as "1.1-preview", not "1.1.2"`, false},
		{"a definition named like one that ships", "protocol: [{version: \"0.3\", file: a.proto}]\n", `a2agen.yaml:1:22: version "0.3" ships with a2agen (write "0.3" alone for the one that ships, or name yours otherwise, such as "0.3-mine")`, true},
		{"two definitions of one version", "protocol: [{version: \"9.1\", file: a.proto}, {version: \"9.1\", file: b.proto}]\n", "a2agen.yaml:1:45: protocol version \"9.1\" is listed twice\n\ta2agen.yaml:1:12: first here", true},
		{"a version listed twice", "protocol: [\"1.0\", \"1.0\"]\n", "a2agen.yaml:1:19: protocol version \"1.0\" is listed twice\n\ta2agen.yaml:1:12: first here", true},
		{"no version", "protocol: []\n", `a2agen.yaml:1:11: "protocol" is empty`, false},
		{"a version without a list", "protocol: \"1.0\"\n", `a2agen.yaml:1:11: "protocol" must be a list, not the text "1.0" (write ["1.0"])`, false},
		{"the module path", "module: example.com/x\n", `a2agen.yaml:1:1: key "module" does not belong in configuration (the module path is read from go.mod)`, false},
		{"a card outside the project", "card: ../agent.yaml\n", `a2agen.yaml:1:7: "../agent.yaml" is not the path of a file inside the project`, true},
		{"an absolute card", "card: /etc/passwd\n", `a2agen.yaml:1:7: "card" must be the path of a file inside the project, not "/etc/passwd"`, false},
		{"a package outside the project", "packages: {agent: ../agent}\n", `a2agen.yaml:1:19: "agent" must be a folder inside the project that ends in a Go package name, not "../agent"`, false},
		{"a package named like a keyword", "packages: {agent: type}\n", `a2agen.yaml:1:19: "type" cannot be a package name`, true},
		{"a package that Go takes for tests", "packages: {skills: a/b_test}\n", `a2agen.yaml:1:20: "b_test" cannot be a package name: Go takes it for tests`, true},
		{"a package that Go does not build", "packages: {agent: vendor/agent}\n", `a2agen.yaml:1:19: "vendor/agent" is a folder that Go does not build`, true},
		{"a package that is not a Go name", "packages: {agent: my-agent}\n", `a2agen.yaml:1:19: "agent" must be a folder inside the project that ends in a Go package name, not "my-agent"`, false},
		{"two packages in one folder", "packages: {agent: skills}\n", "a2agen.yaml:1:11: two packages share the folder \"skills\"\n\ta2agen.yaml:1:19: first here", true},
		{"two clients of one name", "clients:\n  - {name: a, url: \"https://a.example.com\"}\n  - {name: a, file: a.json, out: client/b}\n",
			"a2agen.yaml:3:5: two clients are named \"a\"\n\ta2agen.yaml:2:5: first here", true},
		{"a client in the folder of a package", "clients: [{name: a, file: a.json, out: agent}]\n", "a2agen.yaml:1:11: two packages share the folder \"agent\"\n\ta2agen.yaml:1:1: first here", true},
		{"a client without a card", "clients: [{name: a}]\n", `a2agen.yaml:1:11: client needs the key "url", "catalog" or "file"`, true},
		{"a client with two cards", "clients: [{name: a, url: \"https://a.example.com\", file: a.json}]\n", `a2agen.yaml:1:57: "url" and "file" exclude each other`, true},
		{"a client with a card of a catalog and a URL", "clients: [{name: a, url: \"https://a.example.com\", catalog: b}]\n", `a2agen.yaml:1:60: "url" and "catalog" exclude each other`, true},
		{"a name that no catalog has", "clients: [{name: a, catalog: My Agent}]\n", `a2agen.yaml:1:30: "catalog" must be NAME or NAME@VERSION as a2agen card catalog list shows them, not "My Agent"`, false},
		{"a catalog that is nowhere", "catalog: /srv/cards\n", `a2agen.yaml:1:10: "/srv/cards" is not a folder relative to the project`, true},
		{"a client named like nothing in Go", "clients: [{name: My Client, file: a.json}]\n", `a2agen.yaml:1:18: "name" must be a Go package name, not "My Client"`, false},
		{"an import path that is none", "protocol_import: a b\n", `a2agen.yaml:1:18: "a b" is not a Go import path`, true},
		{"an encoding that there is not", "encodings: [xml]\n", `a2agen.yaml:1:13: an element of "encodings" cannot be "xml" (one of proto, protojson)`, false},
		{"another way to know messages", "idempotency: contextId\n", `a2agen.yaml:1:14: "idempotency" cannot be "contextId" (write messageId)`, false},
		{"a number where words are to choose from", "idempotency: 3\nstore: 3\n", "a2agen.yaml:1:14: \"idempotency\" must be text, not the number 3 (write messageId)\n" +
			`a2agen.yaml:2:8: "store" must be text, not the number 3 (one of memory, postgres, sqlite)`, false},
		{"a window that is none", "idempotency: {window: soon}\n", `a2agen.yaml:1:23: "window" must be a positive duration, not "soon" (such as 30s, 1m30s or 2h)`, false},
		{"an encoding listed twice", "encodings: [proto, proto]\n", "a2agen.yaml:1:20: encoding \"proto\" is listed twice\n\ta2agen.yaml:1:13: first here", true},
		{"encodings of an imported package", "protocol_import: example.com/a2a\nencodings: [proto]\n", `a2agen.yaml:2:13: "encodings" are those of a package that is generated, and "protocol_import" takes one that is (list it where that package is generated)`, true},
		{"a URL with credentials", "clients: [{name: a, url: \"https://u:p@a.example.com\"}]\n", `a2agen.yaml:1:26: "url" must be an http or https URL: it holds credentials`, false},
		{"broken YAML", "protocol: [\"1.0\"\n", `a2agen.yaml:2:1: did not find expected ',' or ']'`, true},
	}
	editor := editorSchema(t)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			cfg, list := Read(File, []byte(tt.src))
			if cfg == nil {
				t.Fatal("no configuration")
			}
			var b strings.Builder
			if err := list.WriteText(&b); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want+"\n", b.String()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if v, ok := value(t, tt.src); ok {
				if accepted := editor.Validate(v) == nil; accepted != tt.onlyReader {
					t.Errorf("accepted by the editor's schema: %v, want %v", accepted, tt.onlyReader)
				}
			}
		})
	}
}

func editorSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(JSONSchema()))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource(SchemaPath, doc); err != nil {
		t.Fatal(err)
	}
	s, err := compiler.Compile(SchemaPath)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func value(t *testing.T, src string) (v any, ok bool) {
	t.Helper()
	root, list := yamlx.Parse(File, []byte(src))
	if list.HasErrors() {
		return nil, false
	}
	if err := json.Unmarshal(yamlx.JSON(root), &v); err != nil {
		t.Fatal(err)
	}
	return v, true
}

func TestScaffoldNamesTheSchemaAndHasOneLineEntries(t *testing.T) {
	src := string(Scaffold("", nil, nil))
	if !strings.HasPrefix(src, "# yaml-language-server: $schema=.a2agen/a2agen.schema.json\n") {
		t.Errorf("first line: %.80q", src)
	}
	if !strings.Contains(src, "\nprotocol: [\"1.0\", \"0.3\"]\n") {
		t.Error(`no line protocol: ["1.0", "0.3"]`)
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte("protocol: [\"1.0\"]\nclients:\n  - {name: a, file: a.json}\n"))
	f.Add(Scaffold("", nil, nil))
	f.Add([]byte("packages: {agent: ../..}\n"))
	f.Add([]byte("protocol: [{version: \"9.1\", file: ../a.proto}, {version: \"1.2-x\", file: p/a.proto}]\n"))
	f.Add([]byte("clients: [&a {name: x, url: \"https://x\"}, *a]\n"))
	f.Fuzz(func(t *testing.T, src []byte) {
		cfg, list := Read(File, src)
		if cfg == nil || len(cfg.Protocol) == 0 {
			t.Fatal("no configuration")
		}
		for _, d := range list {
			if d.Pos.Line < 1 || d.Message == "" {
				t.Errorf("a diagnostic without position or text: %+v", d)
			}
		}
		if list.HasErrors() {
			return
		}
		paths := []string{cfg.Card, cfg.Packages.Agent, cfg.Packages.Client, cfg.Packages.Protocol, cfg.Packages.Skills}
		for _, p := range cfg.Protocol {
			if p.Version == "" {
				t.Error("a version without a name")
			}
			if p.File != "" {
				paths = append(paths, p.File)
			}
		}
		for _, p := range paths {
			if p == "" || strings.HasPrefix(p, "/") || strings.Contains(p, "..") && strings.Contains("/"+p+"/", "/../") {
				t.Errorf("path %q leaves the project", p)
			}
		}
	})
}

func TestVersionsAreNewestFirstInWhateverOrderTheyAreListed(t *testing.T) {
	cfg, list := Read(File, []byte("protocol: [\"0.1\", \"1.0\", \"0.3\"]\n"))
	if len(list) > 0 {
		t.Fatal(list)
	}
	if diff := cmp.Diff([]string{"1.0", "0.3", "0.1"}, cfg.Versions()); diff != "" {
		t.Error(diff)
	}
}

// inYAML lists versions as YAML has them: those that it would read as numbers are in quotes.
func inYAML(versions []string) string {
	versions = slices.Sorted(slices.Values(versions))
	for i, v := range versions {
		if _, err := strconv.ParseFloat(v, 64); err == nil {
			versions[i] = strconv.Quote(v)
		}
	}
	return strings.Join(versions, ", ")
}
