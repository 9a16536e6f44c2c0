//go:build unix

package killtest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/a2agen/a2agen/internal/test/gotool"
	"github.com/a2agen/a2agen/internal/test/projecttest"
)

// The three agents of examples/planner as one program: the environment says which one a process is. The two that are
// called keep their tasks in files here, take a moment for their work, so that there is something to interrupt, and
// note each run of a handler.
const threeAgents = `package main

import (
	"context"
	"fmt"
	"os"
	"time"

	planner "example.com/planner/agent"
	plans "example.com/planner/skills"
	mapping "example.com/routes/a2a"
	routes "example.com/routes/agent"
	driving "example.com/routes/skills"
	sky "example.com/weather/a2a"
	weather "example.com/weather/agent"
	forecasts "example.com/weather/skills"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/server"
	"github.com/a2agen/a2agen/runtime/store/sqlite"
)

func main() {
	switch os.Getenv("AGENT") {
	case "weather":
		os.Exit(server.Main(weather.NewServer(slowWeather{forecasts.New()}, kept(sky.Protocol()))))
	case "routes":
		os.Exit(server.Main(routes.NewServer(slowRoutes{driving.New()}, kept(mapping.Protocol()))))
	}
	os.Exit(server.Main(planner.NewServer(plans.New())))
}

// kept keeps tasks in the file that the environment names.
func kept(p *runtime.Protocol) server.Option {
	tasks, err := sqlite.Open(os.Getenv("A2A_STORE"), p, sqlite.Options{})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return server.WithStore(tasks)
}

type slowWeather struct{ *forecasts.Agent }

func (s slowWeather) GetForecast(ctx context.Context, in *weather.GetForecastInput, t *weather.Task) (*weather.GetForecastOutput, error) {
	if err := work(ctx, t.Task, in.Location); err != nil {
		return nil, err
	}
	return s.Agent.GetForecast(ctx, in, t)
}

type slowRoutes struct{ *driving.Agent }

func (s slowRoutes) RouteOptimizerTraffic(ctx context.Context, in *routes.RouteOptimizerTrafficInput, t *routes.Task) (*routes.RouteOptimizerTrafficOutput, error) {
	if err := work(ctx, t.Task, fmt.Sprint(in.Destination)); err != nil {
		return nil, err
	}
	return s.Agent.RouteOptimizerTraffic(ctx, in, t)
}

// work notes for what place a handler runs, in which task and by which key, and takes a while.
func work(ctx context.Context, t *server.Task, place string) error {
	notes, err := os.OpenFile(os.Getenv("NOTES"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer notes.Close()
	if err := t.Call().Begin(); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(notes, "%s\t%s\t%s\n", place, t.Call().TaskID(), t.Call().IdempotencyKey()); err != nil {
		return err
	}
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(40 * time.Millisecond):
		return nil
	}
}
`

// buildThree compiles the program.
func buildThree(t *testing.T) (binary string) {
	t.Helper()
	root, err := filepath.Abs(filepath.Join("..", "..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	sums, err := os.ReadFile(filepath.Join(root, "examples", "planner", "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	mod := projecttest.GoMod("example.com/three", root)
	for _, name := range []string{"planner", "weather", "routes"} {
		mod += fmt.Sprintf("\nrequire example.com/%s v0.0.0\n\nreplace example.com/%[1]s => %s\n", name, filepath.Join(root, "examples", name))
	}
	projecttest.Write(t, dir, map[string]string{"go.mod": mod, "go.sum": string(sums), "main.go": threeAgents})
	binary = filepath.Join(dir, "three")
	if out, err := gotool.Command(dir, "build", "-o", binary, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return binary
}

// note is a run of a handler of the two agents that are called.
type note struct{ place, task, key string }

// readNotes reads the runs that they have noted.
func readNotes(t *testing.T, file string) (notes []note) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		fields := strings.Split(strings.TrimSpace(line), "\t")
		if len(fields) != 3 {
			t.Fatalf("a line of the notes is %q", line)
		}
		notes = append(notes, note{fields[0], fields[1], fields[2]})
	}
	return notes
}
