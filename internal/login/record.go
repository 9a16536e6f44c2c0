package login

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"

	"github.com/a2agen/a2agen/internal/shell"
	rpc "github.com/a2agen/a2agen/runtime/client"
	"github.com/a2agen/a2agen/runtime/client/oauth"
)

// Login says for which agent a login is, and how its tokens are renewed. It holds no secret.
type Login struct {
	Agent     string     `json:"agent"`  // its URL, as the person named it
	Scheme    string     `json:"scheme"` // of its card
	Issuer    string     `json:"issuer,omitzero"`
	TokenURL  string     `json:"tokenUrl,omitzero"`
	AuthURL   string     `json:"authUrl,omitzero"`
	DeviceURL string     `json:"deviceUrl,omitzero"`
	ClientID  string     `json:"clientId"`
	Flow      oauth.Flow `json:"flow"`
	Scopes    []string   `json:"scopes,omitzero"`
	Resource  string     `json:"resource"`
	Audience  string     `json:"audience,omitzero"`
	Redirect  string     `json:"redirect,omitzero"`
}

// mostFile is the largest file of a login that is read, in bytes.
const mostFile = 64 << 10

// Of returns the logins for an agent, by its URL. What cannot be read is left out: the person logs in again.
func Of(target string) (logins []Login) {
	all, err := list()
	if err != nil {
		return nil
	}
	for _, l := range all {
		if l.Agent == agentOf(target) {
			logins = append(logins, l)
		}
	}
	return logins
}

// Source returns the source of the login's tokens, which asks nobody: when the login has expired, its error is an [oauth.ErrLogin] that
// says how to log in again.
func (l Login) Source() (rpc.TokenSource, error) {
	c, err := l.config()
	if err != nil {
		return nil, err
	}
	s, err := c.Source()
	return source{s, l.command()}, err
}

type source struct {
	rpc.TokenSource
	command string
}

func (s source) Token(ctx context.Context, need rpc.TokenNeed) (string, error) {
	token, err := s.TokenSource.Token(ctx, need)
	var e *oauth.Error
	if errors.As(err, &e) && e.Kind == oauth.ErrLogin {
		again := *e
		again.Remedy = "log in again: " + s.command
		err = &again
	}
	return token, err
}

// command is what the person typed to log in.
func (l *Login) command() string {
	words := []string{"a2agen login", shell.Word(l.Agent)}
	add := func(flag, value string) {
		if value != "" {
			words = append(words, flag, shell.Word(value))
		}
	}
	add("--issuer", l.Issuer)
	add("--token-url", l.TokenURL)
	add("--auth-url", l.AuthURL)
	add("--device-url", l.DeviceURL)
	add("--client-id", l.ClientID)
	add("--scheme", l.Scheme)
	for _, scope := range l.Scopes {
		add("--scope", scope)
	}
	add("--resource", l.Resource)
	add("--audience", l.Audience)
	add("--redirect", l.Redirect)
	if l.Flow == oauth.DeviceCode {
		words = append(words, "--device")
	}
	return strings.Join(words, " ")
}

// SecretEnv is the environment variable with the secret of the client, if it has one.
func (l Login) SecretEnv() string { return rpc.EnvName("", l.Scheme, rpc.EnvSecret) }

// config is how tokens are got and kept.
func (l *Login) config() (oauth.Config, error) {
	cache, err := oauth.OpenCache("")
	return oauth.Config{
		Issuer: l.Issuer, TokenURL: l.TokenURL, AuthURL: l.AuthURL, DeviceURL: l.DeviceURL, ClientID: l.ClientID, Secret: os.Getenv(l.SecretEnv()),
		Scopes: l.Scopes, Resource: l.Resource, Audience: l.Audience, Flow: l.Flow, Redirect: l.Redirect, Cache: cache,
	}, err
}

// agentOf is what logins for a URL are kept under: those of the agent and of its card are the same.
func agentOf(target string) string {
	u, err := url.Parse(target)
	if err != nil {
		return target
	}
	u.Scheme, u.Host = strings.ToLower(u.Scheme), strings.ToLower(u.Host)
	u.RawQuery, u.Fragment, u.User = "", "", nil
	for _, card := range []string{"/.well-known/agent-card.json", "/.well-known/agent.json"} {
		u.Path = strings.TrimSuffix(u.Path, card)
	}
	u.Path, u.RawPath = strings.TrimRight(u.Path, "/"), ""
	return u.String()
}

// folder has a file for each login.
func folder() (string, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find the folder for logins: %w", err)
	}
	return filepath.Join(dir, "a2agen", "logins"), nil
}

// file is where the login is kept. There is one for each agent and scheme.
func (l *Login) file() (string, error) {
	dir, err := folder()
	sum := sha256.Sum256([]byte(l.Agent + "\n" + l.Scheme))
	return filepath.Join(dir, hex.EncodeToString(sum[:16])+".json"), err
}

// replace keeps the login in place of an earlier one for the agent and the scheme, whose token is removed if it is another.
func (l *Login) replace() error {
	path, err := l.file()
	if err != nil {
		return err
	}
	if old, ok := read(path); ok && !reflect.DeepEqual(old, *l) {
		if err := old.remove(); err != nil {
			return err
		}
	}
	return l.keep()
}

// keep writes the login down, for its owner's eyes alone.
func (l *Login) keep() error {
	text, err := json.Marshal(l)
	if err != nil {
		return err
	}
	path, err := l.file()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("keep the login: %w", err)
	}
	f, err := os.CreateTemp(filepath.Dir(path), "*.new") // with mode 0600
	if err != nil {
		return fmt.Errorf("keep the login: %w", err)
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
		return fmt.Errorf("keep the login: %w", err)
	}
	return nil
}

// remove removes the login and its token.
func (l *Login) remove() error {
	c, err := l.config()
	if err == nil {
		err = c.Logout(l.Resource)
	}
	path, fault := l.file()
	return errors.Join(err, fault, os.Remove(path))
}

// list returns all logins.
func list() (all []Login, err error) {
	dir, err := folder()
	if err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read the logins: %w", err)
	}
	for _, e := range entries {
		if l, ok := read(filepath.Join(dir, e.Name())); ok {
			all = append(all, l)
		}
	}
	return all, nil
}

// read reads a file that its owner alone can write and that is where it belongs.
func read(path string) (l Login, ok bool) {
	f, err := os.Open(path)
	if err != nil {
		return l, false
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		return l, false
	}
	text, err := io.ReadAll(io.LimitReader(f, mostFile))
	if err != nil || json.Unmarshal(text, &l) != nil {
		return l, false
	}
	own, err := l.file()
	return l, err == nil && own == path
}
