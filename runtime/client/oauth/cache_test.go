package oauth_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	rpc "github.com/a2agen/a2agen/runtime/client"
	"github.com/a2agen/a2agen/runtime/client/oauth"
)

func cache(t *testing.T) *oauth.Cache {
	t.Helper()
	c, err := oauth.OpenCache(filepath.Join(t.TempDir(), "tokens"))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// files are the names of those in the cache that hold tokens.
func files(t *testing.T, c *oauth.Cache) (list []string) {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(c.Dir(), "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// TestACachedTokenIsForWhomItWasGot: another issuer, client, flow, resource, audience or other scopes have a token of their own.
func TestACachedTokenIsForWhomItWasGot(t *testing.T) {
	shared := cache(t)
	base := newIssuer()
	first := base.client()
	first.Cache = shared
	token(t, sourceOf(t, first), rpc.TokenNeed{})
	token(t, sourceOf(t, first), rpc.TokenNeed{})
	if base.asked() != "client_credentials" || len(files(t, shared)) != 1 {
		t.Fatalf("asked %s, %d files", base.asked(), len(files(t, shared)))
	}
	for n, change := range []func(*oauth.Config){
		func(c *oauth.Config) { c.Issuer, c.TokenURL = "", issuerURL+"/token" },
		func(c *oauth.Config) { c.ClientID = "other" },
		func(c *oauth.Config) { c.Resource = "https://agent.example" },
		func(c *oauth.Config) { c.Audience = "https://agent.example" },
		func(c *oauth.Config) { c.Scopes = []string{"ask"} },
		func(c *oauth.Config) { c.Scopes = []string{"ask", "run"} },
		func(c *oauth.Config) { c.Flow, c.Prompt = oauth.AuthorizationCode, base.browse },
	} {
		c := first
		change(&c)
		token(t, sourceOf(t, c), rpc.TokenNeed{})
		if got := len(files(t, shared)); got != n+2 {
			t.Errorf("change %d: %d files", n, got)
		}
	}
}

// TestFilesOfTokensAreTheirOwners: 0600 in a folder of 0700; what others can read is not used, and nothing is put where others can look.
func TestFilesOfTokensAreTheirOwners(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there are no such modes")
	}
	i := newIssuer()
	c := i.client()
	c.Cache = cache(t)
	token(t, sourceOf(t, c), rpc.TokenNeed{})
	err := filepath.WalkDir(c.Cache.Dir(), func(path string, d fs.DirEntry, fault error) error {
		info, err := d.Info()
		if err = errors.Join(fault, err); err != nil || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v, %v", path, info.Mode(), err)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	file := files(t, c.Cache)[0]
	if err := os.Chmod(file, 0o644); err != nil {
		t.Fatal(err)
	}
	if got := token(t, sourceOf(t, c), rpc.TokenNeed{}); got != "access-2" {
		t.Errorf("got %s of a file that others can read and write", got)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info.Mode(), err)
	}
	if err := os.Chmod(c.Cache.Dir(), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := sourceOf(t, c).Token(t.Context(), rpc.TokenNeed{Rejected: "access-2"}); err == nil || !strings.Contains(err.Error(), "chmod 700") {
		t.Error(err)
	}
}

func TestAFileThatIsNoneCountsAsNone(t *testing.T) {
	i := newIssuer()
	c := i.client()
	c.Cache = cache(t)
	for n, text := range []string{"", "{", `{"access_token":"a\r\nb"}`, `{"access_token":7}`, strings.Repeat(" ", 1<<20)} {
		token(t, sourceOf(t, c), rpc.TokenNeed{})
		if err := os.WriteFile(files(t, c.Cache)[0], []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := token(t, sourceOf(t, c), rpc.TokenNeed{}); got != fmt.Sprintf("access-%d", n+2) {
			t.Errorf("%.20q: %s", text, got)
		}
	}
}

// Of the process that TestTwoProcessesRefreshOnce starts twice.
const (
	envIssuer = "OAUTH_TEST_ISSUER"
	envCache  = "OAUTH_TEST_CACHE"
)

func TestMain(m *testing.M) {
	if os.Getenv(envIssuer) != "" {
		os.Exit(anotherProcess())
	}
	os.Exit(m.Run())
}

// anotherProcess prints a token when it has read a line.
func anotherProcess() int {
	c := oauth.Config{Issuer: os.Getenv(envIssuer), ClientID: "app"}
	var err error
	if c.Cache, err = oauth.OpenCache(os.Getenv(envCache)); err == nil {
		var s rpc.TokenSource
		if s, err = c.Source(); err == nil {
			fmt.Println("ready")
			_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
			var got string
			if got, err = s.Token(context.Background(), rpc.TokenNeed{}); err == nil {
				fmt.Println(got)
				return 0
			}
		}
	}
	fmt.Println(err)
	return 1
}

// TestTwoProcessesRefreshOnce: a refresh token that rotates is good once, and both processes have the token that came of it.
func TestTwoProcessesRefreshOnce(t *testing.T) {
	i := newIssuer()
	i.lifetime = 1
	var refreshes atomic.Int32
	second := make(chan bool)
	i.before = func(_ http.ResponseWriter, r *http.Request) bool {
		if r.PostForm.Get("grant_type") != "refresh_token" {
			return false
		}
		i.lifetime = 3600
		if refreshes.Add(1) == 2 {
			close(second)
		}
		select { // for the other process, which would come if nothing kept it
		case <-time.After(300 * time.Millisecond):
		case <-second:
		}
		return false
	}
	web := httptest.NewServer(i)
	defer web.Close()
	i.url = web.URL
	c := oauth.Config{Issuer: i.url, ClientID: "app", Cache: cache(t), Prompt: i.browse}
	if err := c.Login(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	expire(t, files(t, c.Cache)[0])
	var got [2]string
	var ask [2]io.WriteCloser
	var out [2]*bufio.Reader
	for n := range got {
		child := exec.Command(os.Args[0])
		child.Env = append(os.Environ(), envIssuer+"="+i.url, envCache+"="+c.Cache.Dir())
		ask[n], _ = child.StdinPipe()
		pipe, _ := child.StdoutPipe()
		out[n] = bufio.NewReader(pipe)
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		defer func() { _, _ = child.Process.Kill(), child.Wait() }()
		if line, err := out[n].ReadString('\n'); line != "ready\n" {
			t.Fatalf("%q %v", line, err)
		}
	}
	for n := range ask {
		fmt.Fprintln(ask[n])
	}
	for n := range got {
		got[n], _ = out[n].ReadString('\n')
	}
	if got[0] != "access-2\n" || got[1] != "access-2\n" || strings.Count(i.asked(), "refresh_token") != 1 {
		t.Errorf("%q, asked %s", got, i.asked())
	}
}

// expire makes the access token in a file of the cache an old one.
func expire(t *testing.T, file string) {
	t.Helper()
	text, err := os.ReadFile(file)
	var e map[string]any
	if err == nil {
		err = json.Unmarshal(text, &e)
	}
	if err != nil {
		t.Fatal(err)
	}
	e["expires"] = time.Now().Add(-time.Hour)
	if text, err = json.Marshal(e); err == nil {
		err = os.WriteFile(file, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}
