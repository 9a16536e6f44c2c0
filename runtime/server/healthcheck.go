package server

import (
	"cmp"
	"context"
	"crypto/tls"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"time"
)

// healthTime is how long a health check waits for its answer.
const healthTime = 5 * time.Second

// HealthCheck is for the health check of an image without a shell: with the flag -health among args, the program's arguments, it asks the agent that
// runs on this machine for [HealthPath], and returns the exit code: 0 when it is well, else 1. Where it listens and whether it speaks TLS is told as to
// [Main], by the other flags and the environment. Without -health asked is false. Call it before anything opens the store:
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

// askHealth asks the agent that listens on an address of this machine.
func askHealth(addr string, overTLS bool) error {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return err
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "localhost"
	}
	u := url.URL{Scheme: "http", Host: net.JoinHostPort(host, port), Path: HealthPath}
	if overTLS {
		u.Scheme = "https"
	}
	ctx, cancel := context.WithTimeout(context.Background(), healthTime)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return err
	}
	// It asks this machine for a word that is no secret: whose certificate it is does not matter.
	ask := &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
	res, err := ask.RoundTrip(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("it answers %s", res.Status)
	}
	return nil
}
