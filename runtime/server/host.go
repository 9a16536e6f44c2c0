package server

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/a2agen/a2agen/runtime/server/internal/binding"
)

// DefaultAddr is where [Main] listens unless told otherwise: on the loopback interface.
const DefaultAddr = "127.0.0.1:8080"

// Environment variables of [Main]: the address to listen on, and the port for all interfaces as container platforms
// give it.
const (
	EnvAddr = "A2A_ADDR"
	EnvPort = "PORT"
)

// Exit codes of [Main].
const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2
)

// oneSignal is how long signals count as one: who ends a process and its group at once sends two.
const oneSignal = time.Second

// Main hosts an agent as a process until SIGTERM or SIGINT and returns its exit code: 0 after a clean shutdown, 1 when
// it could not serve, 2 for wrong flags. It takes what a generated NewServer returns:
//
//	os.Exit(server.Main(agent.NewServer(skills.New())))
//
// The address comes from the flag -addr, else from A2A_ADDR, else from PORT (on all interfaces), else it is
// [DefaultAddr]. With a certificate and its key, in the files that the flags -tls-cert and -tls-key name, or
// A2A_TLS_CERT and A2A_TLS_KEY, the agent speaks TLS. The process gets [Headroom].
func Main(s *Server, err error) int {
	Headroom()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	context.AfterFunc(ctx, func() { time.AfterFunc(oneSignal, stop) }) // then a second signal ends the process at once
	return host(ctx, s, err, os.Args[1:], os.Stderr)
}

// host is Main with its surroundings as parameters.
func host(ctx context.Context, s *Server, err error, args []string, stderr io.Writer) int {
	flags := flag.NewFlagSet("agent", flag.ContinueOnError)
	flags.SetOutput(stderr)
	listen := hostFlags(flags)
	switch parsed := flags.Parse(args); {
	case errors.Is(parsed, flag.ErrHelp):
		return exitOK
	case parsed != nil:
		return exitUsage
	case flags.NArg() > 0:
		_, _ = fmt.Fprintf(stderr, "unexpected argument %q\n", flags.Arg(0))
		return exitUsage
	}
	log := slog.New(slog.NewTextHandler(stderr, nil))
	if err != nil {
		why, todo, _ := strings.Cut(err.Error(), "\n")
		log.Error("agent cannot start", "error", why)
		if todo != "" { // lines that can be copied, such as statements
			_, _ = fmt.Fprintln(stderr, todo)
		}
		return exitFailed
	}
	if err := s.initTLS(*listen.cert, *listen.key); err != nil {
		log.Error("agent cannot start", "error", errors.Join(err, s.Close()))
		return exitFailed
	}
	if to, err := net.ResolveTCPAddr("tcp", *listen.addr); err == nil && s.policy.Withholds(to) {
		log.Error("agent cannot start", "error", errors.Join(binding.ErrOpen(to), s.Close()))
		return exitFailed
	}
	ln, err := net.Listen("tcp", *listen.addr)
	if err != nil {
		log.Error("agent cannot listen", "error", errors.Join(err, s.Close()))
		return exitFailed
	}
	s.tasks.announce(log)
	if s.engine.Info().Extended && !s.access.Identifies() {
		log.Warn("nobody gets the extended card: server.WithAuth or server.WithProxyIdentity says who callers are")
	}
	if k := &s.cardKey; k.signer == nil && k.read != nil && os.Getenv(EnvCardKey) == "" {
		log.Warn("the card is not signed: " + EnvCardKey + " names no file with a key")
	}
	for scheme, issuer := range exampleIssuers(s.access.Verifiers) {
		log.Warn("tokens of an example's issuer are good: nobody has one; put your own into a2agen.yaml and agent.yaml", "scheme", scheme, "issuer", issuer)
	}
	log.Info("agent is listening", append([]any{"url", s.urlAt(ln.Addr()), "agent", s.engine.Info().Name}, s.endpointAt(ln.Addr())...)...)
	if err := s.Serve(ctx, ln); err != nil {
		log.Error("agent stopped", "error", err)
		return exitFailed
	}
	log.Info("agent stopped")
	return exitOK
}

// listenFlags are the flags of [Main].
type listenFlags struct{ addr, cert, key *string }

func hostFlags(flags *flag.FlagSet) listenFlags {
	return listenFlags{
		addr: flags.String("addr", listenAddr(), "address to listen on"),
		cert: flags.String("tls-cert", "", "file of the certificate with which to speak TLS, PEM ["+EnvTLSCert+"]"),
		key:  flags.String("tls-key", "", "file of its key, PEM ["+EnvTLSKey+"]"),
	}
}

// listenAddr finds the default address.
func listenAddr() string {
	if a := os.Getenv(EnvAddr); a != "" {
		return a
	}
	if p := os.Getenv(EnvPort); p != "" {
		return ":" + p
	}
	return DefaultAddr
}

// urlAt returns the URL under which the agent answers: the public one if it is set.
func (s *Server) urlAt(a net.Addr) string {
	if s.cards.URL != "" {
		return s.cards.URL
	}
	scheme := "http"
	if s.certificate != nil {
		scheme = "https"
	}
	if tcp, ok := a.(*net.TCPAddr); ok && tcp.IP.IsUnspecified() {
		return fmt.Sprintf("%s://localhost:%d", scheme, tcp.Port)
	}
	return scheme + "://" + a.String()
}

// EnvGrace is the environment variable that shortens the time which handlers have to finish at shutdown, Grace of
// [Limits]: "1s". "a2agen dev" sets it.
const EnvGrace = "A2A_GRACE"

// shortenGrace applies the environment's grace to the limits, if that is shorter.
func shortenGrace(l *Limits) error {
	text := os.Getenv(EnvGrace)
	if text == "" {
		return nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		return fmt.Errorf("%s must be a duration such as 1s, not %q", EnvGrace, text)
	}
	if l.Grace == 0 || d < l.Grace {
		l.Grace = d
	}
	return nil
}
