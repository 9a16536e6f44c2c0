package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/a2agen/a2agen/internal/faultproxy"
	"github.com/a2agen/a2agen/testkit/fault"
)

func faultCommand() *cobra.Command {
	var o faultOptions
	cmd := &cobra.Command{
		Use:   "fault URL",
		Short: "Put a proxy with faults before an agent, to see what its callers make of them",
		Long: `fault starts a proxy before an agent, in whatever language it is written, and has the requests and events
that pass it meet faults: answers that get lost after the work, streams that end after three events. Call the address
that it prints in place of the agent's. It serves the agent's card with its own addresses, so that clients stay with it,
over JSON-RPC, HTTP+JSON and gRPC, on one port. Each request is a line of the output. An interrupt (Ctrl-C) ends it.

A fault is a flag and a value, VALUE[:TIMES][+SKIP][%PERCENT][@OPERATION,...]:

  --cut 3                          each stream breaks after three events
  --cut 3:2                        the first two streams
  --cut 3:1+4                      one stream, after four have passed
  --drop reply%20                  every fifth answer, at random: --seed says which
  --status 503:2@SendMessage       the first two requests of SendMessage, as any version names it

Faults are applied in their order. Requests for the card meet none unless a fault says @card. Events are those of a
stream: a plain answer does not meet their faults.`,
		Example: `  a2agen fault http://localhost:8080 --cut 3                  # every stream ends after three events
  a2agen fault http://localhost:8080 --drop reply:1@SendMessage --delay 200ms
  a2agen fault http://localhost:8080 --status 503:2 --retry-after 3s
  a2agen fault http://localhost:8080 --stall 2:1 --listen 127.0.0.1:9000
  a2agen fault https://agent.example.com --drop request%10 --drop reply%10 --double all%10 --seed 7`,
		Args: exactly(1, "the URL of an agent, or of its card"),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			context.AfterFunc(ctx, stop) // a second signal ends the process at once
			return o.serve(ctx, cmd, args[0])
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.listen, "listen", "127.0.0.1:0", "where the proxy listens; port 0 is a free one")
	f.Int64Var(&o.seed, "seed", 1, "what is random follows this number")
	f.DurationVar(&o.retryAfter, "retry-after", 0, "have --status ask for a pause")
	for _, k := range faultproxy.Kinds {
		f.Var(&faultFlag{kind: k, list: &o.faults}, k.Name, k.Usage)
		anyWord(cmd, k.Name)
	}
	anyWord(cmd, "listen")
	return cmd
}

// faultOptions are what the proxy is told.
type faultOptions struct {
	listen     string
	seed       int64
	retryAfter time.Duration
	faults     []fault.Fault
}

// injector makes the faults.
func (o *faultOptions) injector() (*fault.Injector, error) {
	faults, applied := o.faults, false
	for i, f := range faults {
		if o.retryAfter != 0 && strings.HasPrefix(f.String(), "Status(") {
			faults[i], applied = f.RetryAfter(o.retryAfter), true
		}
	}
	if o.retryAfter != 0 && !applied {
		return nil, errors.New("--retry-after is for --status, such as --status 503:2")
	}
	return fault.New(o.seed, faults...)
}

// serve serves until the context ends.
func (o *faultOptions) serve(ctx context.Context, cmd *cobra.Command, base string) error {
	in, err := o.injector()
	if err != nil {
		return err
	}
	defer in.Close()
	out, problems := cmd.OutOrStdout(), cmd.ErrOrStderr()
	warn := func(text string) { fmt.Fprintf(problems, "a2agen: %s\n", text) }
	proxy, err := faultproxy.New(ctx, base, warn)
	if err != nil {
		return err
	}
	ln, err := net.Listen("tcp", o.listen)
	if err != nil {
		return fmt.Errorf("--listen %s: %w", o.listen, err)
	}
	in.Watch(func(e fault.Exchange) { fmt.Fprintln(out, faultproxy.Line(e)) })
	fmt.Fprintf(out, "%s -> %s\n", proxy.URL(ln.Addr().String()), base)
	for _, f := range o.faults {
		fmt.Fprintf(out, "  %s\n", f)
	}
	if len(o.faults) == 0 {
		warn("no fault is asked for: everything passes (see a2agen fault --help)")
	}
	err = hostProxy(ctx, ln, in.Handler(proxy.Handler()), in.Close)
	o.summary(out, in)
	return err
}

// hostProxy serves all bindings on one port, until the context ends: then what is under way is broken off.
func hostProxy(ctx context.Context, ln net.Listener, h http.Handler, closing func()) error {
	web := &http.Server{
		Handler: h, Protocols: new(http.Protocols), ReadHeaderTimeout: 30 * time.Second, IdleTimeout: 2 * time.Minute,
		ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError),
	}
	web.Protocols.SetHTTP1(true)
	web.Protocols.SetUnencryptedHTTP2(true)
	ended := make(chan error, 1)
	go func() { ended <- web.Serve(ln) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	closing()
	return web.Close()
}

// summary says what no request met.
func (o *faultOptions) summary(out io.Writer, in *fault.Injector) {
	for _, f := range in.Unused() {
		fmt.Fprintf(out, "no request met %s\n", f)
	}
}
