package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/a2agen/a2agen/internal/a2awires"
	"github.com/a2agen/a2agen/interop/internal/desk"
	"github.com/a2agen/a2agen/runtime"
	rpc "github.com/a2agen/a2agen/runtime/client"
)

// newCurlClient calls an agent by grpcurl, which knows its operations and messages by reflection alone. Messages are given to
// grpcurl as the JSON of the definition, which is that of HTTP+JSON: so grpcurl stands in for that binding.
func newCurlClient(ctx context.Context, url string, s spoken) (desk.Client, func(), error) {
	path, err := exec.CommandContext(ctx, "go", "tool", "-n", "grpcurl").Output() // builds it
	if err != nil {
		return nil, nil, fmt.Errorf("it cannot be built: %w", err)
	}
	curl := &curl{path: strings.TrimSpace(string(path)), version: s.version}
	if err := curl.list(ctx, strings.TrimPrefix(url, "http://")); err != nil {
		return nil, nil, err
	}
	return newOurClient(ctx, url, spoken{s.version, restBinding}, rpc.Use(curl))
}

// curl is grpcurl.
type curl struct{ path, version, address string }

// list lists the services of an agent: those of A2A, and those of gRPC itself.
func (c *curl) list(ctx context.Context, address string) error {
	out, err := exec.CommandContext(ctx, c.path, "-plaintext", address, "list").CombinedOutput()
	services := strings.Fields(string(out))
	for _, want := range []string{"a2a.v1.A2AService", "grpc.health.v1.Health", "grpc.reflection.v1.ServerReflection", "lf.a2a.v1.A2AService"} {
		if err != nil || !slices.Contains(services, want) {
			return fmt.Errorf("it does not list %s: %s", want, out)
		}
	}
	return nil
}

func (*curl) Name() string { return restBinding }

func (c *curl) Connect(t rpc.Target) (rpc.Conn, error) {
	return &curl{c.path, c.version, strings.TrimSuffix(strings.TrimPrefix(t.URL, "http://"), "/")}, nil
}

func (*curl) Secure() bool { return false }
func (*curl) Close()       {}

func (c *curl) Call(ctx context.Context, r *rpc.Request) ([]byte, error) { return c.run(ctx, r) }

// Open gives the answers when all are there.
func (c *curl) Open(ctx context.Context, r *rpc.Request) (rpc.Stream, error) {
	out, err := c.run(ctx, r)
	return &answers{json.NewDecoder(bytes.NewReader(out))}, err
}

// run calls the operation. Its method is that of the version's own gRPC.
func (c *curl) run(ctx context.Context, r *rpc.Request) ([]byte, error) {
	cmd := exec.CommandContext(ctx, c.path, "-plaintext", "-format-error", "-emit-defaults", "-d", "@", c.address, strings.TrimPrefix(c.method(r.Operation), "/"))
	cmd.Stdin = bytes.NewReader(r.Body)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) {
		return out, err
	}
	text := stderr.Bytes()
	if fault := runtime.ReadStatus([]byte(`{"error":` + string(text) + `}`)); fault != nil {
		return nil, fault
	}
	return nil, errors.New(strings.Join(strings.Fields(string(text)), " "))
}

func (c *curl) method(op *runtime.Operation) string {
	for _, v := range a2awires.Protocol().Versions {
		if v.Name != c.version {
			continue
		}
		for _, other := range v.Over(grpcBinding).Operations {
			if other.Role == op.Role {
				return other.GRPC
			}
		}
	}
	return "none"
}

// answers are the values that grpcurl printed.
type answers struct{ *json.Decoder }

func (a *answers) Next() (rpc.Item, error) {
	var data json.RawMessage
	if err := a.Decode(&data); err != nil {
		return rpc.Item{}, io.EOF
	}
	return rpc.Item{Data: data}, nil
}

func (*answers) Retry() time.Duration { return 0 }
func (*answers) Drain()               {}
func (*answers) Close()               {}
