package broken

import (
	"context"
	"flag"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/a2agen/a2agen/testkit/conform"
)

var (
	table  = flag.Bool("table", false, "print every broken agent with the checks that find it, in Markdown")
	update = flag.Bool("update", false, "rewrite the numbers in docs/conformance.md")
)

// contract is what makes the good agent do things: see desk.
var contract = &conform.Contract{
	Text: &conform.Step{Text: "hello"}, Ask: &conform.Step{Text: "ask", Answer: "Monday"}, Long: &conform.Step{Text: "wait"},
	Stream: &conform.Step{Text: "stream"}, Reply: &conform.Step{Text: "message"},
}

// TestTheAgentAsItIsHasNoFindings holds the agent to every check over every interface, and the proxy to changing nothing.
func TestTheAgentAsItIsHasNoFindings(t *testing.T) {
	t.Parallel()
	clean := func(agent string, r *row) {
		t.Helper()
		failed, err := try(t.Context(), agent, r, 0)
		if err != nil {
			t.Error(err)
		}
		for _, x := range failed {
			t.Error(x)
		}
	}
	clean(startAgent(t), nil)
	for _, version := range []string{"1.0", "0.3"} {
		clean(startAgent(t, version), &row{version: version, binding: "all"}) // through the proxy
	}
}

// TestEveryBrokenAgentIsFound: a row breaks one requirement, and a check that cites it fails.
func TestEveryBrokenAgentIsFound(t *testing.T) {
	agents := map[string]string{"1.0": startAgent(t, "1.0"), "0.3": startAgent(t, "0.3")}
	all := rows()
	found, errs := make([][]string, len(all)), make([]error, len(all))
	var done sync.WaitGroup
	turn := make(chan struct{}, 16) // some rows wait for what never comes
	for i, r := range all {
		done.Go(func() {
			turn <- struct{}{}
			for _, timeout := range []time.Duration{time.Second, 10 * time.Second} { // the second for a machine that is busy
				failed, err := try(t.Context(), agents[r.version], r, timeout)
				if found[i], errs[i] = citing(failed, r.requirement), err; len(found[i]) > 0 {
					break
				}
			}
			<-turn
		})
	}
	done.Wait()
	for i, r := range all {
		if len(found[i]) == 0 {
			t.Errorf("%s, %s over %s: nothing is found that breaks %s (error: %v)", r.name, r.version, r.binding, r.requirement, errs[i])
		}
	}
	if *table {
		printTable(all, found)
	}
	holdPage(t, all, found)
}

// holdPage compares the numbers of the docs with what was found.
func holdPage(t *testing.T, all []*row, found [][]string) {
	const path, begin, end = "../../../docs/conformance.md", "<!-- broken -->\n", "<!-- end of broken -->"
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(page), begin)
	_, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("%s has no place for the broken agents", path)
	}
	want := before + begin + "\n" + numbers(all, found) + "\n" + end + after
	switch {
	case want == string(page):
	case *update:
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("%s is stale: run go test ./internal/test/broken -update", path)
	}
}

// numbers say how many agents of each table are found.
func numbers(all []*row, found [][]string) string {
	var b strings.Builder
	b.WriteString("| what is broken | agents | found | missed | such as |\n|---|---|---|---|---|\n")
	line := func(breaks string, agents, hit int, such string) {
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %s |\n", breaks, agents, hit, agents-hit, such)
	}
	at, sum := 0, 0
	for _, t := range tables {
		hit, such := 0, []string{}
		for i := range t.rows {
			if len(found[at+i]) > 0 {
				hit++
			}
			if i%(len(t.rows)/3) == 0 && len(such) < 3 {
				such = append(such, all[at+i].name)
			}
		}
		line(t.breaks, len(t.rows), hit, strings.Join(such, "; "))
		at, sum = at+len(t.rows), sum+hit
	}
	line("**all**", len(all), sum, "")
	return b.String()
}

// try runs the suite on the agent behind a row, or as it is, and returns what failed. Behind a row only the checks of its
// requirement run. A call may take the timeout, that of the suite if it is 0.
func try(ctx context.Context, agent string, r *row, timeout time.Duration) (failed []conform.Result, err error) {
	c := conform.Config{URL: agent, Contract: contract, Timeout: timeout}
	if r != nil {
		base, stop, err := startProxy(agent, r)
		if err != nil {
			return nil, err
		}
		defer stop()
		c.URL = base
		if r.hook != nil {
			c.Webhook = "http://127.0.0.1:0"
		}
		if r.header != "" {
			c.Header = http.Header{r.header: {"Bearer conform"}}
		}
	}
	if r != nil && r.requirement != "" {
		c.Only = []string{r.requirement}
	}
	report, err := conform.Run(ctx, c)
	if err != nil {
		return nil, err
	}
	for _, result := range report.Results {
		if result.Outcome == conform.Failed {
			failed = append(failed, result)
		}
	}
	return failed, nil
}

// citing are the checks among results that cite a requirement.
func citing(results []conform.Result, requirement string) (ids []string) {
	for _, r := range results {
		if slices.Contains(r.Requirements, requirement) && !slices.Contains(ids, r.Check) {
			ids = append(ids, r.Check)
		}
	}
	return ids
}

// printTable prints the rows with the checks that found them.
func printTable(all []*row, found [][]string) {
	fmt.Println("| broken on purpose | version | binding | requirement | found by |\n|---|---|---|---|---|")
	for i, r := range all {
		fmt.Printf("| %s | %s | %s | %s | %s |\n", r.name, r.version, r.binding, r.requirement, strings.Join(found[i], ", "))
	}
}
