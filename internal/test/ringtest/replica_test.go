//go:build unix

package ringtest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/a2agen/a2agen/internal/test/ledger"
	"github.com/a2agen/a2agen/runtime/push/verify"
)

// lease is that of a replica: short, so that much happens in a minute.
const lease = 2 * time.Second

// skews are how far the clocks of replicas are ahead.
var skews = []time.Duration{-10 * time.Minute, 0, 10 * time.Minute}

// replica is one of the processes of the agent, with a proxy between it and the database.
type replica struct {
	ledger.Process
	link *proxy
	skew time.Duration
	env  []string // more of the environment
}

// newReplicas makes the replicas of an agent on the database of this address. They are not started.
func newReplicas(t *testing.T, a *ledger.Agent, database, key string) (replicas []*replica) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	config, err := pgx.ParseConfig(database)
	if err != nil {
		t.Fatal(err)
	}
	server := net.JoinHostPort(config.Host, fmt.Sprint(config.Port))
	for _, skew := range skews {
		r := &replica{link: newProxy(t, server), skew: skew}
		address, store := ledger.Address(t), through(database, r.link.Address())
		r.Agent = a
		r.Command = func() *exec.Cmd {
			cmd := exec.Command(self, "-addr", address)
			cmd.Env = append(os.Environ(), envStore+"="+store, envLease+"="+lease.String(), envSkew+"="+r.skew.String(), envKey+"="+key)
			cmd.Env = append(cmd.Env, r.env...)
			return cmd
		}
		a.Addresses = append(a.Addresses, address)
		replicas = append(replicas, r)
		t.Cleanup(r.Close)
	}
	return replicas
}

// through is the address of a database through a proxy.
func through(database, proxy string) string {
	host, port, _ := strings.Cut(proxy, ":")
	if u, err := url.Parse(database); err == nil && u.Scheme != "" {
		u.Host = proxy
		return u.String()
	}
	return database + " host=" + host + " port=" + port
}

// run starts the replica, again and again while it cannot: the database may be away.
func (r *replica) run(t *testing.T) error {
	for {
		err := r.Start()
		if err == nil || !strings.Contains(err.Error(), "agent cannot start") || t.Context().Err() != nil {
			return err
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// newKey makes a key for signatures, and serves the keys by which receivers verify them.
func newKey(t *testing.T) (key, keysURL string) {
	t.Helper()
	made, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(made)
	if err != nil {
		t.Fatal(err)
	}
	key = base64.StdEncoding.EncodeToString(der)
	signer, err := newSigner(key)
	if err != nil {
		t.Fatal(err)
	}
	keys := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(signer.Keys()) }))
	t.Cleanup(keys.Close)
	return key, keys.URL
}

// checkSignatures has a webhook verify what the agent signs.
func checkSignatures(t *testing.T, h *ledger.Hook, keysURL string) {
	t.Helper()
	v, err := verify.New(issuer, h.URL, verify.Keys(keysURL))
	if err != nil {
		t.Fatal(err)
	}
	h.Verify = v.Verify
}
