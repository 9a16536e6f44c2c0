package main

import (
	"bufio"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/a2agen/a2agen/runtime/auth/token"
)

const provider = "oidc-provider@9.13.3"

//go:embed provider.mjs
var script []byte

// oidcProvider is the issuer from npm, in a folder of its own and at one address, also when it starts again.
type oidcProvider struct {
	dir, address string
	node         *exec.Cmd
}

// install fetches it.
func install(ctx context.Context) (*oidcProvider, error) {
	dir, err := os.MkdirTemp("", "issuer")
	if err != nil {
		return nil, err
	}
	p := &oidcProvider{dir: dir}
	if p.address, err = freeAddress(); err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(dir, "provider.mjs"), script, 0o600); err != nil {
		return nil, err
	}
	npm := exec.CommandContext(ctx, "npm", "install", "--no-audit", "--no-fund", "--silent", "--prefer-offline", provider)
	npm.Dir = dir
	if out, err := npm.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("install %s: %w: %s", provider, err, out)
	}
	return p, nil
}

func (p *oidcProvider) issuer() string { return "http://" + p.address }

// start runs it, with new keys.
func (p *oidcProvider) start(ctx context.Context) error {
	_, port, err := net.SplitHostPort(p.address)
	if err != nil {
		return err
	}
	p.node = exec.CommandContext(ctx, "node", "provider.mjs", port)
	p.node.Dir = p.dir
	out, err := p.node.StdoutPipe()
	if err != nil {
		return err
	}
	if err := p.node.Start(); err != nil {
		return err
	}
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if lines.Text() == "ready" {
			return nil
		}
	}
	p.stop()
	return errors.New("the issuer does not start")
}

func (p *oidcProvider) stop() { _, _ = p.node.Process.Kill(), p.node.Wait() }

func (p *oidcProvider) remove() { _ = os.RemoveAll(p.dir) }

// tryOutage stops the issuer: tokens of keys that are known go on being good, and nobody can tell of others. When it is back, with
// other keys, new tokens are good and old ones are not any more.
func tryOutage(ctx context.Context, p *oidcProvider) error {
	const audience, secret = "https://agent.example/ec", "https://agent.example/opaque"
	keys := token.JWT(token.Config{Audience: []string{audience}, Interval: 100 * time.Millisecond, MaxAge: time.Second})
	asks := token.Introspection(token.IntrospectionConfig{Audience: []string{secret}, ClientID: "agent", ClientSecret: "agent-secret"})
	caller := p.issuer() + "|app|client"
	agent, err := newAgent(p.issuer(), caller, keys)
	if err != nil {
		return err
	}
	defer agent.Close()
	asking, err := newAgent(p.issuer(), caller, asks)
	if err != nil {
		return err
	}
	defer asking.Close()
	var got [3]string
	for i, resource := range []string{audience, audience, secret} {
		if got[i], err = obtain(ctx, p.issuer()+"/token", resource, "ask run", "app"); err != nil {
			return err
		}
	}
	if err := call(ctx, agent.URL, "SendMessage", got[0], 200); err != nil {
		return fmt.Errorf("before it stops: %w", err)
	}
	p.stop()
	for name, err := range map[string]error{
		"a token that was seen":     call(ctx, agent.URL, "SendMessage", got[0], 200),
		"a token of a key that was": call(ctx, agent.URL, "SendMessage", got[1], 200),
		"a token to be asked about": call(ctx, asking.URL, "SendMessage", got[2], 503),
	} {
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	if err := p.start(ctx); err != nil {
		return err
	}
	t, err := obtain(ctx, p.issuer()+"/token", audience, "ask run", "app")
	if err != nil {
		return err
	}
	if err := soon(func() error { return call(ctx, agent.URL, "SendMessage", t, 200) }); err != nil {
		return fmt.Errorf("a token of a new key: %w", err)
	}
	if err := soon(func() error { return call(ctx, agent.URL, "SendMessage", got[0], 401) }); err != nil {
		return fmt.Errorf("a token of an old key: %w", err)
	}
	return nil
}

// soon tries for ten seconds.
func soon(try func() error) (err error) {
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if err = try(); err == nil {
			return nil
		}
	}
	return err
}
