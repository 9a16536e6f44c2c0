// Package dev is the loop of "a2agen dev": it holds the addresses of agents, makes them from their files whenever these
// change, and has their callers go to the newest one that is healthy.
package dev

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/a2agen/a2agen/internal/dev/faults"
	"github.com/a2agen/a2agen/internal/dev/inbox"
	"github.com/a2agen/a2agen/internal/dev/live"
	"github.com/a2agen/a2agen/internal/dev/page"
	"github.com/a2agen/a2agen/internal/dev/proxy"
	"github.com/a2agen/a2agen/internal/dev/status"
	"github.com/a2agen/a2agen/internal/dev/traffic"
	"github.com/a2agen/a2agen/internal/project"
)

// Options say what to do.
type Options struct {
	Dirs          []string           // folders of agents; the first has the address Addr, the others those after it
	To            string             // URL of an agent that somebody else runs, in place of Dirs
	Addr          string             // host:port; port 0 is a free one
	Page          string             // likewise, of the page; "" for none
	PageElsewhere bool               // the page may have a free port if Page is taken
	Open          func(string) error // shows the page's URL in a browser; nil: nobody does
	Faults        string             // that all calls meet from the start, as faults.Read has them; the page changes them
	Poll          time.Duration      // look at files so often, in place of events; 0: events
	Exec          string             // builds an agent in place of "go build": see program.Build
	Debug         bool               // builds for a debugger
	Args          []string           // of the agents
	Tool          project.Tool
	Out           io.Writer
	Keys          io.Reader // keys that a person presses; nil: nobody does
	Raw           bool      // Out is a terminal that does not return the carriage by itself

	short time.Duration // how long a process must have answered to be started again when it ends by itself; 0: three seconds
}

