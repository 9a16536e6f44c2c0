// Package postgrestest gives tests a PostgreSQL server: the one that A2A_POSTGRES names, or one that it starts from the
// binaries of this machine, on a free port of 127.0.0.1 (as user postgres when the test is root). What it starts ends with
// the test binary, however that ends.
package postgrestest

import (
	"context"
	"crypto/rand"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// Variable is the environment variable with the address of a server for tests, a URL or a DSN of a role that may create schemas.
const Variable = "A2A_POSTGRES"

const none = "no PostgreSQL here: install it (apt-get install postgresql), or set " + Variable + "=postgres://… to a server for tests"

// schema is the parameter of an address that names the store's schema.
const schema = "a2a_schema"

// shared is the server of this test binary, whose data nobody needs afterwards.
var shared = sync.OnceValues(func() (*Cluster, error) {
	return create(Options{Settings: map[string]string{"synchronous_commit": "off"}})
})

// Server returns the address of a server, with the name of a schema that is not there yet and is dropped when the test ends. The test
// is skipped where there is no server, or where neither A2A_LONG nor A2A_POSTGRES is set.
func Server(t testing.TB) string {
	t.Helper()
	address := os.Getenv(Variable)
	if address == "" {
		needBinaries(t)
		c, err := shared()
		if err != nil {
			t.Fatal(err)
		}
		address = c.Address()
	}
	name := "test_" + strings.ToLower(rand.Text())
	t.Cleanup(func() {
		if _, err := Connect(t, address).Exec(context.Background(), "DROP SCHEMA IF EXISTS "+name+" CASCADE"); err != nil {
			t.Errorf("dropping the schema of the test: %v", err)
		}
	})
	return WithSchema(address, name)
}

// WithSchema returns an address that names a schema for the store.
func WithSchema(address, name string) string {
	if !strings.Contains(address, "://") {
		return address + " " + schema + "=" + name
	}
	if strings.Contains(address, "?") {
		return address + "&" + schema + "=" + url.QueryEscape(name)
	}
	return address + "?" + schema + "=" + url.QueryEscape(name)
}

// Connect returns a connection of the test's own, with the schema of the address as its search path.
func Connect(t testing.TB, address string) *pgx.Conn {
	t.Helper()
	config, err := pgx.ParseConfig(address)
	if err != nil {
		t.Fatal(err)
	}
	if name, ok := config.RuntimeParams[schema]; ok {
		delete(config.RuntimeParams, schema)
		config.RuntimeParams["search_path"] = pgx.Identifier{name}.Sanitize()
	}
	config.DefaultQueryExecMode = pgx.QueryExecModeExec // as works through a pooler, too
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(context.Background()) })
	return conn
}
