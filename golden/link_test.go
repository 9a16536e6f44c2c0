package golden

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/a2agen/a2agen/internal/project"
	"github.com/a2agen/a2agen/internal/test/gotool"
)

// What a hello agent may weigh, linked as its Dockerfile links it, in bytes.
const (
	maxAgent     = 9_350_000 // 0.3 beside 1.0 is 0.4 MB of it
	maxGRPCAgent = 15_000_000
)

// TestAgentsLinkWhatTheyAreReachedBy builds agents of one skill: only one that is reached over gRPC links it, and neither
// links an HTTP client, or is large.
func TestAgentsLinkWhatTheyAreReachedBy(t *testing.T) {
	if testing.Short() {
		t.Skip("links programs")
	}
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		bindings []string
		tags     string
		links    bool
		maximum  int64
	}{
		{nil, "", false, maxAgent},
		{[]string{"JSONRPC", "HTTP+JSON", "GRPC"}, "grpcnotrace", true, maxGRPCAgent},
	} {
		t.Run(fmt.Sprint(test.bindings), func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "hello")
			o := project.InitOptions{Options: project.Options{Dir: dir}, Runtime: root, Bindings: test.bindings}
			if _, err := project.Init(context.Background(), o); err != nil {
				t.Fatal(err)
			}
			deps, err := gotool.Command(dir, "list", "-deps", "./...").CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, deps)
			}
			if got := strings.Contains(string(deps), "google.golang.org/grpc"); got != test.links {
				t.Errorf("it links grpc-go: %v", got)
			}
			if strings.Contains(string(deps), "runtime/internal/webhook") {
				t.Error("its card has no push notifications, and it links what sends them")
			}
			build := gotool.Command(dir, "build", "-trimpath", "-ldflags=-s -w", "-tags="+test.tags, "-o", "hello", ".")
			build.Env = append(build.Environ(), "CGO_ENABLED=0")
			if out, err := build.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			info, err := os.Stat(filepath.Join(dir, "hello"))
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%.2f MB", float64(info.Size())/1e6)
			if info.Size() > test.maximum {
				t.Errorf("it has %d bytes, more than %d", info.Size(), test.maximum)
			}
		})
	}
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
		deps, err := gotool.Command(dir, "list", "-deps", "./client/...").CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, deps)
		}
		for _, pkg := range strings.Fields(string(deps)) {
			for _, serves := range []string{"/runtime/server", "/runtime/internal/engine", "/runtime/store", "/runtime/auth/token", "modernc.org/sqlite", "/agent"} {
				if strings.HasPrefix(strings.TrimPrefix(pkg, "github.com/a2agen/a2agen"), serves) || strings.HasSuffix(pkg, serves) {
					t.Errorf("%s: the client links %s", filepath.Base(dir), pkg)
				}
			}
		}
	}
}
