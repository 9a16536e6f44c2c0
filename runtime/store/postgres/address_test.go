package postgres

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// secret is the password of all addresses here: no error may show it, or a piece of it.
const secret = "s3cr3t-w0rd"

// withoutLibpq hides the settings of the person who runs the test.
func withoutLibpq(t *testing.T) {
	t.Helper()
	for _, setting := range os.Environ() {
		if name, _, _ := strings.Cut(setting, "="); strings.HasPrefix(name, "PG") {
			t.Setenv(name, "")
			_ = os.Unsetenv(name)
		}
	}
	t.Setenv("HOME", t.TempDir())
}

func TestAddressesAreThoseOfLibpq(t *testing.T) {
	withoutLibpq(t)
	dir := t.TempDir()
	service, passwords := filepath.Join(dir, "service"), filepath.Join(dir, "passwords")
	write := func(path, text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(service, "[tasks]\nhost=from.service\nport=7777\ndbname=d\nuser=u\n")
	write(passwords, "*:*:*:*:"+secret+"\n")
	for _, c := range []struct {
		name, address, where, user, schema string
		set                                map[string]string
		tls                                bool
	}{
		{"a URL", "postgres://u:" + secret + "@h:5433/d?sslmode=verify-full", "h:5433/d", "u", "a2a", nil, true},
		{"the other scheme", "postgresql://u:" + secret + "@h/d?sslmode=disable", "h:5432/d", "u", "a2a", nil, false},
		{"a list", "host=h port=5433 user=u password='" + secret + "' dbname=d sslmode=require", "h:5433/d", "u", "a2a", nil, true},
		{"a password in the environment", "postgres://u@h/d?sslmode=disable", "h:5432/d", "u", "a2a", map[string]string{"PGPASSWORD": secret}, false},
		{"a file of passwords", "postgres://u@h/d?sslmode=disable", "h:5432/d", "u", "a2a", map[string]string{"PGPASSFILE": passwords}, false},
		{"a service", "service=tasks password=" + secret, "from.service:7777/d", "u", "a2a",
			map[string]string{"PGSERVICEFILE": service, "PGSSLMODE": "disable"}, false},
		{"the environment alone", "postgres://", "e:1/ed", "eu", "a2a",
			map[string]string{"PGHOST": "e", "PGPORT": "1", "PGDATABASE": "ed", "PGUSER": "eu", "PGPASSWORD": secret, "PGSSLMODE": "disable"}, false},
		{"several hosts", "postgres://u:" + secret + "@h1:1,h2:2/d?sslmode=disable", "h1:1,h2:2/d", "u", "a2a", nil, false},
		{"a socket", "host=/run/pg user=u dbname=d password=" + secret, "/run/pg (port 5432)/d", "u", "a2a", nil, false},
		{"a schema", "postgres://u:" + secret + "@h/d?a2a_schema=other_1&sslmode=disable", "h:5432/d", "u", "other_1", nil, false},
		{"what libpq alone needs", "postgres://u:" + secret + "@h/d?keepalives=1&gssencmode=disable&sslmode=disable", "h:5432/d", "u", "a2a", nil, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			for name, value := range c.set {
				t.Setenv(name, value)
			}
			a, err := parseAddress(c.address)
			if err != nil {
				t.Fatal(err)
			}
			config := a.pool.ConnConfig
			if a.where != c.where || config.User != c.user || a.schema != c.schema || config.Password != secret || (config.TLSConfig != nil) != c.tls {
				t.Errorf("it is %s, %s, %s, %q, TLS %v", a.where, config.User, a.schema, config.Password, config.TLSConfig != nil)
			}
			if config.ValidateConnect == nil {
				t.Error("a standby would be taken")
			}
			for name := range config.RuntimeParams {
				if name != "application_name" {
					t.Errorf("the server gets the parameter %s", name)
				}
			}
		})
	}
}

func TestAWrongAddressSaysWhatToDoAndNoPassword(t *testing.T) {
	withoutLibpq(t)
	for _, c := range []struct{ name, address, want string }{
		{"another scheme", "mysql://u:" + secret + "@h/d", "postgres://"},
		{"a slash in the password", "postgres://u:" + secret + "/x@h/d", "%2F"},
		{"a space in the password", "postgres://u:" + secret + " x@h/d", "%2F"},
		{"a percent in the password", "postgres://u:" + secret + "%zz@h/d", "%2F"},
		{"no key", secret, "key=value"},
		{"a quote that does not end", "host=h password='" + secret, "key=value"},
		{"a port that is none", "host=h port=" + secret, "65535"},
		{"a wrong sslmode", "postgres://u:" + secret + "@h/d?sslmode=on", "verify-full"},
		{"a misspelled parameter", "postgres://u:" + secret + "@h/d?sslmod=disable", `"sslmod"`},
		{"a service that is not there", "service=none password=" + secret, "PGSERVICEFILE"},
		{"a certificate that is not there", "postgres://u:" + secret + "@h/d?sslmode=verify-full&sslrootcert=/no/file", "/no/file"},
		{"a schema with a quote", `postgres://u:` + secret + `@h/d?a2a_schema=a"b`, "a-z"},
		{"a schema of the server's", `postgres://u:` + secret + `@h/d?a2a_schema=pg_catalog`, "pg_"},
		{"a lease without a unit", "postgres://u:" + secret + "@h/d?a2a_lease=10", "10s"},
		{"a short lease", "postgres://u:" + secret + "@h/d?a2a_lease=1ms", "1s"},
		{"a parameter of a pool", "postgres://u:" + secret + "@h/d?pool_max_conns=many", "pool_max_conns"},
		{"several databases", "postgres://u:" + secret + "@h/d postgres://u:" + secret + "@h2/d", "an agent has one"},
		{"a zero byte", "postgres://u:" + secret + "@h/d?application_name=%00", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := parseAddress(c.address)
			if err == nil {
				t.Fatal("it was taken")
			}
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v\nwithout %q", err, c.want)
			}
			if strings.Contains(err.Error(), secret[:6]) {
				t.Errorf("the password is in it: %v", err)
			}
		})
	}
}

func TestALeaseMayBeInTheAddress(t *testing.T) {
	withoutLibpq(t)
	a, err := parseAddress("postgres://u@h/d?a2a_lease=3s")
	if err != nil || a.lease != 3*time.Second {
		t.Errorf("%v, %v", a, err)
	}
}
