package project_test

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/a2agen/a2agen/internal/project"
	"github.com/a2agen/a2agen/internal/test/gotool"
	"github.com/a2agen/a2agen/internal/test/projecttest"
	"github.com/a2agen/a2agen/spec"
)

// watchOperation is an operation of one's own whose result is a stream.
const watchOperation = `  // WatchTasks tells how many tasks there are.
  rpc WatchTasks(WatchTasksRequest) returns (stream WatchTasksResponse);
`

const watchMessages = `message WatchTasksRequest {
  int32 times = 1;
}

message WatchTasksResponse {
  int32 tasks = 1;
}

`

// ownStreamMain asks an agent that does not implement the operation, and one that does.
const ownStreamMain = `package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"net/http/httptest"

	"example.com/watch/a2a"
	"example.com/watch/agent"
	"example.com/watch/client"
	"github.com/a2agen/a2agen/runtime/server"
)

type plain struct{}

func (plain) Chat(context.Context, *a2a.Message, *agent.Task) (string, error) { return "", nil }

type watching struct{ plain }

var _ agent.WatchTasksOperation = watching{}

func (watching) WatchTasks(ctx context.Context, req *a2a.WatchTasksRequest) iter.Seq2[*a2a.WatchTasksResponse, error] {
	return func(yield func(*a2a.WatchTasksResponse, error) bool) {
		for i := range req.Times {
			if !yield(&a2a.WatchTasksResponse{Tasks: i}, nil) {
				return
			}
		}
		yield(nil, a2a.ErrTaskNotFound)
	}
}

func main() {
	for _, skills := range []agent.Skills{plain{}, watching{}} {
		s, err := agent.NewServer(skills, server.WithLogger(slog.New(slog.DiscardHandler)))
		if err != nil {
			panic(err)
		}
		web := httptest.NewServer(s)
		c, err := client.New(context.Background(), web.URL)
		if err != nil {
			panic(err)
		}
		for item, err := range c.WatchTasks(context.Background(), &a2a.WatchTasksRequest{Times: 3}) {
			if err != nil {
				fmt.Println("unsupported:", errors.Is(err, a2a.ErrUnsupportedOperation), "not found:", errors.Is(err, a2a.ErrTaskNotFound))
				continue
			}
			fmt.Println("item", item.Tasks)
		}
		web.Close()
	}
}
`

func TestAStreamOfOnesOwnGoesFromTheHandlerToTheTypedClient(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles a program")
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	src, err := spec.Source("1.0")
	if err != nil {
		t.Fatal(err)
	}
	const before, messages = "  // GetExtendedAgentCard returns", "// Role tells who speaks"
	definition := strings.NewReplacer(before, watchOperation+before, messages, watchMessages+messages).Replace(string(src))
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":             projecttest.GoMod("example.com/watch", root),
		"main.go":            ownStreamMain,
		"agent.yaml":         "name: watch\ndescription: Watches.\nversion: \"1\"\nskills:\n  - {id: chat, name: Chat, description: Talks., tags: [talk]}\n",
		"a2agen.yaml":        "protocol: [{version: \"1.1-preview\", file: protocol/a2a.proto}, \"1.0\"]\n",
		"protocol/a2a.proto": definition,
	} {
		projecttest.WriteFile(t, filepath.Join(dir, name), text)
	}
	if _, err := project.Run(t.Context(), project.Options{Tool: project.Tool{Version: "v1.0.0"}, Dir: dir}); err != nil {
		t.Fatal(err)
	}
	cmd := gotool.Command(dir, "run", ".")
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, errs.String())
	}
	const want = "unsupported: true not found: false\nitem 0\nitem 1\nitem 2\nunsupported: false not found: true\n"
	if diff := cmp.Diff(want, string(out)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
