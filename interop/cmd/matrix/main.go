// Command matrix lets a2agen and other implementations of A2A call each other: each peer, of an exact version, over every
// binding and version of the protocol that it has, as a client of our agent and as an agent of our client (package desk has the
// agent and the checks). It also calls a typed skill of examples/weather through the official SDKs, and has webhooks made with
// them and ours told about tasks. Peers are installed into a folder. One that cannot be is left out with a line that says so.
//
// The agents of peers are held to the specification by package conform, too.
//
// What a peer does not do, or does wrong, stands in faults.go with the reason, and what its agents do not keep in findings.go.
// Anything else that fails ends the run with an error, and so does a fault or a finding that is gone.
package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/a2agen/a2agen/interop/internal/desk"
)

// The names of bindings on cards.
const (
	rpcBinding  = "JSONRPC"
	restBinding = "HTTP+JSON"
	grpcBinding = "GRPC"
)

// spoken is a version over a binding.
type spoken struct{ version, binding string }

func (s spoken) String() string { return s.version + " " + s.binding }

// peer is another implementation. Its scripts run in a folder of its own, where it was installed.
type peer struct {
	name    string
	needs   string     // the program that must be there
	install [][]string // what fetches it
	files   []string   // of the folder languages, which its folder needs
	serves  []spoken   // as an agent
	calls   []spoken   // as a client
	agent   func(ctx context.Context, dir string) (url string, stop func(), err error)
	client  func(ctx context.Context, dir, url string, s spoken) (c desk.Client, stop func(), err error)
	caller  func(dir string) (c caller, stop func(), err error) // its client with its hook for credentials; nil: it has none
	lists   bool                                                // it reads no card of 1.0 with requirements but such as have lists
	run     []string                                            // runs a script
	scripts []script
}

// Directions of calls.
const (
	theirClient = "its client, our agent"
	ourCalls    = "our client, its agent"
)

// row is how the checks of a peer went.
type row struct {
	peer, direction string
	spoken          spoken
	results         []desk.Result
}

func main() {
	write := flag.Bool("write", false, "write the tables to README.md of this module")
	keep := flag.String("keep", "", "folder in which peers stay installed for the next run")
	which := flag.String("only", "", "regular expression: which peers")
	conformOnly := flag.Bool("conform", false, "hold the agents of peers to the specification, print what is found, and do nothing else")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *keep, *which, *write, *conformOnly); err != nil {
		fmt.Fprintln(os.Stderr, "matrix:", err)
		stop()
		os.Exit(1)
	}
}

func run(ctx context.Context, keep, which string, write, conformOnly bool) error {
	ctx, cancel := context.WithTimeout(ctx, 8*time.Minute)
	defer cancel()
	chosen, err := regexp.Compile(which)
	if err != nil {
		return err
	}
	dir, err := folder(keep)
	if err != nil {
		return err
	}
	if keep == "" {
		defer os.RemoveAll(dir)
	}
	urls, stop, err := startAgents(ctx, dir)
	if err != nil {
		return err
	}
	defer stop()
	secured, end, err := startSecured(dir)
	if err != nil {
		return err
	}
	defer end()
	r := &report{conformOnly: conformOnly}
	var all sync.WaitGroup
	for _, p := range peers {
		if chosen.MatchString(p.name) {
			all.Go(func() { r.visit(ctx, p, filepath.Join(dir, p.name), urls, secured) })
		}
	}
	all.Wait()
	fmt.Printf("\n%s\n%s\n%s\n", r.matrix(), r.admissions(), r.conformance())
	if write && !conformOnly {
		r.errs = append(r.errs, r.write("README.md", map[string]string{matrixPlace: r.matrix(), admissionsPlace: r.admissions()}))
	}
	if write {
		r.errs = append(r.errs, r.write("README.md", map[string]string{conformancePlace: r.conformance()}))
	}
	return errors.Join(append(r.errs, r.judge(), r.judgeConformance())...)
}

// folder is where peers are installed.
func folder(keep string) (string, error) {
	if keep == "" {
		return os.MkdirTemp("", "interop")
	}
	dir, err := filepath.Abs(keep)
	if err != nil {
		return "", err
	}
	return dir, os.MkdirAll(dir, 0o755)
}

// report gathers what peers did.
type report struct {
	mu          sync.Mutex
	rows        []row
	conformed   []conformed
	conformOnly bool     // nothing but conformance is looked at, and printed whole
	left        []string // why peers were left out
	errs        []error
}

func (r *report) say(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	fmt.Printf(format+"\n", args...)
}

