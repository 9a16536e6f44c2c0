package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/a2agen/a2agen/testkit/conform"
)

// deskContract is what makes the agent of package desk do what checks need.
var deskContract = &conform.Contract{
	Text: &conform.Step{Text: "forecast"}, Ask: &conform.Step{Text: "book", Answer: "Monday"}, Long: &conform.Step{Text: "wait"},
	Stream: &conform.Step{Text: "tell"}, Reply: &conform.Step{Text: "hello"},
}

// finding is something that an official SDK does not keep, read in the specification. on is where: "card", "agent", or the beginning of
// an interface, such as "1.0" or "0.3 GRPC"; empty: everywhere. A check is one or the beginning of several.
type finding struct {
	peer, on, check string
	why             string
}

// holds reports whether a finding is about a result.
func (f *finding) holds(peer string, x *conform.Result) bool {
	return f.peer == peer && strings.HasPrefix(x.On, f.on) && (x.Check == f.check || strings.HasSuffix(f.check, ".") && strings.HasPrefix(x.Check, f.check))
}

// conformed is how the agent of a peer kept the specification.
type conformed struct {
	peer   string
	report *conform.Report
}

// conform holds the agent of a peer to the specification.
func (r *report) conform(ctx context.Context, peer, url string) {
	got, err := conform.Run(ctx, conform.Config{URL: url, Contract: deskContract, Timeout: 5 * time.Second})
	if err != nil {
		r.fail(fmt.Errorf("%s: %w", peer, err))
		return
	}
	var text strings.Builder
	if err := got.WriteText(&text); err != nil {
		r.fail(err)
	}
	if r.conformOnly {
		r.say("%s\n%s", peer, &text)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.conformed = append(r.conformed, conformed{peer, got})
}

// conformance is the table of what the agents of official SDKs keep, with a row for each MUST that they do not.
func (r *report) conformance() string {
	var b strings.Builder
	b.WriteString("| agent made with | MUST passed | MUST failed | SHOULD passed | SHOULD failed | not tried |\n|---|---|---|---|---|---|\n")
	list := slices.SortedFunc(slices.Values(r.conformed), func(a, b conformed) int { return cmp.Compare(place(a.peer), place(b.peer)) })
	for _, c := range list {
		n := c.report.Count
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %d | %d |\n", c.peer, n(conform.Passed, conform.Must), n(conform.Failed, conform.Must),
			n(conform.Passed, conform.Should), n(conform.Failed, conform.Should), n(conform.NotTried, conform.Must)+n(conform.NotTried, conform.Should))
	}
	b.WriteString("\n| check | what is not kept | by |\n|---|---|---|\n")
	checks, by, order := map[string][]string{}, map[string][]string{}, []string{} // by what is not kept
	for _, c := range list {
		for i := range findings {
			f := &findings[i]
			failed, on := c.failing(f)
			if len(on) == 0 {
				continue
			}
			if by[f.why] == nil {
				order = append(order, f.why)
			}
			for _, check := range failed {
				if !slices.Contains(checks[f.why], check) {
					checks[f.why] = append(checks[f.why], check)
				}
			}
			by[f.why] = append(by[f.why], c.peer+": "+interfaces(on))
		}
	}
	for _, why := range order {
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", strings.Join(checks[why], "`, `"), why, strings.Join(by[why], "; "))
	}
	return b.String()
}

// interfaces names a version once for all its bindings: "1.0 JSONRPC, HTTP+JSON, 0.3 GRPC".
func interfaces(on []string) string {
	version, list := "", []string{}
	for _, x := range on {
		v, binding, _ := strings.Cut(x, " ")
		if v == version {
			x = binding
		}
		version, list = v, append(list, x)
	}
	return strings.Join(list, ", ")
}

// place is that of a peer in the list.
func place(name string) int {
	return slices.IndexFunc(peers, func(p *peer) bool { return p.name == name })
}

// failing are the checks of a finding that fail with a MUST, and where.
func (c *conformed) failing(f *finding) (checks, on []string) {
	for i := range c.report.Results {
		x := &c.report.Results[i]
		if x.Outcome != conform.Failed || x.Level != conform.Must || !f.holds(c.peer, x) {
			continue
		}
		if !slices.Contains(checks, x.Check) {
			checks = append(checks, x.Check)
		}
		if !slices.Contains(on, x.On) {
			on = append(on, x.On)
		}
	}
	return checks, on
}

// judgeConformance is an error for every MUST that fails and is not in the list of findings, and for every finding that is gone.
func (r *report) judgeConformance() error {
	var errs []error
	used := make([]bool, len(findings))
	for _, c := range r.conformed {
		for i := range c.report.Results {
			x := &c.report.Results[i]
			if x.Outcome != conform.Failed || x.Level != conform.Must {
				continue
			}
			known := false
			for j := range findings {
				if findings[j].holds(c.peer, x) {
					used[j], known = true, true
				}
			}
			if !known {
				errs = append(errs, fmt.Errorf("%s: %s", c.peer, x))
			}
		}
		for j, f := range findings {
			if f.peer == c.peer && !used[j] {
				errs = append(errs, fmt.Errorf("%s has mended this, delete it from findings.go: %s %s: %s", f.peer, f.on, f.check, f.why))
			}
		}
	}
	return errors.Join(errs...)
}
