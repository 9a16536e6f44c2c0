package project_test

import (
	"encoding/json"
	"fmt"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/a2agen/a2agen/a2a/a2aclient"
	gonames "github.com/a2agen/a2agen/generator/names"
	"github.com/a2agen/a2agen/internal/project"
	"github.com/a2agen/a2agen/internal/test/gotool"
	"github.com/a2agen/a2agen/internal/test/projecttest"
)

// hostileWords are names that Go, emitted code or the reader of either has a use for: of skills, of properties, of
// definitions.
func hostileWords() []string {
	names := []string{
		// the client's methods, the agent's and the client's declarations
		"Close", "close", "RPC", "rpc", "Card", "Client", "New", "FromCard", "Task", "Skills", "NewServer", "CardJSON", "SendMessage", "GetTask", "Get-Task",
		// what emitted code calls its own
		"v", "r", "c", "b", "x", "in", "out", "t", "s", "ctx", "err", "opts", "input", "card", "key", "ok", "seen", "others", "start", "start0", "i0", "k0", "e0", "value",
		"Validate", "UnmarshalJSON", "AppendJSON", "MarshalJSON", "AdditionalProperties", "Value", "readAInput", "checkAInput", "schemaPattern1", "skillA", "operations",
		"wire", "check", "server", "runtime", "agent", "client", "a2a", "time", "json", "context", "iter", "rpc_test", "main", "init", "test", "windows_amd64",
		// twins and scripts
		"a", "A", "a_b", "aB", "A-B", "a.b", "aInput", "a_input", "a-output", "a-stream", "a_answer", "aStream", "aAnswer", "Äpfel", "äpfel", "天气", "日本", "١٢", "x1", "1", "01", "😀", "_", "-",
		"string", "int64", "error", "any", "nil", "true", "len", "append", "comparable",
	}
	for m := range reflect.TypeFor[*a2aclient.Client]().Methods() {
		if !slices.Contains(names, m.Name) {
			names = append(names, m.Name)
		}
	}
	for tok := token.BREAK; tok <= token.VAR; tok++ {
		names = append(names, tok.String())
	}
	return names
}

// hostileCard is an agent with a skill for each name, whose contracts have all names as properties of every kind.
func hostileCard(t *testing.T) string {
	t.Helper()
	names := hostileWords()
	kinds := []map[string]any{
		{"type": "string"}, {"type": "object", "additionalProperties": map[string]any{"type": "integer"}}, {"type": "array", "items": map[string]any{"type": "object"}},
		{"enum": names[:20]}, {"type": "object", "properties": map[string]any{"a": true, "A": true}}, {"type": []string{"string", "integer", "null"}},
		{"type": "array", "uniqueItems": true, "items": map[string]any{"type": "object", "additionalProperties": map[string]any{"type": "object"}}},
	}
	props, defs := map[string]any{}, map[string]any{}
	for i, n := range names {
		props[n] = kinds[i%len(kinds)]
		props["ref "+n] = map[string]any{"$ref": "#/$defs/" + n}
		defs[n] = map[string]any{"type": "object", "properties": map[string]any{n: kinds[(i+1)%len(kinds)]}, "additionalProperties": map[string]any{"type": "string"}}
	}
	// All are required in one contract and none in the other.
	whole := map[string]any{"type": "object", "properties": props, "required": names, "additionalProperties": true, "$defs": defs}
	parts := map[string]any{"type": "object", "properties": props, "$defs": defs}
	var skills []map[string]any
	taken := map[string]bool{"X": true} // twins, and ids without a letter or digit, are refused
	for i, n := range names {
		if taken[gonames.Go(n)] || n == "MarshalJSON" || n == "UnmarshalJSON" { // vet knows better what these are
			continue
		}
		taken[gonames.Go(n)] = true
		s := map[string]any{"id": n, "name": n, "description": n, "tags": []string{n}}
		switch i % 4 {
		case 1:
			s["input"] = map[string]any{"type": "object", "properties": map[string]any{n: kinds[i%len(kinds)]}}
		case 2:
			s["output"] = map[string]any{"type": "object", "required": []string{n}, "properties": map[string]any{n: kinds[i%len(kinds)]}}
		}
		if i == 0 {
			s["input"], s["output"] = whole, parts
		}
		skills = append(skills, s)
	}
	text, err := json.MarshalIndent(map[string]any{"name": "hostile", "description": "Names.", "version": "1.0.0", "skills": skills}, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestHostileNamesCompileAndShadowNothing(t *testing.T) {
	gotool.Long(t)
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":     projecttest.GoMod("example.com/hostile", root),
		"agent.yaml": hostileCard(t),
		// What the client has of its own is still there: a skill's method of that name would not fit.
		"client/own_test.go": "package client\n\nimport \"example.com/hostile/a2a\"\n\nvar _ interface{ Close() } = (*Client)(nil)\n\nvar _ interface{ Card() *a2a.AgentCard } = (*Client)(nil)\n\nfunc own(c *Client) { c.RPC().Close() }\n",
	} {
		projecttest.WriteFile(t, filepath.Join(dir, name), text)
	}
	if r, err := project.Run(t.Context(), project.Options{Tool: project.Tool{Version: "v1.0.0"}, Dir: dir}); err != nil {
		t.Fatalf("%v\n%v", err, r.Diagnostics)
	}
	if out, err := gotool.Command(dir, "vet", "./...").CombinedOutput(); err != nil {
		t.Errorf("%v\n%.4000s", err, out)
	}
	client, err := os.ReadFile(filepath.Join(dir, "client", "client.gen.go"))
	if err != nil {
		t.Fatal(err)
	}
	for m := range reflect.TypeFor[*a2aclient.Client]().Methods() {
		if strings.Contains(string(client), fmt.Sprintf("func (c *Client) %s(", m.Name)) {
			t.Errorf("a skill has taken the client's %s", m.Name)
		}
	}
}
