package postgres

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/a2agen/a2agen/a2a"
	"github.com/a2agen/a2agen/internal/test/postgrestest"
	"github.com/a2agen/a2agen/internal/test/testcert"
)

// mustFail opens a store and returns the error, which has the words that it should have and no password.
func mustFail(t *testing.T, address string, o Options, want ...string) {
	t.Helper()
	s, err := Open(t.Context(), address, a2a.Protocol(), o)
	if err == nil {
		_ = s.Close()
		t.Fatal("the store was opened")
	}
	for _, word := range want {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("%v\nwithout %q", err, word)
		}
	}
	if a, bad := parseAddress(address); bad == nil && a.pool.ConnConfig.Password != "" && strings.Contains(err.Error(), a.pool.ConnConfig.Password) {
		t.Errorf("the password is in it: %v", err)
	}
}

func mustOpen(t *testing.T, address string, o Options) *Store {
	t.Helper()
	s, err := Open(t.Context(), address, a2a.Protocol(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// execute makes statements on a connection of the test's own.
func execute(t *testing.T, address, script string) {
	t.Helper()
	if _, err := postgrestest.Connect(t, address).Exec(t.Context(), script); err != nil {
		t.Fatal(err)
	}
}

// as is an address with another role, whose password is the secret.
func as(c *postgrestest.Cluster, role, database string) string {
	return "postgres://" + role + ":" + secret + "@" + c.HostPort() + "/" + database + "?sslmode=disable"
}

func TestAServerThatCannotBeUsedIsAClearErrorAtStart(t *testing.T) {
	withoutLibpq(t)
	c := postgrestest.New(t, postgrestest.Options{})
	execute(t, c.Address(), "CREATE ROLE guest LOGIN PASSWORD '"+secret+"'")
	execute(t, c.Address(), "CREATE DATABASE ascii ENCODING 'SQL_ASCII' TEMPLATE template0")
	execute(t, c.Address(), "CREATE SCHEMA foreigner; CREATE TABLE foreigner.meta(name text)")
	at := c.HostPort()
	t.Run("wrong password", func(t *testing.T) {
		mustFail(t, strings.Replace(as(c, "guest", "postgres"), secret, "wrong-"+secret, 1), Options{}, at+"/postgres", "guest", "PGPASSFILE", "pg_hba.conf")
	})
	t.Run("no database", func(t *testing.T) { mustFail(t, as(c, "guest", "none"), Options{}, at+"/none", "createdb") })
	t.Run("another encoding", func(t *testing.T) { mustFail(t, as(c, "guest", "ascii"), Options{}, "SQL_ASCII", "UTF8") })
	t.Run("role without rights", func(t *testing.T) {
		mustFail(t, as(c, "guest", "postgres"), Options{}, "permission denied", "a2agen tasks migrate", "GRANT USAGE ON SCHEMA a2a TO guest")
	})
	t.Run("schema of another program", func(t *testing.T) {
		mustFail(t, postgrestest.WithSchema(c.Address(), "foreigner"), Options{}, "foreigner", "a2a_schema=NAME")
	})
	t.Run("no TLS", func(t *testing.T) {
		mustFail(t, strings.Replace(c.Address(), "sslmode=disable", "sslmode=require", 1), Options{}, "TLS", "ssl=on", "sslmode=disable")
	})
	t.Run("unknown parameter of the server", func(t *testing.T) {
		mustFail(t, c.Address()+"&options=-c%20nonesuch%3D1", Options{}, "nonesuch", "parameters of the address")
	})
	t.Run("standby", func(t *testing.T) {
		mustFail(t, c.Standby(t).Address(), Options{}, "standby", "primary", "HOST1,HOST2")
	})
	t.Run("read-only", func(t *testing.T) {
		execute(t, c.Address(), "ALTER ROLE guest SET default_transaction_read_only=on")
		mustFail(t, as(c, "guest", "postgres"), Options{}, "read-only", "primary")
	})
}

func TestASchemaThatCannotBeUsedIsAClearErrorAtStart(t *testing.T) {
	withoutLibpq(t)
	c := postgrestest.New(t, postgrestest.Options{})
	_ = mustOpen(t, c.Address(), Options{Agent: "weather"}).Close()
	t.Run("another agent", func(t *testing.T) {
		mustFail(t, c.Address(), Options{Agent: "news"}, `"weather"`, `"news"`, "a2a_schema=NAME")
	})
	t.Run("the same agent", func(t *testing.T) { mustOpen(t, c.Address(), Options{Agent: "weather"}) })

	execute(t, c.Address(), "CREATE ROLE guest LOGIN PASSWORD '"+secret+"'")
	t.Run("a role that may not use it", func(t *testing.T) {
		mustFail(t, as(c, "guest", "postgres"), Options{}, "permission denied", "GRANT USAGE ON SCHEMA a2a TO guest")
	})
	execute(t, c.Address(), `GRANT USAGE ON SCHEMA a2a TO guest;
		GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA a2a TO guest;
		GRANT USAGE ON ALL SEQUENCES IN SCHEMA a2a TO guest;
		GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA a2a TO guest`)
	t.Run("a role that may use it and change no table", func(t *testing.T) { mustOpen(t, as(c, "guest", "postgres"), Options{Agent: "weather"}) })
	t.Run("an older format, for such a role", func(t *testing.T) {
		execute(t, c.Address(), "UPDATE a2a.meta SET format=0")
		mustFail(t, as(c, "guest", "postgres"), Options{}, "permission denied", "a2agen tasks migrate")
	})
	t.Run("a newer format", func(t *testing.T) {
		execute(t, c.Address(), "UPDATE a2a.meta SET format=99, least=99")
		mustFail(t, c.Address(), Options{}, "format 99", "newer program")
	})
	t.Run("a newer format that older programs may use", func(t *testing.T) {
		execute(t, c.Address(), "UPDATE a2a.meta SET least=1")
		mustOpen(t, c.Address(), Options{})
	})
}

func TestAServerThatIsNotThereIsAClearErrorAtStart(t *testing.T) {
	withoutLibpq(t)
	t.Run("closed port", func(t *testing.T) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		at := l.Addr().String()
		_ = l.Close()
		mustFail(t, "postgres://u:"+secret+"@"+at+"/d", Options{}, at+"/d", "is it running", "listen_addresses")
	})
	t.Run("no such host", func(t *testing.T) {
		mustFail(t, "postgres://u:"+secret+"@no-such-host.invalid/d", Options{}, "no-such-host.invalid", "check the address")
	})
	serve := func(t *testing.T, answer func(net.Conn)) string {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = l.Close() })
		go func() {
			for {
				conn, err := l.Accept()
				if err != nil {
					return
				}
				t.Cleanup(func() { _ = conn.Close() })
				go answer(conn)
			}
		}()
		return "postgres://u:" + secret + "@" + l.Addr().String() + "/d?sslmode=disable&connect_timeout=1"
	}
	t.Run("one that is silent", func(t *testing.T) {
		begin := time.Now()
		mustFail(t, serve(t, func(net.Conn) {}), Options{}, "did not answer in time", "firewall")
		if time.Since(begin) > connectTimeout {
			t.Errorf("it took %s", time.Since(begin))
		}
	})
	t.Run("one that hangs up", func(t *testing.T) {
		mustFail(t, serve(t, func(c net.Conn) {
			_, _ = c.Read(make([]byte, 100))
			_ = c.Close()
		}), Options{}, "is that PostgreSQL")
	})
	t.Run("one without TLS that hangs up", func(t *testing.T) {
		address := serve(t, func(c net.Conn) {
			if _, _ = c.Read(make([]byte, 8)); c.SetDeadline(time.Now().Add(time.Second)) == nil {
				_, _ = c.Write([]byte("N")) // to the question for TLS
			}
			_, _ = c.Read(make([]byte, 100))
			_ = c.Close()
		})
		mustFail(t, strings.Replace(address, "sslmode=disable", "sslmode=prefer", 1), Options{}, "is that PostgreSQL")
	})
	t.Run("another protocol", func(t *testing.T) {
		mustFail(t, serve(t, func(c net.Conn) {
			_, _ = c.Read(make([]byte, 100))
			_, _ = c.Write([]byte("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n"))
		}), Options{}, "is that PostgreSQL?")
	})
}

