package postgres

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// target is what an address says.
type target struct {
	pool   *pgxpool.Config
	schema string
	steps  []Step                 // that this program knows
	lease  time.Duration          // 0: it does not say
	where  string                 // host:port/database, for messages: an address may have a password
	pooled bool                   // a pooler is in front of the server
	server atomic.Int32           // changes with the server, which may have been restored, or promoted without the last commits
	began  atomic.Pointer[string] // when the server began
}

// Parameters of an address that are this package's own.
const (
	paramSchema = "a2a_schema"
	paramLease  = "a2a_lease"
)

const (
	defaultSchema  = "a2a"
	connectTimeout = 10 * time.Second
	pingTimeout    = time.Second // of a connection that was idle: a firewall may have forgotten it
	leastLease     = time.Second
	mostLease      = time.Hour
)

// example is what an address looks like, for messages.
const example = "postgres://USER@HOST:5432/DATABASE?sslmode=verify-full, with the password in PGPASSWORD or in a file that PGPASSFILE names"

// escapes is what a password in a URL has to be like, for messages.
const escapes = "in the password of a URL, each of : / ? # [ ] @ and % is written as %3A, %2F and so on"

// schemas are the names that a schema may have: they need no quotes.
var schemas = regexp.MustCompile(`^[a-z_][a-z0-9_]{0,62}$`)

// sent are parameters that go to the server as they are.
var sent = []string{"application_name", "options", "timezone", "client_encoding"}

// ignored are parameters of libpq that change nothing here.
var ignored = []string{
	"fallback_application_name", "gssencmode", "keepalives", "keepalives_count", "keepalives_idle", "keepalives_interval", "sslcompression",
	"tcp_user_timeout",
}

// libpq are the variables of which one says enough for a connection. errNowhere is the error where there is none, and
// no address.
var (
	libpq      = []string{"PGHOST", "PGHOSTADDR", "PGPORT", "PGDATABASE", "PGUSER", "PGSERVICE"}
	errNowhere = errors.New("it is not said where PostgreSQL is: set A2A_STORE=" + example + "; or PGHOST, PGUSER and PGDATABASE, or PGSERVICE")
)

// errSeveral is the error of a list of addresses.
var errSeveral = errors.New("these are the addresses of several databases, and an agent has one: give one address. A server and its standbys are one, " +
	"postgres://HOST1,HOST2/DATABASE; what to do where one server is not enough is in docs/operating.md, \"Beyond one PostgreSQL\"")

// parseAddress reads an address as libpq does: a URL or a list of key=value, completed by PGHOST, PGSERVICE,
// PGPASSFILE and so on. Its errors name no part of the address that might be a password.
func parseAddress(address string) (*target, error) {
	if address == "" && !slices.ContainsFunc(libpq, func(name string) bool { return os.Getenv(name) != "" }) {
		return nil, errNowhere
	}
	if scheme, _, ok := strings.Cut(address, "://"); ok && scheme != "postgres" && scheme != "postgresql" {
		return nil, fmt.Errorf("the address of the PostgreSQL server does not begin with postgres://; write %s", example)
	}
	if list := strings.Fields(address); len(list) > 1 && strings.Contains(list[0], "://") && strings.Contains(list[1], "://") {
		return nil, errSeveral
	}
	config, err := pgxpool.ParseConfig(address)
	if err != nil {
		return nil, addressError(err)
	}
	t := &target{pool: config, schema: defaultSchema, steps: steps}
	if err := t.takeParameters(); err != nil {
		return nil, err
	}
	c := &config.ConnConfig.Config
	if c.ConnectTimeout <= 0 || c.ConnectTimeout > time.Minute {
		c.ConnectTimeout = connectTimeout
	}
	config.PingTimeout = cmp.Or(config.PingTimeout, pingTimeout)
	c.ValidateConnect = t.validated(c.ValidateConnect)
	if c.RuntimeParams["application_name"] == "" {
		c.RuntimeParams["application_name"] = "a2agen"
	}
	t.where = whereOf(c)
	return t, nil
}

