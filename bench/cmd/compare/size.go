package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// hellos are agents as a2agen init makes them, with one skill from text to text, and how large they may be in MB, linked
// as their Dockerfile links them; 0 sets no target.
var hellos = []struct {
	folder, title string
	args          []string
	most          float64
}{
	{"hello", "a scaffolded agent, stripped, MB", nil, 8},
	{"hello-key", "the same, which demands an API key, MB", []string{"--auth", "apikey"}, 0},
	{"hello-oidc", "the same, which demands a token of an issuer, MB", []string{"--auth", "oidc"}, 0},
	{"hello-grpc", "the same with gRPC, MB", []string{"--binding", "JSONRPC,HTTP+JSON,GRPC"}, 15},
}

// sizeRows measures how large agents are.
func (b *bench) sizeRows(ctx context.Context) (rows []row, err error) {
	checkout, err := filepath.Abs("..")
	if err != nil {
		return nil, err
	}
	tool := filepath.Join(b.bin, "a2agen-tool")
	if err := step(ctx, checkout, "go", "build", "-o", tool, "./cmd/a2agen"); err != nil {
		return nil, err
	}
	for _, h := range hellos {
		dir := filepath.Join(b.bin, h.folder)
		args := append([]string{"init", dir, "--text", "talk", "--name", "Hello", "--module", "example.com/hello", "--yes", "--runtime", checkout}, h.args...)
		if err := step(ctx, b.bin, tool, args...); err != nil {
			return nil, err
		}
		if err := step(ctx, dir, "env", "CGO_ENABLED=0", "go", "build", "-trimpath", "-ldflags=-s -w", "-tags", "grpcnotrace", "-o", "hello.bin", "."); err != nil {
			return nil, err
		}
		info, err := os.Stat(filepath.Join(dir, "hello.bin"))
		if err != nil {
			return nil, err
		}
		r := newRow(h.title)
		size := float64(info.Size()) / 1e6
		r.cells[colA2Agen] = short(size)
		if h.most > 0 {
			r.aim(size, h.most, "")
		}
		rows = append(rows, r)
	}
	return rows, nil
}

// step runs a command in a folder.
func step(ctx context.Context, dir, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, out)
	}
	return nil
}