// Run runs the loops until the context ends, which is no error, or somebody presses q.
func Run(ctx context.Context, o Options) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s := &session{Options: &o, console: &Console{out: o.Out, raw: o.Raw}, feed: &live.Feed{}, end: cancel}
	s.traffic = &traffic.Log{Feed: s.feed}
	asked, seed, err := faults.Read(o.Faults)
	if err != nil && o.Faults != "" {
		return fmt.Errorf("--faults: %w", err)
	}
	err = s.open(ctx)
	for _, way := range s.faults {
		if err == nil && len(asked) > 0 {
			way.Seed, way.Report = seed, s.say
			err = way.Set(asked)
		}
	}
	if err != nil {
		s.abandon()
		return err
	}
	defer s.close()
	s.announce()
	if o.Open != nil && s.pageURL != "" {
		if err := o.Open(s.pageURL); err != nil {
			s.say("--open: " + err.Error())
		}
	}
	if o.Keys != nil {
		go s.readKeys(ctx)
	}
	var wg sync.WaitGroup
	errs := make([]error, len(s.agents))
	for i, a := range s.agents {
		wg.Go(func() {
			defer cancel()
			errs[i] = a.run(ctx)
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// session is all that runs.
type session struct {
	*Options
	console *Console
	feed    *live.Feed
	traffic *traffic.Log
	agents  []runner
	servers []*http.Server
	faults  []*faults.Switch // of agents
	quiet   []http.Handler   // ways to agents that nobody records
	inbox   *inbox.Inbox     // nil without a page
	pageURL string           // with its token
	end     func()
}

// runner is an agent that is looked at: one that is built here, or somebody else's.
type runner interface {
	run(ctx context.Context) error
	status() status.Agent
	handler() http.Handler // of its callers, recorded
	lines() []page.Line
	obeys(c Command) bool // or has it queued
}

// open takes the addresses, and gets the agents ready to run.
func (s *session) open(ctx context.Context) error {
	if err := s.openInbox(ctx); err != nil {
		return err
	}
	if s.To != "" {
		if err := s.openRemote(ctx); err != nil {
			return err
		}
		return s.openPage(ctx)
	}
	addr := s.Addr
	for i, dir := range s.Dirs {
		front := proxy.New()
		recorded := s.record(i, front)
		at, err := s.serve(ctx, addr, "--addr", recorded)
		if err != nil {
			return err
		}
		a, err := s.newAgent(i, dir, "http://"+at, front)
		if err != nil {
			return err
		}
		a.recorded = recorded
		s.agents = append(s.agents, a)
		if addr, err = following(at, addr); err != nil {
			return err
		}
	}
	return s.openPage(ctx)
}

// openPage serves the page, if there is to be one.
func (s *session) openPage(ctx context.Context) error {
	if s.Page == "" {
		return nil
	}
	p := &page.Page{
		Token: rand.Text(), Version: s.Tool.Version, Traffic: s.traffic, Feed: s.feed,
		Agents: s.statuses, Command: s.obey, Handler: s.handlerOf, Lines: s.linesOf, More: s.parts(ctx),
	}
	at, err := s.serve(ctx, s.Page, "--page", p.Server())
	if err != nil && s.PageElsewhere && isLoopback(s.Page) == nil {
		at, err = s.serve(ctx, "127.0.0.1:0", "--page", p.Server())
	}
	s.pageURL = "http://" + at + "/?token=" + p.Token
	return err
}

func (s *session) statuses() []status.Agent {
	list := make([]status.Agent, len(s.agents))
	for i, a := range s.agents {
		list[i] = a.status()
	}
	return list
}

// of returns an agent by its number; nil if there is none.
func (s *session) of(n int) runner {
	if n < 0 || n >= len(s.agents) {
		return nil
	}
	return s.agents[n]
}

func (s *session) obey(n int, command string) bool {
	a := s.of(n)
	return a != nil && a.obeys(Command(command))
}

func (s *session) handlerOf(n int) http.Handler {
	if a := s.of(n); a != nil {
		return a.handler()
	}
	return nil
}

func (s *session) linesOf(n int) []page.Line {
	if a := s.of(n); a != nil {
		return a.lines()
	}
	return nil
}

// newAgent gets the loop of an agent ready.
func (s *session) newAgent(number int, dir, url string, front *proxy.Front) (*agent, error) {
	abs, err := filepath.Abs(dir)
	if err == nil {
		abs, err = filepath.EvalSymlinks(abs)
	}
	if info, e := os.Stat(dir); e != nil || !info.IsDir() {
		return nil, fmt.Errorf("%s is no folder", dir)
	}
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(filepath.Join(abs, "go.mod")); err != nil && !isProject(abs) && s.Exec == "" {
		return nil, fmt.Errorf(`%s holds no agent: neither agent.yaml nor go.mod ("a2agen init %s" makes one; --exec builds in another way)`, dir, dir)
	}
	a := &agent{
		Options: s.Options, dir: abs, front: front, commands: make(chan Command, 1),
		now: status.Agent{Number: number, Name: filepath.Base(abs), Folder: abs, URL: url, Phase: status.Generating, Store: status.Own},
	}
	a.changed = func() { s.feed.Publish("agent", a.status()) }
	a.define = s.traffic.Define
	a.printed = &lineLog{agent: number, feed: s.feed}
	a.reports = &reportLog{agent: number, feed: s.feed}
	a.console = &console{Console: s.console, log: a.printed.add, told: a.reports.add}
	if len(s.Dirs) > 1 {
		a.console.name = a.now.Name
	}
	return a, a.prepare()
}

// following returns the address of the next agent: the next port, or a free one where that was asked for.
func following(at, asked string) (string, error) {
	host, port, err := net.SplitHostPort(at)
	if err != nil {
		return "", err
	}
	n, err := strconv.Atoi(port)
	if _, was, _ := net.SplitHostPort(asked); was == "0" {
		n = -1
	}
	return net.JoinHostPort(host, strconv.Itoa(n+1)), err
}

// serve listens on an address of this machine, and serves HTTP/1, and HTTP/2 without TLS for gRPC.
func (s *session) serve(ctx context.Context, addr, flag string, h http.Handler) (at string, err error) {
	if err := isLoopback(addr); err != nil {
		return "", fmt.Errorf("%s %s: %w", flag, addr, err)
	}
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		return "", fmt.Errorf("%s %s: %w (is another program, or another a2agen dev, there? %s 127.0.0.1:0 takes a free port)", flag, addr, err, flag)
	}
	web := &http.Server{
		Handler: h, Protocols: new(http.Protocols), ReadHeaderTimeout: 30 * time.Second, IdleTimeout: 2 * time.Minute,
		ErrorLog:    slog.NewLogLogger(slog.DiscardHandler, slog.LevelError),
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	web.Protocols.SetHTTP1(true)
	web.Protocols.SetUnencryptedHTTP2(true)
	s.servers = append(s.servers, web)
	go func() { _ = web.Serve(ln) }() // until it is closed
	return ln.Addr().String(), nil
}

// isLoopback returns why an address is not one of this machine's alone.
func isLoopback(addr string) error {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return fmt.Errorf("write an address such as 127.0.0.1:8080")
	}
	if ip, err := netip.ParseAddr(host); host != "localhost" && (err != nil || !ip.IsLoopback()) {
		return errors.New("this is for development, and listens on this machine alone: write 127.0.0.1, ::1 or localhost before the port (a tunnel of ssh or of your editor reaches it from elsewhere)")
	}
	return nil
}

// abandon gives back what was taken for agents that will not run.
func (s *session) abandon() {
	s.close()
	for _, r := range s.agents {
		if a, ok := r.(*agent); ok {
			a.close()
		}
	}
}

func (s *session) close() {
	for _, web := range s.servers {
		_ = web.Close() // callers that are still there are cut
	}
}

// announce prints where everything is.
func (s *session) announce() {
	for _, a := range s.statuses() {
		if s.To != "" {
			s.say(fmt.Sprintf("calls of %s go to %s", a.URL, a.To))
			continue
		}
		s.say(fmt.Sprintf("%s is made in %s, and will answer at %s", a.Name, a.Folder, a.URL))
	}
	if s.pageURL != "" {
		s.console.write([]byte("page: " + s.pageURL + "\n"))
	}
	if s.Keys != nil && s.To == "" {
		s.console.write([]byte("keys: r rebuild · p pause watching · c clear tasks · q quit\n"))
	}
}

// Keys are read one by one.
const (
	keyInterrupt = 3 // Ctrl-C, where the terminal passes it on
	keyEnd       = 4 // Ctrl-D
)

// readKeys has the keys obeyed that a person presses.
func (s *session) readKeys(ctx context.Context) {
	key := make([]byte, 1)
	for ctx.Err() == nil {
		if _, err := s.Keys.Read(key); err != nil {
			return
		}
		switch key[0] {
		case 'r':
			s.command(Rebuild)
		case 'p':
			s.command(Pause)
		case 'c':
			s.command(Clear)
		case 'q', keyInterrupt, keyEnd:
			s.end()
			return
		}
	}
}

// command has all agents obey a command.
func (s *session) command(c Command) {
	for _, a := range s.agents {
		a.obeys(c)
	}
}

// say prints a text about the whole session.
func (s *session) say(text string) { (&console{Console: s.console}).say(text) }
