package golden

import (
	"bytes"
	"context"
	"debug/elf"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/a2agen/a2agen/generator/config"
	"github.com/a2agen/a2agen/internal/project"
	"github.com/a2agen/a2agen/internal/test/gotool"
)

// What a hello agent may weigh, linked as its Dockerfile links it, in bytes.
const (
	maxAgent     = 9_140_000 // 0.3 beside 1.0 is 0.3 MB of it
	maxOldAgent  = 9_050_000 // of 1.0 alone
	maxGRPCAgent = 13_300_000
	maxMCPAgent  = 12_450_000
)

// parts are functions of what only some agents link, by what asks for them.
var parts = map[string]string{
	"gRPC":       "google.golang.org/grpc.NewServer",
	"HTTP+JSON":  "github.com/a2agen/a2agen/runtime/server/internal/binding.(*REST).Serve",
	"auth":       "github.com/a2agen/a2agen/runtime/internal/guard.New",
	"push":       "github.com/a2agen/a2agen/runtime/internal/deliver.(*Worker).claim",
	"webhooks":   "github.com/a2agen/a2agen/runtime/server/webhooks.(*sender).",
	"SQLite":     "modernc.org/sqlite.",
	"PostgreSQL": "github.com/jackc/pgx",
	"0.3":        "github.com/a2agen/a2agen/runtime/gen/legacy.",
	"clients":    "example.com/hello/a2a.newTaskRequest",
	"configs":    "example.com/hello/a2a.newPushPage",
	"test kit":   "github.com/a2agen/a2agen/testkit/a2atest.",
	"MCP":        "github.com/modelcontextprotocol/go-sdk/",
	"conform":    "github.com/a2agen/a2agen/testkit/conform.",
}

// TestAnAgentLinksWhatItUses builds agents of one skill, and looks for each part in the functions of the program: it is
// there if the card or a2agen.yaml asks for it, and otherwise not.
func TestAnAgentLinksWhatItUses(t *testing.T) {
	if testing.Short() {
		t.Skip("links programs")
	}
	both := []string{"JSONRPC", "HTTP+JSON"}
	for name, test := range map[string]struct {
		options project.InitOptions
		push    bool
		mcp     bool
		long    bool
		parts   []string
		maximum int64
	}{
		"as init makes it":  {parts: []string{"HTTP+JSON", "0.3"}, maximum: maxAgent},
		"1.0":               {long: true, options: project.InitOptions{Protocol: []string{"1.0"}}, parts: []string{"HTTP+JSON"}, maximum: maxOldAgent},
		"JSON-RPC alone":    {long: true, options: project.InitOptions{Protocol: []string{"1.0"}, Bindings: both[:1]}, maximum: maxOldAgent - 50_000},
		"gRPC":              {options: project.InitOptions{Bindings: append(both, "GRPC")}, parts: []string{"HTTP+JSON", "gRPC", "0.3"}, maximum: maxGRPCAgent},
		"callers need keys": {long: true, options: project.InitOptions{Auth: "apikey"}, parts: []string{"HTTP+JSON", "0.3", "auth"}, maximum: maxAgent + 120_000},
		"MCP":               {long: true, mcp: true, parts: []string{"HTTP+JSON", "0.3", "MCP", "clients", "configs"}, maximum: maxMCPAgent},
		"push notifications in a file": {
			options: project.InitOptions{Store: "sqlite"}, push: true,
			parts: []string{"HTTP+JSON", "0.3", "push", "webhooks", "SQLite", "clients", "configs"}, maximum: 14_600_000,
		},
	} {
		t.Run(name, func(t *testing.T) {
			if test.long {
				gotool.Long(t)
			}
			dir := newAgent(t, test.options, test.push)
			if test.mcp {
				change(t, dir, config.File, func(text []byte) []byte { return append(text, "mcp: true\n"...) })
			}
			program := buildAgent(t, dir)
			functions, err := gotool.Command(dir, "tool", "nm", program).Output()
			if err != nil {
				t.Fatal(err)
			}
			for part, function := range parts {
				if got, want := strings.Contains(string(functions), " "+function), slices.Contains(test.parts, part); got != want {
					t.Errorf("it links %s: %v", part, got)
				}
			}
			size := stripped(t, program)
			t.Logf("%.2f MB", float64(size)/1e6)
			if size > test.maximum {
				t.Errorf("it has %d bytes, more than %d", size, test.maximum)
			}
		})
	}
}

// newAgent makes an agent, with push notifications on its card if it is to send some.
func newAgent(t *testing.T, o project.InitOptions, push bool) (dir string) {
	t.Helper()
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	dir = filepath.Join(t.TempDir(), "hello")
	o.Options, o.Runtime = project.Options{Dir: dir}, root
	if _, err := project.Init(context.Background(), o); err != nil {
		t.Fatal(err)
	}
	if push {
		change(t, dir, "agent.yaml", func(text []byte) []byte {
			return bytes.Replace(text, []byte("streaming: true"), []byte("streaming: true\n  pushNotifications: true"), 1)
		})
	}
	return dir
}

// change changes a file of an agent, and generates.
func change(t *testing.T, dir, name string, how func(text []byte) []byte) {
	t.Helper()
	file := filepath.Join(dir, name)
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, how(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := project.Run(context.Background(), project.Options{Dir: dir}); err != nil {
		t.Fatal(err)
	}
}

// buildAgent links an agent as its Dockerfile does, but with the names of its functions.
func buildAgent(t *testing.T, dir string) (program string) {
	t.Helper()
	program = filepath.Join(dir, "program")
	build := gotool.Command(dir, "build", "-tags=grpcnotrace", "-ldflags=-w", "-o", program, ".")
	build.Env = append(build.Environ(), "GOOS=linux", "CGO_ENABLED=0", "GOFLAGS=-mod=mod -trimpath")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return program
}

// stripped returns what a program would weigh if it had been linked without the names of its functions, as the Dockerfile says.
func stripped(t *testing.T, program string) (size int64) {
	t.Helper()
	f, err := elf.Open(program)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	info, err := os.Stat(program)
	if err != nil {
		t.Fatal(err)
	}
	return info.Size() - int64(f.Section(".symtab").Size+f.Section(".strtab").Size)
}

// TestAClientLinksNoServer lists what the clients of agents link that keep tasks in SQLite, are reached over gRPC, check tokens and send push
// notifications: their own binding's library, and nothing of what serves.
func TestAClientLinksNoServer(t *testing.T) {
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "hello")
	o := project.InitOptions{
		Options: project.Options{Dir: dir}, Runtime: root, Store: "sqlite", Auth: "bearer", Bindings: []string{"JSONRPC", "HTTP+JSON", "GRPC"},
	}
	if _, err := project.Init(context.Background(), o); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{dir, "../examples/weather", "../examples/routes"} {
		deps, err := gotool.Command(dir, "list", "-deps", "./client").CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, deps)
		}
		for _, pkg := range strings.Fields(string(deps)) {
			for _, serves := range []string{"/runtime/server", "/runtime/internal/engine", "/runtime/store", "/runtime/auth/token", "/testkit/a2atest", "/testkit/conform", "/testkit/fault", "modernc.org/sqlite", "/agent", "testing"} {
				if strings.HasPrefix(strings.TrimPrefix(pkg, "github.com/a2agen/a2agen"), serves) || strings.HasSuffix(pkg, serves) {
					t.Errorf("%s: the client links %s", filepath.Base(dir), pkg)
				}
			}
		}
	}
}
