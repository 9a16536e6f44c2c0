package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// toolServer is an MCP server of npm whose tools become skills.
type toolServer struct {
	pkg     string
	program string
	args    []string
	skill   string // that is called
	data    string
	want    string // in the answer
}

// servers are official ones: one with text, one with files of this machine, one with structured content.
func servers(dir string) []toolServer {
	return []toolServer{
		{"@modelcontextprotocol/server-everything@2026.8.31", "mcp-server-everything", nil, "get-sum", `{"a": 2, "b": 3}`, "The sum of 2 and 3 is 5."},
		{"@modelcontextprotocol/server-filesystem@2026.8.31", "mcp-server-filesystem", []string{dir}, "list_directory", `{"path": "` + dir + `"}`, "[FILE] a2agen"},
		{"@modelcontextprotocol/server-memory", "mcp-server-memory", nil, "create_entities",
			`{"entities": [{"name": "a2agen", "entityType": "tool", "observations": []}]}`, `"name": "a2agen"`},
	}
}

// importServers makes agents whose skills are tools of servers, has their tests pass, and calls a skill of each.
func importServers(ctx context.Context, dir, tool string) error {
	if !has("npm") || !has("node") {
		fmt.Println("a2agen import mcp: left out: node or npm is not on this machine")
		return nil
	}
	checkout, err := filepath.Abs("..")
	if err != nil {
		return err
	}
	for i, s := range servers(dir) {
		if err := command(ctx, dir, nil, "npm", "install", "--no-audit", "--no-fund", "--silent", s.pkg); err != nil {
			return err
		}
		project := filepath.Join(dir, fmt.Sprint("imported", i))
		if err := importServer(ctx, tool, checkout, project, s, filepath.Join(dir, "node_modules", ".bin", s.program)); err != nil {
			return fmt.Errorf("%s: %w", s.pkg, err)
		}
		fmt.Printf("a2agen import mcp, %s: imported, built, tested and called\n", s.pkg)
	}
	return nil
}

// importServer makes one agent, and calls its skill.
func importServer(ctx context.Context, tool, checkout, project string, s toolServer, program string) error {
	lines := [][]string{
		{tool, "init", project, "--module", "example.com/imported", "--skill", "hello", "--runtime", checkout},
		append([]string{tool, "import", "mcp", "-C", project, "--name", "tools", "--", program}, s.args...),
		{"go", "-C", project, "test", "./skills"},
		{"go", "-C", project, "build", "-o", "program", "."},
	}
	for _, line := range lines {
		if out, err := exec.CommandContext(ctx, line[0], line[1:]...).CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w\n%s", strings.Join(line, " "), err, out)
		}
	}
	addr, err := freeAddress()
	if err != nil {
		return err
	}
	running := exec.CommandContext(ctx, filepath.Join(project, "program"), "-addr", addr)
	running.Env = append(os.Environ(), "MEMORY_FILE_PATH="+filepath.Join(project, "memory.json"))
	if err := running.Start(); err != nil {
		return err
	}
	defer func() {
		_ = running.Process.Kill()
		_ = running.Wait()
	}()
	if err := listening(ctx, addr); err != nil {
		return err
	}
	out, err := exec.CommandContext(ctx, tool, "call", "http://"+addr, "--skill", s.skill, "--data", s.data).CombinedOutput()
	if err != nil || !strings.Contains(string(out), s.want) {
		return fmt.Errorf("the skill %s answered %q, %w", s.skill, out, errors.Join(err, errors.New("which lacks "+s.want)))
	}
	return nil
}

// freeAddress is an address of this machine that nobody listens at.
func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// listening waits until somebody listens at an address.
func listening(ctx context.Context, addr string) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for {
		conn, err := net.Dial("tcp", addr)
		if err == nil {
			return conn.Close()
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("nobody listens at %s: %w", addr, err)
		case <-time.After(50 * time.Millisecond):
		}
	}
}
