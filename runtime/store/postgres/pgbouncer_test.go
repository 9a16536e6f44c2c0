package postgres

import (
	"context"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/a2agen/a2agen/internal/test/postgrestest"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store"
)

// bouncer starts pgbouncer in front of a cluster, and returns an address that goes through it.
func bouncer(t *testing.T, c *postgrestest.Cluster, mode string, size int) string {
	t.Helper()
	path := os.Getenv("A2A_PGBOUNCER")
	if path == "" {
		for _, one := range []string{"pgbouncer", "/usr/sbin/pgbouncer"} {
			if found, err := exec.LookPath(one); err == nil {
				path = found
			}
		}
	}
	if path == "" {
		t.Skip("no pgbouncer here: install it (apt-get install pgbouncer), or set A2A_PGBOUNCER to it")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	at := l.Addr().(*net.TCPAddr)
	_ = l.Close()
	_, port, _ := net.SplitHostPort(c.HostPort())
	config := "[databases]\npostgres = host=127.0.0.1 port=" + port + " dbname=postgres user=a2a password=" + c.Password() + "\n[pgbouncer]\n" +
		"listen_addr = 127.0.0.1\nlisten_port = " + itoa(at.Port) + "\nunix_socket_dir =\nauth_type = plain\nauth_file = users\n" +
		"pool_mode = " + mode + "\ndefault_pool_size = " + itoa(size) + "\nmax_client_conn = 100\n"
	postgrestest.Companion(t, map[string]string{"users": `"a2a" "` + secret + `"`, "config": config}, path, "config")
	address := "postgres://a2a:" + secret + "@" + at.String() + "/postgres?sslmode=disable"
	eventually(t, "pgbouncer is there", func() bool {
		conn, err := net.Dial("tcp", at.String())
		if err == nil {
			_ = conn.Close()
		}
		return err == nil
	})
	return address
}

// TestPgbouncerInTransactionMode: each transaction has another connection of the server. Replicas behind it, and
// beside it, work on the same tasks; those behind it hear of changes by looking.
func TestPgbouncerInTransactionMode(t *testing.T) {
	withoutLibpq(t)
	c := postgrestest.New(t, postgrestest.Options{})
	through := bouncer(t, c, "transaction", 3)
	behind, beside := mustOpen(t, through, Options{}), mustOpen(t, c.Address(), Options{})
	if !behind.target.pooled || beside.target.pooled {
		t.Fatalf("behind a pooler: %v, and %v", behind.target.pooled, beside.target.pooled)
	}
	snap := create(t, beside, "t")
	woken := watched(t, behind, "t")
	await(t, "it has found the task", woken)
	var work sync.WaitGroup
	for i := range 8 {
		id := "u" + strings.Repeat("x", i)
		work.Go(func() {
			snap, err := behind.Create(context.Background(), keyed(id), working(id), nil)
			for range 20 {
				if err == nil {
					_, err = behind.Apply(context.Background(), keyed(id), 0, says(id, snap.Epoch, runtime.StateWorking), nil)
				}
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	work.Wait()
	for i := range 8 {
		id := "u" + strings.Repeat("x", i)
		for _, s := range []*Store{behind, beside} {
			if got, err := s.Get(t.Context(), keyed(id), store.Full); err != nil || got.Version != 21 {
				t.Errorf("%s is of version %d: %v", id, got.Version, err)
			}
		}
	}
	if _, err := beside.Apply(t.Context(), keyed("t"), 0, says("t", snap.Epoch, runtime.StateWorking), nil); err != nil {
		t.Fatal(err)
	}
	await(t, "the change is found", woken)
	for _, s := range []*Store{behind, beside} {
		if _, err := s.Renew(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

// TestPgbouncerInSessionMode: notifications arrive.
func TestPgbouncerInSessionMode(t *testing.T) {
	withoutLibpq(t)
	c := postgrestest.New(t, postgrestest.Options{})
	s := mustOpen(t, bouncer(t, c, "session", 20), Options{})
	if listens, err := s.waking.canListen(t.Context()); err != nil || !listens {
		t.Errorf("notifications arrive: %v, %v", listens, err)
	}
}