// takeParameters takes this package's own parameters off those for the server, and refuses what libpq does not know
// either.
func (t *target) takeParameters() error {
	params := t.pool.ConnConfig.RuntimeParams
	for name, value := range params {
		switch {
		case name == paramSchema:
			if !schemas.MatchString(value) || strings.HasPrefix(value, "pg_") {
				return fmt.Errorf("%s=%s: the name of a schema begins with a letter, has a-z, 0-9 and _ alone, and not pg_ in front", name, value)
			}
			t.schema = value
		case name == paramLease:
			d, err := time.ParseDuration(value)
			if err != nil || d < leastLease || d > mostLease {
				return fmt.Errorf("%s=%s: a lease is a time from %s to %s, such as 10s", name, value, leastLease, mostLease)
			}
			t.lease = d
		case slices.Contains(ignored, name):
		case slices.Contains(sent, strings.ToLower(name)) || strings.Contains(name, "."):
			continue
		default:
			return fmt.Errorf("the address of the PostgreSQL server has a parameter %q, which is none: those of libpq are known, %s and %s",
				name, paramSchema, paramLease)
		}
		delete(params, name)
	}
	return nil
}

// whereOf names the server, or all of them that are tried.
func whereOf(c *pgconn.Config) string {
	hosts := []string{hostOf(c.Host, c.Port)}
	for _, f := range c.Fallbacks { // the same host without TLS is one, too
		if host := hostOf(f.Host, f.Port); !slices.Contains(hosts, host) {
			hosts = append(hosts, host)
		}
	}
	database := c.Database
	if database == "" {
		database = c.User
	}
	return strings.Join(hosts, ",") + "/" + database
}

func hostOf(host string, port uint16) string {
	if strings.HasPrefix(host, "/") {
		return fmt.Sprintf("%s (port %d)", host, port)
	}
	return net.JoinHostPort(host, strconv.Itoa(int(port)))
}

// addressError is the error of an address that could not be read. What pgx says may have a piece of a password in it,
// so that of its words only those are shown that are about files and single parameters.
func addressError(err error) error {
	say := func(what string) error { return errors.New("the address of the PostgreSQL server: " + what) }
	if path, ok := errors.AsType[*os.PathError](err); ok {
		return say(fmt.Sprintf("%s: %v", path.Path, path.Err))
	}
	text := err.Error()
	_, text, _ = strings.Cut(text, "`: ")
	for _, one := range []struct{ has, say string }{
		{"failed to parse as URL", "it is not a URL that can be read: " + escapes + "; write " + example},
		{"failed to parse as keyword/value", "it is no list of key=value, nor a URL (a file is for \"store: sqlite\" in a2agen.yaml): write " + example},
		{"failed to read service file", "the file of its service could not be read: PGSERVICEFILE names it, or it is ~/.pg_service.conf"},
		{"unable to find service", "its service is not in the file that PGSERVICEFILE names, or ~/.pg_service.conf"},
		{"failed to read service", "its service could not be read from the file that PGSERVICEFILE names, or ~/.pg_service.conf"},
		{"sslmode is invalid", "sslmode is one of disable, allow, prefer, require, verify-ca and verify-full"},
		{"both \"sslcert\" and \"sslkey\"", "sslcert and sslkey go together"},
		{"unable to add CA", "the file of sslrootcert has no certificate in PEM"},
		{"sslkey", "the file of sslkey has no key in PEM"},
		{"unable to load cert", "the files of sslcert and sslkey do not fit together"},
		{"decrypt key", "the file of sslkey could not be decrypted with sslpassword"},
		{"find sslpassword", "the file of sslkey is encrypted: give sslpassword"},
		{"port", "its port is a number from 1 to 65535; " + escapes},
		{"connect_timeout", "connect_timeout is a number of seconds"},
		{"target_session_attrs", "target_session_attrs is read-write or primary"},
		{"pool_", "a parameter that begins with pool_ has no value that fits it, such as pool_max_conns=10"},
	} {
		if strings.Contains(text, one.has) {
			return say(one.say)
		}
	}
	return say("it could not be read: write " + example)
}
