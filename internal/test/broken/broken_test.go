package broken

import (
	"flag"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/a2agen/a2agen/internal/test/gotool"
	"github.com/a2agen/a2agen/testkit/a2atest"
	"github.com/a2agen/a2agen/testkit/conform"
)

var update = flag.Bool("update", false, "try every agent, and rewrite testdata/found.md")

// contract is what makes the good agent do things: see desk.
var contract = &conform.Contract{
	Text: &conform.Step{Text: "hello"}, Ask: &conform.Step{Text: "ask", Answer: "Monday"}, Long: &conform.Step{Text: "wait"},
	Stream: &conform.Step{Text: "stream"}, Reply: &conform.Step{Text: "message"},
}

// TestTheAgentAsItIsHasNoFindings holds the agent to every check over every interface, and the proxy to changing nothing.
func TestTheAgentAsItIsHasNoFindings(t *testing.T) {
	t.Parallel()
	for _, c := range []*conform.Contract{contract, nil} {
		at := listen(t, func(at string) http.Handler { return newServer(t, at) })
		for _, found := range run(t, conform.Config{URL: "http://" + at, Contract: c}) {
			t.Error(found)
		}
		for _, version := range []string{"1.0", "0.3"} {
			for _, found := range try(t, &row{version: version, binding: together, webhook: true}, c) {
				t.Errorf("through the proxy: %s", found)
			}
		}
	}
}

// TestEveryBrokenAgentIsFound: a row breaks one requirement, and a check that cites it fails; a row that breaks none has no
// findings. Without A2A_LONG each is tried over its first binding, with a contract; found.md has what is found over all of
// them, and without one.
func TestEveryBrokenAgentIsFound(t *testing.T) {
	var mu sync.Mutex
	cells := readCells(t)
	t.Run("over", func(t *testing.T) {
		for _, table := range tables {
			for i, r := range rowsOf(table.over, table.rows) {
				for with, c := range map[string]*conform.Contract{withContract: contract, withoutContract: nil} {
					first := with == withContract && (i == 0 || r.name != rowsOf(table.over, table.rows)[i-1].name)
					if !first && !*update && !gotool.IsLong() {
						continue
					}
					t.Run(strings.Join([]string{r.version, r.binding, r.name, with}, " "), func(t *testing.T) {
						t.Parallel()
						ids := r.found(t, c)
						if len(ids) == 0 && r.harmless == "" && with == withContract {
							t.Errorf("nothing is found that breaks %s", r.requirement)
						}
						mu.Lock()
						defer mu.Unlock()
						cells[cell{r.version, r.binding, r.name, with}] = strings.Join(ids, ", ")
					})
				}
			}
		}
	})
	holdPages(t, cells)
}

// found are the checks that find what a row breaks: of those that cite its requirement, or of all if nothing is broken, so
// that nothing may be found.
func (r *row) found(t *testing.T, c *conform.Contract) (ids []string) {
	var failed []conform.Result
	if r.webhook {
		failed = try(t, r, c)
	} else {
		synctest.Test(t, func(t *testing.T) { failed = try(t, r, c) })
	}
	for _, result := range failed {
		if r.harmless != "" {
			t.Errorf("no requirement is broken, as %s: %s", r.harmless, result)
		} else if slices.Contains(result.Requirements, r.requirement) && !slices.Contains(ids, result.Check) {
			ids = append(ids, result.Check)
		}
	}
	return ids
}

// try runs the suite on the agent behind a row and returns what failed. Only the checks of its requirement run, if it has
// one. What needs a webhook has sockets. Everything else is in a bubble, where to wait takes no time, and where nothing is
// late because the machine is busy.
func try(t *testing.T, r *row, contract *conform.Contract) (failed []conform.Result) {
	t.Helper()
	c := conform.Config{Contract: contract, Timeout: r.timeout}
	var p *proxy
	if r.webhook {
		agent := listen(t, func(at string) http.Handler { return newServer(t, at, r.version) })
		c.URL = "http://" + listen(t, func(at string) http.Handler {
			p = newProxy(r, agent, at, (&net.Dialer{}).DialContext)
			return p
		})
		c.Webhook = "http://127.0.0.1:0"
	} else {
		const at = "agent.test:443"
		p = newProxy(r, at, at, a2atest.Serve(t, newServer(t, at, r.version)).Dial)
		c.URL, c.Dial = "http://"+at, a2atest.Serve(t, p).Dial
	}
	defer p.close()
	if r.header != "" {
		c.Header = http.Header{r.header: {"Bearer conform"}}
	}
	if r.requirement != "" {
		c.Only = []string{r.requirement}
	}
	failed = run(t, c)
	if err := p.broke.Load(); err != nil {
		t.Errorf("the row is none for gRPC: %v", *err)
	}
	return failed
}

// run runs the suite and returns what failed.
func run(t *testing.T, c conform.Config) (failed []conform.Result) {
	t.Helper()
	report, err := conform.Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	for _, result := range report.Results {
		if result.Outcome == conform.Failed {
			failed = append(failed, result)
		}
	}
	return failed
}

// listen serves a handler at an address of this machine, over HTTP/1.1 and HTTP/2, until the test ends.
func listen(t *testing.T, handler func(at string) http.Handler) (at string) {
	t.Helper()
	web := httptest.NewUnstartedServer(nil)
	at = web.Listener.Addr().String()
	web.Config.Handler, web.Config.Protocols = handler(at), new(http.Protocols)
	web.Config.Protocols.SetHTTP1(true)
	web.Config.Protocols.SetUnencryptedHTTP2(true)
	web.Start()
	t.Cleanup(func() {
		web.CloseClientConnections()
		web.Close()
	})
	return at
}
