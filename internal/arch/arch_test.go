// Package arch holds the tests of the repository's structure: which package may import which, and what an agent links.
package arch

import (
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/a2agen/a2agen"
)

const module = a2agen.Module

// rows say of every package of ours what of ours it imports. Read them from the bottom of the building to its top. A
// row that grows longer deserves a second thought: who learns about whom by it?
var rows = map[string]string{
	// What agents link. It knows nothing of what is generated.
	"runtime/wire":              "",
	"runtime/gen/proto":         "runtime/wire",
	"internal/sse":              "",
	"internal/filelock":         "",
	"internal/frames":           "internal/sse",
	"runtime":                   "runtime/wire",
	"runtime/observe":           "runtime",
	"runtime/internal/budget":   "runtime",
	"runtime/internal/keyset":   "",
	"runtime/internal/nested":   "runtime",
	"runtime/internal/news":     "runtime",
	"runtime/internal/security": "runtime",
	"runtime/internal/guard":    "runtime runtime/auth runtime/internal/security",
	"internal/taskstate":        "runtime",
	"runtime/check":             "",
	"runtime/gen":               "runtime runtime/wire",
	"runtime/gen/handler":       "runtime/task",
	"runtime/gen/check":         "runtime/check runtime/wire",
	"runtime/gen/check/format":  "runtime/check runtime/gen/check",
	"runtime/gen/legacy":        "runtime runtime/wire",
	"runtime/gen/legacyproto":   "runtime runtime/gen/legacy runtime/gen/proto runtime/wire",
	"runtime/store":             "runtime internal/taskstate",
	"runtime/store/memory":      "runtime internal/taskstate runtime/store",
	"runtime/store/admin":       "runtime runtime/store/internal/transfer",
	"runtime/store/sqlite":      "runtime internal/filelock internal/taskstate runtime/store runtime/store/admin runtime/store/internal/relational runtime/store/internal/stored runtime/store/internal/transfer",
	"runtime/internal/invalid":  "runtime runtime/check runtime/wire",
	"runtime/internal/route":    "runtime runtime/check runtime/internal/invalid runtime/wire",
	"runtime/internal/deliver":  "runtime runtime/internal/budget runtime/internal/observing runtime/observe runtime/store",
	"runtime/internal/feed":     "runtime runtime/internal/budget runtime/store runtime/wire",
	"runtime/internal/run": "runtime runtime/internal/budget runtime/internal/feed " +
		"runtime/internal/invalid runtime/internal/nested runtime/internal/observing runtime/internal/route internal/taskstate " +
		"runtime/observe runtime/store runtime/task runtime/wire",
	"runtime/store/internal/stored": "runtime internal/taskstate runtime/store",
	"runtime/store/internal/relational": "runtime internal/taskstate runtime/store runtime/store/admin runtime/store/internal/stored " +
		"runtime/store/internal/transfer",
	"runtime/store/postgres": "runtime internal/taskstate runtime/store runtime/store/admin runtime/store/internal/relational runtime/store/internal/stored runtime/store/internal/transfer",

	"runtime/task":          "runtime runtime/wire",
	"runtime/gen/extension": "runtime runtime/wire",
	"runtime/internal/engine": "runtime runtime/internal/budget runtime/internal/deliver runtime/internal/feed " +
		"runtime/internal/invalid runtime/internal/observing runtime/internal/route runtime/internal/run " +
		"runtime/observe runtime/store runtime/store/memory runtime/wire",
	"runtime/audit":      "runtime runtime/observe runtime/wire",
	"runtime/auth":       "runtime runtime/internal/security",
	"runtime/auth/token": "runtime/auth runtime/internal/keyset runtime/wire",
	"runtime/server": "runtime runtime/audit runtime/auth runtime/internal/deliver runtime/internal/engine runtime/internal/guard runtime/store/memory " +
		"runtime/internal/invalid runtime/internal/run runtime/observe runtime/server/internal/binding runtime/store runtime/task runtime/wire",
	"runtime/server/internal/binding": "runtime runtime/auth runtime/internal/budget runtime/internal/engine runtime/internal/errorformat runtime/internal/guard " +
		"runtime/internal/invalid runtime/internal/observing runtime/internal/route runtime/observe internal/sse runtime/wire",
	"runtime/server/grpcserver": "runtime runtime/internal/engine runtime/internal/errorformat runtime/server " +
		"runtime/server/internal/binding runtime/gen/proto",
	"runtime/server/mcpserver": "runtime runtime/client runtime/internal/engine runtime/mcp runtime/observe runtime/server " +
		"runtime/server/internal/binding internal/sse",
	"runtime/internal/errorformat": "runtime",
	"runtime/internal/observing":   "runtime/observe runtime/wire",
	"runtime/server/webhooks":      "runtime runtime/server",
	"runtime/client": "runtime runtime/check runtime/gen/extension runtime/internal/nested runtime/internal/news runtime/internal/observing runtime/internal/security runtime/observe internal/sse " +
		"runtime/wire",
	"runtime/client/oauth":      "internal/filelock runtime/client runtime/internal/keyset runtime/wire",
	"runtime/client/grpcclient": "runtime runtime/client runtime/internal/errorformat runtime/wire",
	"runtime/mcp":               "runtime runtime/check runtime/client runtime/gen/skilltool runtime/tool",
	"runtime/otel":              "runtime runtime/observe runtime/store",
	"runtime/openapi":           "runtime runtime/internal/ownhost",
	"runtime/mcptools":          "runtime runtime/internal/nested runtime/internal/ownhost runtime/task",
	"runtime/internal/ownhost":  "",
	"runtime/push":              "runtime runtime/internal/budget runtime/internal/news",
	"runtime/tool":              "runtime runtime/check runtime/client runtime/wire",
	"runtime/gen/skilltool":     "runtime runtime/check runtime/client runtime/tool",
	"runtime/push/verify":       "runtime runtime/internal/keyset runtime/push runtime/wire",
	"runtime/signedcard":        "runtime runtime/internal/keyset runtime/wire",

	// The test kit: what users' tests and our tools link, and no agent.
	"testkit/authtest":  "runtime runtime/auth runtime/client runtime/server",
	"testkit/storetest": "runtime internal/test/seeds internal/taskstate runtime/store runtime/store/memory",
	"testkit/conform":   "internal/sse",
	"testkit/fault":     "runtime internal/frames",
	"testkit/record":    "runtime/client internal/sse",
	"testkit/mcptest":   "",
	"testkit/a2atest":   "runtime runtime/auth runtime/client testkit/fault runtime/server runtime/store/memory runtime/task runtime/wire",

	// Stores that are copied, and several that are one.
	"runtime/store/internal/transfer": "internal/taskstate runtime/store",

	// What is generated and kept in this module.
	"a2a":                             "runtime runtime/gen runtime/wire",
	"a2a/a2aclient":                   "a2a runtime runtime/client runtime/gen",
	"internal/a2awires/a2aclient":     "internal/a2awires runtime runtime/client runtime/gen",
	"internal/test/a2amore/a2aclient": "internal/test/a2amore runtime runtime/client runtime/gen",
	"internal/a2awires":               "runtime runtime/gen runtime/gen/legacy runtime/gen/legacyproto runtime/wire runtime/gen/proto",

	// Values that every stage of generating speaks in.
	"generator/diag":     "",
	"generator/suggest":  "",
	"generator/jsontype": "",
	"generator/ir":       "",
	"generator/names":    "generator/ir",
	"generator/output":   "",
	"templates":          "",
	".":                  "", // the source that the tool carries

	// Reading what people write.
	"spec":             "generator/diag generator/schema generator/suggest generator/yamlx",
	"generator/yamlx":  "generator/diag",
	"generator/shape":  "generator/diag generator/suggest generator/yamlx",
	"generator/config": "generator/diag generator/ir generator/shape generator/yamlx runtime spec",
	"generator/schema": "generator/diag generator/ir generator/jsontype generator/names generator/suggest generator/yamlx runtime/gen/check/format runtime/wire",
	"generator/card":   "generator/diag generator/ir generator/names generator/schema generator/shape generator/suggest generator/yamlx runtime runtime/auth",

	// Comparing what others publish.
	"generator/schemadiff": "generator/jsontype generator/schema runtime/wire",
	"generator/carddiff":   "generator/card generator/diag generator/schema generator/schemadiff generator/suggest generator/yamlx runtime",

	// Deciding, and printing what was decided.
	"generator/lower":    "generator/card generator/diag generator/ir generator/names generator/schema generator/yamlx runtime spec",
	"generator/emit":     "generator/ir generator/names generator/output runtime runtime/client runtime/tool runtime/wire",
	"generator/scaffold": ". generator/config generator/ir generator/names generator/output generator/schema runtime runtime/openapi templates",
	"generator": ". generator/card generator/config generator/diag generator/emit generator/ir generator/lower generator/names generator/output " +
		"generator/scaffold generator/suggest runtime runtime/auth runtime/client spec",

	// What surrounds generating.
	"internal/project/disk":   "generator/output internal/filelock",
	"internal/project/merge":  "",
	"internal/project/remote": "spec",
	"internal/catalog": "generator/card generator/carddiff generator/diag generator/output generator/schemadiff generator/suggest internal/project/disk " +
		"internal/project/remote runtime/wire",
	"internal/contract": "generator/diag generator/schema generator/yamlx",
	"internal/mcptools": "generator/diag generator/schemadiff generator/suggest generator/yamlx internal/contract runtime/mcptools runtime/wire",
	"internal/openapi":  "generator/diag generator/schema generator/suggest generator/yamlx internal/contract runtime/openapi runtime/wire",
	"internal/watch":    "",
	"internal/project": ". generator generator/card generator/carddiff generator/config generator/diag generator/emit generator/names generator/output " +
		"generator/scaffold generator/suggest internal/catalog internal/contract internal/mcptools internal/openapi internal/project/disk internal/project/merge internal/project/remote internal/shell internal/watch runtime runtime/mcptools runtime/signedcard runtime/wire spec",

	// The command.
	"internal/shell":  "",
	"internal/login":  "internal/a2awires internal/shell runtime/auth runtime/client runtime/client/grpcclient runtime/client/oauth",
	"internal/bridge": "generator/card generator/lower internal/a2awires internal/project/remote internal/talk runtime/client runtime/mcp",
	"internal/talk":   "generator/yamlx internal/a2awires internal/dev/traffic internal/login internal/shell runtime runtime/client runtime/client/grpcclient runtime/client/oauth runtime/gen runtime/server runtime/wire",
	"cmd/a2agen": ". generator generator/card generator/carddiff generator/config generator/diag generator/lower generator/scaffold generator/suggest generator/yamlx internal/a2awires internal/bridge internal/catalog internal/dev internal/faultproxy internal/project " +
		"internal/project/disk internal/login internal/shell internal/talk internal/timeline runtime runtime/client/oauth testkit/conform testkit/fault runtime/server runtime/signedcard runtime/store/admin runtime/store/postgres runtime/store/sqlite spec",
	"internal/faultproxy": "runtime testkit/fault",

	"internal/timeline": "",

	// The loop of development.
	"internal/dev/status":    "",
	"internal/dev/live":      "",
	"internal/dev/program":   "internal/dev/status runtime/server",
	"internal/dev/proxy":     "internal/frames testkit/fault internal/sse",
	"internal/dev/traffic":   "internal/frames internal/dev/live runtime testkit/fault testkit/record internal/sse spec",
	"internal/dev/page":      "internal/dev/live internal/dev/status internal/dev/traffic",
	"internal/dev/reply":     "",
	"internal/dev/faults":    "internal/dev/reply internal/dev/traffic internal/faultproxy runtime testkit/fault",
	"internal/dev/inbox":     "internal/dev/live internal/dev/reply internal/dev/traffic runtime runtime/push runtime/push/verify",
	"internal/dev/recording": "internal/dev/traffic runtime testkit/fault testkit/record",
	"internal/dev/quiet":     "internal/dev/recording",
	"internal/dev/snippet":   "generator/ir internal/dev/traffic internal/shell runtime testkit/record",
	"internal/dev/copies":    "internal/dev/recording internal/dev/reply internal/dev/snippet internal/dev/status internal/dev/traffic",
	"internal/dev/forms":     "internal/a2awires internal/frames internal/dev/traffic runtime internal/sse",
	"internal/dev/cards":     "generator/diag internal/dev/quiet internal/dev/recording internal/dev/reply internal/dev/status internal/project",
	"internal/dev/identity":  "internal/dev/reply runtime/auth runtime/client",
	"internal/dev/caller":    "internal/a2awires internal/dev/forms internal/dev/identity internal/dev/reply internal/dev/traffic runtime runtime/client runtime/client/grpcclient",
	"internal/dev": "generator/diag generator/scaffold internal/a2awires internal/filelock internal/dev/cards internal/dev/identity internal/dev/caller internal/dev/copies internal/dev/forms internal/dev/faults internal/dev/inbox internal/dev/quiet internal/dev/reply internal/dev/snippet internal/dev/live internal/dev/page internal/dev/program internal/dev/proxy internal/dev/status " +
		"internal/dev/traffic internal/faultproxy internal/project internal/watch runtime/server",

	// Tools and helpers of this repository alone.
	"golden":                     "",
	"internal/arch":              "",
	"internal/demo":              "a2a a2a/a2aclient runtime runtime/client runtime/push runtime/server",
	"internal/measure":           "a2a runtime/gen/check runtime/gen/handler runtime/server runtime/wire",
	"internal/rename":            ".",
	"internal/release":           ".",
	"internal/regen":             ". generator generator/emit generator/ir generator/lower generator/output spec",
	"internal/requirements":      "",
	"internal/test/a2amore":      "internal/a2awires runtime runtime/gen runtime/gen/legacy runtime/wire runtime/gen/proto",
	"internal/test/broken":       "",
	"internal/test/bundletest":   "spec",
	"internal/test/equivalence":  "",
	"internal/test/faultstore":   "runtime runtime/store",
	"internal/test/mcpserver":    "",
	"internal/test/gotool":       "",
	"internal/test/growth":       "",
	"internal/test/killtest":     "",
	"internal/test/wintest":      "",
	"internal/test/ledger":       "runtime runtime/push internal/sse",
	"internal/test/observed":     "runtime/observe",
	"internal/test/official":     "",
	"internal/test/projecttest":  "",
	"internal/test/seeds":        "",
	"internal/test/postgrestest": "internal/test/gotool",
	"internal/test/prototest":    "",
	"internal/test/ringtest":     "",
	"internal/test/talktest":     "internal/a2awires runtime runtime/check runtime/server",
	"internal/test/testcert":     "",
}

