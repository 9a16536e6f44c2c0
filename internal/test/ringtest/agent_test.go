//go:build unix

package ringtest

import (
	"cmp"
	"context"
	"crypto/ecdsa"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/a2agen/a2agen/a2a"
	"github.com/a2agen/a2agen/internal/test/ledger"
	"github.com/a2agen/a2agen/runtime/push"
	"github.com/a2agen/a2agen/runtime/server"
	"github.com/a2agen/a2agen/runtime/server/webhooks"
	"github.com/a2agen/a2agen/runtime/store/postgres"
)

// What the environment says to a process of the agent.
const (
	envStore = "RING_STORE" // the address of the database; the test binary is an agent where it is set
	envLease = "RING_LEASE" // a duration
	envSkew  = "RING_SKEW"  // how far the process's clock is ahead
	envKey   = "RING_KEY"   // with which notifications are signed
)

// issuer is how the agent calls itself in signatures, and where its clients would find it.
const issuer = "https://ring.example"

func TestMain(m *testing.M) {
	if os.Getenv(envStore) != "" {
		os.Exit(server.Main(newAgent()))
	}
	os.Exit(runOnDisk(m))
}

const card = `{"name":"ring","description":"Is harmed.","version":"1","capabilities":{"streaming":true,"pushNotifications":true},
"supportedInterfaces":[{"url":"/","protocolBinding":"JSONRPC","protocolVersion":"1.0"}],
"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],
"skills":[{"id":"sturdy","name":"Sturdy","description":"Is tried again.","tags":["a"]},
{"id":"fragile","name":"Fragile","description":"Fails.","tags":["b"]},{"id":"asking","name":"Asking","description":"Asks.","tags":["c"]}]}`

// newAgent makes the agent that the environment describes.
func newAgent() (*server.Server, error) {
	protocol := a2a.Protocol()
	c, err := protocol.DecodeCard([]byte(card))
	if err != nil {
		return nil, err
	}
	lease, err := time.ParseDuration(os.Getenv(envLease))
	if err != nil {
		return nil, err
	}
	skew, err := time.ParseDuration(cmp.Or(os.Getenv(envSkew), "0s"))
	if err != nil {
		return nil, err
	}
	signer, err := newSigner(os.Getenv(envKey))
	if err != nil {
		return nil, err
	}
	tasks, err := postgres.Open(context.Background(), os.Getenv(envStore), protocol, postgres.Options{Agent: "ring", Lease: lease})
	if err != nil {
		return nil, err
	}
	return server.New(server.Config{
		Protocol: protocol,
		Card:     c,
		Skills: []server.Skill{
			{ID: ledger.Sturdy, Name: "Sturdy", OnCrash: server.CrashRetry, Run: work},
			{ID: ledger.Fragile, Name: "Fragile", OnCrash: server.CrashFail, Run: work},
			{ID: ledger.Asking, Name: "Asking", OnCrash: server.CrashRetry, Run: ask},
		},
	},
		server.WithStore(tasks), webhooks.Send(), server.WithPushSigner(signer), server.WithPushTargets("127.0.0.0/8"),
		server.WithClock(func() time.Time { return time.Now().Add(skew) }), server.WithoutCallLog(),
		server.WithProxyIdentity(func(r *http.Request) (string, error) {
			if owner := r.Header.Get(ledger.OwnerHeader); owner != "" {
				return owner, nil
			}
			return "", errors.New("nobody calls")
		}),
	)
}

// newSigner reads a key as newKey writes it.
func newSigner(key string) (*push.Signer, error) {
	der, err := base64.StdEncoding.DecodeString(key)
	if err != nil {
		return nil, err
	}
	parsed, err := x509.ParsePKCS8PrivateKey(der)
	if err != nil {
		return nil, err
	}
	return push.NewSigner(issuer, parsed.(*ecdsa.PrivateKey))
}

func work(ctx context.Context, t *server.Task, _ any) ([]byte, error) {
	w := t.Stream("log")
	for n := range ledger.Steps {
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(4 * time.Millisecond):
		}
		if err := t.Progress("%s", ledger.Step(n, t.Call().Attempt())); err != nil {
			return nil, err
		}
		if _, err := fmt.Fprint(w, n); err != nil {
			return nil, err
		}
	}
	return []byte("done " + t.Text()), w.Close()
}

func ask(_ context.Context, t *server.Task, _ any) ([]byte, error) {
	if !t.Resumed() {
		return nil, t.Ask("And then?")
	}
	return []byte("done " + t.Text()), nil
}