// TestTLSIsThatOfLibpq: a certificate is checked as sslmode says.
func TestTLSIsThatOfLibpq(t *testing.T) {
	withoutLibpq(t)
	c := postgrestest.New(t, postgrestest.Options{})
	pair := testcert.New(t, "127.0.0.1")
	ca := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(ca, pair.Cert, 0o600); err != nil {
		t.Fatal(err)
	}
	c.WriteData(t, "server.crt", pair.Cert)
	c.WriteData(t, "server.key", pair.Key)
	execute(t, c.Address(), "ALTER SYSTEM SET ssl=on")
	execute(t, c.Address(), "SELECT pg_reload_conf()")
	with := func(mode string) string { return strings.Replace(c.Address(), "sslmode=disable", "sslmode="+mode, 1) }
	other := testcert.New(t, "127.0.0.1")
	wrong := filepath.Join(t.TempDir(), "other.pem")
	if err := os.WriteFile(wrong, other.Cert, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, mode := range []string{"require", "verify-full&sslrootcert=" + ca} {
		s := mustOpen(t, with(mode), Options{})
		var tls bool
		if _, err := s.one(context.Background(), "SELECT ssl FROM pg_stat_ssl WHERE pid=pg_backend_pid()", nil, &tls); err != nil || !tls {
			t.Errorf("%s: TLS %v, %v", mode, tls, err)
		}
		_ = s.Close()
	}
	mustFail(t, with("verify-full"), Options{}, "sslrootcert=FILE")
	mustFail(t, with("verify-full&sslrootcert="+wrong), Options{}, "sslrootcert=FILE")
	mustFail(t, strings.Replace(with("verify-full&sslrootcert="+ca), "127.0.0.1", "localhost", 1), Options{}, "not good for it", "localhost")
}
