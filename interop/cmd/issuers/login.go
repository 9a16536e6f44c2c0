package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/a2agen/a2agen/runtime/auth/token"
	"github.com/a2agen/a2agen/runtime/client/oauth"
)

// loginPage has the commands of a person who logs in: in its first block for a shell.
const loginPage = "../docs/clients.md"

// tryLogin runs them, with the issuer and an agent in the place of those on the page. Whoever is asked to log in does so.
func tryLogin(ctx context.Context, issuer string) error {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Minute)
	defer cancel()
	dir, err := os.MkdirTemp("", "login")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := buildTool(ctx, dir); err != nil {
		return err
	}
	agent := httptest.NewUnstartedServer(nil)
	at := "http://" + agent.Listener.Addr().String()
	handler, err := newHandler(issuer, issuer+"|ann", token.JWT(token.Config{Audience: []string{at + "/"}}))
	if err != nil {
		return err
	}
	agent.Config.Handler = handler
	agent.Start()
	defer agent.Close()
	page, err := os.ReadFile(filepath.FromSlash(loginPage))
	if err != nil {
		return err
	}
	_, rest, _ := strings.Cut(string(page), "```sh\n")
	block, _, _ := strings.Cut(rest, "```")
	block = strings.NewReplacer("https://agent.example.com", at, "https://id.example.com", issuer).Replace(block)
	for line := range strings.Lines(block) {
		command, _, _ := strings.Cut(line, "#")
		said, err := runCommand(ctx, dir, strings.Fields(command))
		if err != nil {
			return fmt.Errorf("%s: %w", strings.TrimSpace(command), err)
		}
		fmt.Printf("  $ %s\n%s", strings.TrimSpace(command), said)
	}
	if said, err := runCommand(ctx, dir, []string{"a2agen", "call", at, "hello"}); err == nil {
		return fmt.Errorf("after the logout it is answered: %s", said)
	}
	return nil
}

// pageLine is a page to log in on, as a2agen login prints it: on a line of its own, or with the code in it.
var pageLine = regexp.MustCompile(`^(?:With the code in it: )?(http://127\.0\.0\.1:\d+/\S+)$`)

// runCommand runs a command, and logs in where it asks for that: on the page that it prints.
func runCommand(ctx context.Context, dir string, words []string) (said string, err error) {
	cmd := exec.CommandContext(ctx, filepath.Join(dir, words[0]), words[1:]...)
	cmd.Env = append(os.Environ(), "XDG_CACHE_HOME="+filepath.Join(dir, "cache"))
	out, in := io.Pipe()
	cmd.Stdout, cmd.Stderr = in, in
	if err := cmd.Start(); err != nil {
		return "", err
	}
	ended := make(chan error, 1)
	go func() {
		ended <- cmd.Wait()
		in.Close()
	}()
	for lines := bufio.NewScanner(out); lines.Scan(); {
		said += "  " + lines.Text() + "\n"
		if m := pageLine.FindStringSubmatch(lines.Text()); m != nil {
			if err := browse(ctx, oauth.Prompt{URL: m[1]}); err != nil {
				return said, fmt.Errorf("log in: %w", err)
			}
		}
	}
	if err := <-ended; err != nil {
		return said, fmt.Errorf("%w:\n%s", err, said)
	}
	return said, nil
}