// impure are packages of the standard library by which a program meets the world.
var impure = []string{"os", "os/exec", "os/signal", "net", "net/http", "net/http/httptest", "syscall", "log", "log/slog"}

type pkg struct {
	ImportPath string
	Imports    []string
	Deps       []string
}

func list(t *testing.T, args ...string) []pkg {
	t.Helper()
	readFolders(t)
	cmd := exec.Command("go", append([]string{"list", "-json=ImportPath,Imports,Deps"}, args...)...)
	cmd.Dir = "../.."
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var ps []pkg
	for dec := json.NewDecoder(strings.NewReader(string(out))); dec.More(); {
		var p pkg
		if err := dec.Decode(&p); err != nil {
			t.Fatal(err)
		}
		ps = append(ps, p)
	}
	return ps
}

// readFolders looks into every folder, so that the go command runs these tests again when a file changes: it does not
// see what another program reads.
func readFolders(t *testing.T) {
	t.Helper()
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && len(d.Name()) > 2 && strings.HasPrefix(d.Name(), ".") {
			return fs.SkipDir
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestArrows holds every package to its row, and every row to its package.
func TestArrows(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range list(t, "./...") {
		from, _ := ours(p.ImportPath)
		seen[from] = true
		row, ok := rows[from]
		if !ok {
			t.Errorf("%s has no row: say in rows of internal/arch what of ours it imports, beside the packages it is like", from)
			continue
		}
		allowed := strings.Fields(row)
		for _, imp := range p.Imports {
			to, ok := ours(imp)
			if !ok {
				continue
			}
			i := slices.Index(allowed, to)
			if i < 0 {
				t.Errorf("%s imports %s, which its row does not allow", from, to)
				continue
			}
			allowed = slices.Delete(allowed, i, i+1)
		}
		if len(allowed) > 0 {
			t.Errorf("%s does not import %v: take that out of its row", from, allowed)
		}
	}
	for name := range rows {
		if !seen[name] {
			t.Errorf("there is no package %s: delete its row", name)
		}
	}
}

// TestThePageListsEveryPackage: docs/internals/architecture.md has one line for each package, and for nothing else.
func TestThePageListsEveryPackage(t *testing.T) {
	page, err := os.ReadFile("../../docs/internals/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	lines := map[string]int{}
	for _, m := range regexp.MustCompile("(?m)^\\| `([^`]+)` \\| [^|]+ \\|$").FindAllStringSubmatch(string(page), -1) {
		lines[m[1]]++
		if _, ok := rows[m[1]]; !ok {
			t.Errorf("the page lists %s, which is no package", m[1])
		}
	}
	for name := range rows {
		if lines[name] != 1 {
			t.Errorf("the page has %d lines for %s", lines[name], name)
		}
	}
}

// named are the files and folders that a page names in code, new ones aside, and the files in its diagrams.
var (
	named   = regexp.MustCompile("`((?:\\.?\\w+/)*[\\w.-]+\\.(?:go|md|yaml|yml|txt|tmpl)|(?:\\w+/)+\\w+)`( \\(new\\))?")
	drawn   = regexp.MustCompile(`(?m)^ {4,}.*?\b(\w+\.go)\b`)
	folders = []string{
		"", "docs/", "examples/weather/", "runtime/server/", "runtime/server/internal/binding/", "runtime/internal/engine/", "runtime/internal/run/", "generator/schema/", "generator/lower/",
	}
)

// TestPagesNameFilesThatAreThere: what a page calls a file is one, of this repository or of a generated project.
func TestPagesNameFilesThatAreThere(t *testing.T) {
	for _, page := range []string{"CONTRIBUTING.md", "docs/internals/architecture.md"} {
		text, err := os.ReadFile("../../" + page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range append(named.FindAllStringSubmatch(string(text), -1), drawn.FindAllStringSubmatch(string(text), -1)...) {
			isThere := func(folder string) bool {
				_, err := os.Stat("../../" + folder + m[1])
				return err == nil
			}
			if fresh := len(m) > 2 && m[2] != ""; !fresh && !slices.ContainsFunc(folders, isThere) {
				t.Errorf("%s names %s, which is not there", page, m[1])
			}
		}
	}
}

// TestGeneratingIsPure: the packages that read definitions and make files get and give values. Who opens files and connections for
// them is internal/project.
func TestGeneratingIsPure(t *testing.T) {
	for _, p := range list(t, ".", "./spec/...", "./templates/...", "./generator/...") {
		for _, imp := range p.Imports {
			if slices.Contains(impure, imp) {
				t.Errorf("%s imports %s: take a value, or a function that opens", p.ImportPath, imp)
			}
		}
	}
}

// TestAgentsLinkLittle holds the runtime and what is emitted to the standard library and our own packages, except the
// packages that agents link only by choice: each has its module, and nothing of ours imports it that does not have the same.
func TestAgentsLinkLittle(t *testing.T) {
	for _, p := range list(t, "./runtime/...", "./testkit/...", "./a2a", "./internal/a2awires") {
		from, _ := ours(p.ImportPath)
		for _, dep := range p.Deps {
			first, _, _ := strings.Cut(dep, "/")
			_, own := ours(dep)
			if !own && strings.Contains(first, ".") && a2agen.Chosen[from] == "" {
				t.Errorf("%s links %s", p.ImportPath, dep)
			}
		}
	}
	tool := []string{"cmd/a2agen", "internal/bridge", "internal/dev/caller", "internal/dev/forms", "internal/dev/inbox", "internal/login", "internal/mcptools", "internal/project", "internal/talk"} // is no agent
	for _, p := range list(t, "./...") {
		from, _ := ours(p.ImportPath)
		for _, imp := range p.Imports {
			if to, _ := ours(imp); a2agen.Chosen[to] != "" && a2agen.Chosen[to] != a2agen.Chosen[from] && !slices.Contains(tool, from) {
				t.Errorf("%s imports %s, which is for agents to choose", p.ImportPath, to)
			}
		}
	}
}

// shared are packages of the runtime that the test kit or the tool import, too: below runtime/internal they could not.
var shared = []string{"internal/filelock", "internal/frames", "internal/sse", "internal/taskstate"}

// TestTheRuntimeKnowsNothingGenerated: the runtime links itself and the standard library only, so that a change of the protocol needs
// no other runtime.
func TestTheRuntimeKnowsNothingGenerated(t *testing.T) {
	for _, p := range list(t, "./runtime/...", "./"+shared[0], "./"+shared[1], "./"+shared[2], "./"+shared[3]) {
		for _, dep := range p.Deps {
			if to, ok := ours(dep); ok && !slices.Contains(shared, to) && to != "runtime" && !strings.HasPrefix(to, "runtime/") {
				t.Errorf("%s links %s", p.ImportPath, to)
			}
		}
	}
}

// TestTheTestKitIsApart: what only tests link is in testkit, which links the runtime and nothing generated.
func TestTheTestKitIsApart(t *testing.T) {
	imported := map[string]bool{}
	runtime := list(t, "./runtime/...")
	for _, p := range runtime {
		for _, dep := range p.Deps {
			if dep == "testing" || strings.HasPrefix(dep, "testing/") || dep == "net/http/httptest" {
				t.Errorf("%s links %s: it belongs in testkit", p.ImportPath, dep)
			}
		}
		for _, imp := range p.Imports {
			imported[imp] = true
		}
	}
	for _, p := range runtime {
		if strings.Contains(p.ImportPath, "/internal/") && !imported[p.ImportPath] {
			t.Errorf("no package of the runtime imports %s outside its tests: it belongs in testkit, or in internal/test", p.ImportPath)
		}
	}
	for _, p := range list(t, "./testkit/...") {
		for _, dep := range p.Deps {
			to, ok := ours(dep)
			if house, _, _ := strings.Cut(to, "/"); ok && house != "runtime" && house != "testkit" && !slices.Contains(shared, to) && to != "internal/test/seeds" {
				t.Errorf("%s links %s", p.ImportPath, to)
			}
		}
	}
}

// TestTheEngineKnowsNoTransport: what a request looks like on its wire is its binding's to know.
func TestTheEngineKnowsNoTransport(t *testing.T) {
	for _, p := range list(t, "./runtime/internal/engine") {
		for _, dep := range p.Deps {
			if dep == "net/http" || dep == module+"/internal/sse" || dep == module+"/runtime/server" || dep == module+"/runtime/client" {
				t.Errorf("%s links %s", p.ImportPath, dep)
			}
		}
		if slices.Contains(p.Imports, "net/url") || slices.Contains(p.Imports, "net") {
			t.Errorf("%s imports net or net/url", p.ImportPath)
		}
	}
}

// ours is the path of a package in this module: "." for that of the root. false for the packages of others.
func ours(imp string) (string, bool) {
	if imp == module {
		return ".", true
	}
	return strings.CutPrefix(imp, module+"/")
}