// visit installs a peer and lets it and us call each other.
func (r *report) visit(ctx context.Context, p *peer, dir string, urls map[string]string, secured *secured) {
	began := time.Now()
	if err := p.prepare(ctx, dir); err != nil {
		r.mu.Lock()
		r.left = append(r.left, fmt.Sprintf("%s: left out: %v", p.name, err))
		r.mu.Unlock()
		r.say("%s: left out: %v", p.name, err)
		return
	}
	r.say("%s: installed in %.0f s", p.name, time.Since(began).Seconds())
	if !r.conformOnly {
		r.visitClient(ctx, p, dir, urls, secured)
	}
	if p.agent != nil {
		r.visitAgent(ctx, p, dir)
	}
}

// visitClient lets a peer call us.
func (r *report) visitClient(ctx context.Context, p *peer, dir string, urls map[string]string, secured *secured) {
	for _, s := range p.scripts {
		said, err := p.script(ctx, dir, s, urls)
		if err != nil {
			r.fail(fmt.Errorf("%s %s: %w", p.name, s.file, err))
			continue
		}
		r.say("%s: %s", p.name, said)
	}
	for _, s := range p.calls {
		if among(served, s) {
			r.row(ctx, p.name, theirClient, s, func() (desk.Client, func(), error) { return p.client(ctx, dir, urls[ours], s) })
		}
	}
	if p.caller != nil {
		r.admit(ctx, p, dir, secured)
	}
}

// visitAgent holds the agent of a peer to the specification and calls it.
func (r *report) visitAgent(ctx context.Context, p *peer, dir string) {
	url, stop, err := p.agent(ctx, dir)
	if err != nil {
		r.fail(fmt.Errorf("the agent of %s: %w", p.name, err))
		return
	}
	defer stop()
	r.conform(ctx, p.name, url)
	if r.conformOnly {
		return
	}
	for _, s := range p.serves {
		if among(called, s) {
			r.row(ctx, p.name, ourCalls, s, func() (desk.Client, func(), error) { return newOurClient(ctx, url, s) })
		}
	}
}

func among(list []spoken, s spoken) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}

func (r *report) fail(err error) {
	r.say("%v", err)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.errs = append(r.errs, err)
}

// row makes the checks of one peer, version and binding.
func (r *report) row(ctx context.Context, peer, direction string, s spoken, client func() (desk.Client, func(), error)) {
	c, stop, err := client()
	if err != nil {
		r.fail(fmt.Errorf("%s, %s, %s: %w", peer, direction, s, err))
		return
	}
	defer stop()
	r.add(row{peer, direction, s, desk.Visit(ctx, c, s.version)})
}

// add tells and keeps how checks went.
func (r *report) add(row row) {
	var text strings.Builder
	fmt.Fprintf(&text, "%s, %s, %s: %s", row.peer, row.direction, row.spoken, row.score())
	for _, result := range row.results {
		if why := cmp.Or(result.Fault, result.None); why != "" {
			fmt.Fprintf(&text, "\n    %s: %s", result.Check, why)
		}
	}
	r.say("%s", &text)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.rows = append(r.rows, row)
}

// prepare makes a folder with the peer and its scripts. Where the same was installed before, it is used again.
func (p *peer) prepare(ctx context.Context, dir string) error {
	if p.needs == "" {
		return nil
	}
	if _, err := exec.LookPath(p.needs); err != nil {
		return fmt.Errorf("%s is not on this machine", p.needs)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	sum := sha256.New()
	fmt.Fprintln(sum, p.install)
	for _, name := range p.files {
		text, err := os.ReadFile(filepath.Join("languages", name))
		if err != nil {
			return err
		}
		sum.Write(text)
		if err := os.WriteFile(filepath.Join(dir, filepath.Base(name)), text, 0o644); err != nil {
			return err
		}
	}
	installed, what := filepath.Join(dir, "installed"), hex.EncodeToString(sum.Sum(nil))
	if before, err := os.ReadFile(installed); err == nil && string(before) == what {
		return nil
	}
	for _, c := range p.install {
		if err := command(ctx, dir, c[0], c[1:]...); err != nil {
			return fmt.Errorf("it cannot be installed: %w", err)
		}
	}
	return os.WriteFile(installed, []byte(what), 0o644)
}

// command runs a command in a folder. Its error has the last line of what it said.
func command(ctx context.Context, dir, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err == nil {
		return nil
	}
	said := strings.TrimSpace(string(out))
	return fmt.Errorf("%s: %w: %s", name, err, said[strings.LastIndexByte(said, '\n')+1:])
}
