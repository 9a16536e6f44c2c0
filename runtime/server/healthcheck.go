package server

import (
	"bufio"
	"cmp"
	"context"
	"crypto/tls"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"time"
)

// healthTime is how long a health check waits for its answer.
const healthTime = 5 * time.Second

// HealthCheck is for the health check of an image without a shell: with the flag -health among args, the program's
// arguments, it asks the agent that runs on this machine for [HealthPath], and returns the exit code: 0 when it is
// well, else 1. Where it listens and whether it speaks TLS is told as to [Main], by the other flags and the
// environment. Without -health asked is false. Call it before anything opens the store:
//
//	if code, asked := server.HealthCheck(os.Args[1:]); asked {
//		os.Exit(code)
//	}
func HealthCheck(args []string) (code int, asked bool) {
	return healthCheck(args, os.Stderr)
}

func healthCheck(args []string, stderr io.Writer) (code int, asked bool) {
	if !slices.Contains(args, "-health") && !slices.Contains(args, "--health") {
		return exitOK, false
	}
	flags := flag.NewFlagSet("agent", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Bool("health", true, "ask the agent that runs here whether it is well")
	listen := hostFlags(flags)
	if flags.Parse(args) != nil {
		return exitUsage, true
	}
	if err := askHealth(*listen.addr, cmp.Or(*listen.cert, os.Getenv(EnvTLSCert)) != ""); err != nil {
		_, _ = fmt.Fprintln(stderr, "the agent is not well:", err)
		return exitFailed, true
	}
	return exitOK, true
}

// askHealth asks the agent that listens on an address of this machine. It speaks HTTP by itself: the client of net/http
// would be 0.4 MB more of every agent.
func askHealth(addr string, overTLS bool) error {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return err
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "localhost"
	}
	ctx, cancel := context.WithTimeout(context.Background(), healthTime)
	defer cancel()
	conn, err := dialHealth(ctx, net.JoinHostPort(host, port), overTLS)
	if err != nil {
		return err
	}
	defer conn.Close()
	deadline, _ := ctx.Deadline()
	if err := conn.SetDeadline(deadline); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", HealthPath, net.JoinHostPort(host, port)); err != nil {
		return err
	}
	status, err := bufio.NewReader(io.LimitReader(conn, 1<<10)).ReadString('\n')
	if err != nil {
		return err
	}
	if _, said, _ := strings.Cut(strings.TrimSpace(status), " "); !strings.HasPrefix(said, "200") {
		return fmt.Errorf("it answers %q", said)
	}
	return nil
}

// dialHealth connects to the agent. The certificate is not checked: nothing secret is sent or read.
func dialHealth(ctx context.Context, addr string, overTLS bool) (net.Conn, error) {
	if !overTLS {
		return new(net.Dialer).DialContext(ctx, "tcp", addr)
	}
	dialer := tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true}}
	return dialer.DialContext(ctx, "tcp", addr)
}
