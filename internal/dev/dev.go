// Package dev is the loop of "a2agen dev": it holds the addresses of agents, makes them from their files whenever these
// change, and has their callers go to the newest one that is healthy.
package dev

import (
	"cmp"
	"context"
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

	"github.com/a2agen/a2agen/internal/dev/proxy"
	"github.com/a2agen/a2agen/internal/dev/status"
	"github.com/a2agen/a2agen/internal/project"
)

// Options say what to do.
type Options struct {
	Dirs  []string      // folders of agents; the first has the address Addr, the others those after it
	Addr  string        // host:port; port 0 is a free one
	Poll  time.Duration // look at files so often, in place of events; 0: events
	Exec  string        // builds an agent in place of "go build": see program.Build
	Debug bool          // builds for a debugger
	Args  []string      // of the agents
	Tool  project.Tool
	Out   io.Writer
	Keys  io.Reader // keys that a person presses; nil: nobody does
	Raw   bool      // Out is a terminal that does not return the carriage by itself
}

// Run runs the loops until the context ends, which is no error, or somebody presses q.
func Run(ctx context.Context, o Options) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s := &session{Options: &o, console: &Console{out: o.Out, raw: o.Raw}, end: cancel}
	if err := s.open(ctx); err != nil {
		s.close()
		return err
	}
	defer s.close()
	s.announce()
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
	agents  []*agent
	servers []*http.Server
	end     func()
}

// open takes the addresses, and gets the agents ready to run.
func (s *session) open(ctx context.Context) error {
	addr := s.Addr
	for i, dir := range s.Dirs {
		front := proxy.New()
		at, err := s.serve(ctx, addr, "--addr", front)
		if err != nil {
			return err
		}
		a, err := s.newAgent(i, dir, "http://"+at, front)
		if err != nil {
			return err
		}
		s.agents = append(s.agents, a)
		if addr, err = following(at, addr); err != nil {
			return err
		}
	}
	return nil
}

// newAgent gets the loop of an agent ready.
func (s *session) newAgent(number int, dir, url string, front *proxy.Front) (*agent, error) {
	abs, err := filepath.Abs(dir)
	if err == nil {
		abs, err = filepath.EvalSymlinks(abs)
	}
	if err != nil {
		return nil, err
	}
	if info, err := os.Stat(abs); err != nil || !info.IsDir() {
		return nil, cmp.Or(err, fmt.Errorf("%s is no folder", dir))
	}
	if _, err := os.Stat(filepath.Join(abs, "go.mod")); err != nil && !isProject(abs) && s.Exec == "" {
		return nil, fmt.Errorf(`%s holds no agent: neither agent.yaml nor go.mod ("a2agen init %s" makes one; --exec builds in another way)`, dir, dir)
	}
	a := &agent{
		Options: s.Options, dir: abs, front: front, commands: make(chan Command, 1),
		now: status.Agent{Number: number, Name: filepath.Base(abs), Folder: abs, URL: url, Phase: status.Generating, Store: status.Own},
	}
	a.changed = func() {}
	a.console = &console{Console: s.console, log: func(string) {}}
	if len(s.Dirs) > 1 {
		a.console.name = filepath.Base(abs)
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

func (s *session) close() {
	for _, web := range s.servers {
		_ = web.Close() // callers that are still there are cut
	}
}

// announce prints where everything is.
func (s *session) announce() {
	for _, a := range s.agents {
		a.console.say(fmt.Sprintf("%s is made in %s, and will answer at %s", a.now.Name, a.dir, a.now.URL))
	}
	if s.Keys != nil {
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

// command has all agents obey a command. One that has still to obey the last one is not asked again.
func (s *session) command(c Command) {
	for _, a := range s.agents {
		select {
		case a.commands <- c:
		default:
		}
	}
}
