package postgres

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/a2agen/a2agen/runtime/store"
)

// SQLSTATEs that are told apart.
const (
	codeStale         = "A2A01" // of fence: the task was changed meanwhile
	codeDiskFull      = "53100"
	codeNoConnections = "53300"
	codeNotUTF8       = "22021"
	codeUntranslated  = "22P05"
	codePassword      = "28P01"
	codeMayNotLogIn   = "28000"
	codeNoDatabase    = "3D000"
	codeStarting      = "57P03"
	codeReadOnly      = "25006"
	codeNoRight       = "42501"
	codeNoParameter   = "42704"
	codeProtocol      = "08P01"
	codeNoTable       = "42P01"
	codeNoColumn      = "42703"
)

// readFailed makes an error of the store's of one of PostgreSQL's, or of the way there, for statements that change
// nothing.
func readFailed(err error) error {
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok && (pg.Code == codeNotUTF8 || pg.Code == codeUntranslated) {
		return fmt.Errorf("%w: %w", store.ErrNotFound, err)
	}
	return writeFailed(err, false)
}

// writeFailed makes an error of the store's of one of PostgreSQL's, or of the way there, for a transaction. sent: its
// end may have reached the server.
func writeFailed(err error, sent bool) error {
	if err == nil || !store.Unsure(err) || errors.Is(err, store.ErrUnavailable) || errors.Is(err, store.ErrUnknown) {
		return err
	}
	pg, ok := errors.AsType[*pgconn.PgError](err)
	switch {
	case !ok && sent && !pgconn.SafeToRetry(err):
		return fmt.Errorf("%w: %w", store.ErrUnknown, err)
	case !ok:
		return fmt.Errorf("%w: %w", store.ErrUnavailable, err)
	case pg.Code == codeDiskFull:
		return fmt.Errorf("%w: %w", store.ErrNoSpace, err)
	case pg.Code == codeNotUTF8 || pg.Code == codeUntranslated:
		return fmt.Errorf("%w: %w", store.ErrUnfit, err)
	case strings.HasPrefix(pg.Code, "54"):
		return fmt.Errorf("%w: %w", store.ErrTooLarge, err)
	case sent && (pg.SeverityUnlocalized == "FATAL" || pg.SeverityUnlocalized == "PANIC" || strings.HasPrefix(pg.Code, "08")):
		return fmt.Errorf("%w: %w", store.ErrUnknown, err) // the connection ends, maybe after the commit, while it waits for a standby
	}
	return fmt.Errorf("%w: %w", store.ErrUnavailable, err) // the transaction was undone
}

// openFailed says why a store could not be opened, and what to do.
func (t *target) openFailed(err error) error {
	why, remedy := t.reason(err)
	text := fmt.Sprintf("PostgreSQL at %s: %s", t.where, why)
	if remedy != "" {
		text += "; " + remedy
	}
	return errors.New(text)
}

// reason is why a store could not be opened, and what to do about it; "" if the first says it.
func (t *target) reason(err error) (why, remedy string) {
	user := t.pool.ConnConfig.User
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok {
		return pg.Message, t.remedy(pg, user)
	}
	_, connecting := errors.AsType[*pgconn.ConnectError](err)
	lookup, isLookup := errors.AsType[*net.DNSError](err)
	_, unknown := errors.AsType[x509.UnknownAuthorityError](err)
	_, isHost := errors.AsType[x509.HostnameError](err)
	_, isBad := errors.AsType[x509.CertificateInvalidError](err)
	operation, isNet := errors.AsType[*net.OpError](err)
	switch {
	case errors.Is(err, pgconn.ErrReadOnlyConnection):
		return "it is a standby, or read-only, and takes no writes",
			"give the address of the primary, or all of them: postgres://HOST1,HOST2/DATABASE goes to the one that can be written"
	case isLookup:
		return "there is no host " + lookup.Name, "check the address"
	case unknown:
		return "its certificate is signed by an authority that is not known here", "name the authority's certificate with sslrootcert=FILE"
	case isHost || isBad:
		return "its certificate is not good for it: " + lastOf(err), "connect by the name that the certificate has, or have it renewed"
	case strings.Contains(lastOf(err), refusedTLS):
		return "it has no TLS", "set ssl=on in its postgresql.conf, or sslmode=disable in the address where the network is trusted"
	case pgconn.Timeout(err) || errors.Is(err, context.DeadlineExceeded):
		return "it did not answer in time", "is it running, and may it be reached through the firewall?"
	case isNet:
		return operation.Op + ": " + operation.Err.Error(), "is it running, does it listen there (listen_addresses), and may it be reached through the firewall?"
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		return "the connection was closed at once", "is that PostgreSQL, or does a proxy in front of it not reach it?"
	case connecting:
		return lastOf(err), "check the address: is that PostgreSQL?"
	}
	return err.Error(), ""
}

// remedy is what to do about an error of the server's when a store is opened.
func (t *target) remedy(pg *pgconn.PgError, user string) string {
	switch pg.Code {
	case codePassword, codeMayNotLogIn:
		return fmt.Sprintf("check the password of role %s (PGPASSWORD, the file of PGPASSFILE, or the address), and the server's pg_hba.conf", user)
	case codeNoDatabase:
		return "make it (createdb), or name another in the address"
	case codeNoConnections:
		return "raise max_connections (or the CONNECTION LIMIT of the role or database), lower pool_max_conns in the address, or put pgbouncer in front"
	case codeStarting:
		return "try again when it is up"
	case codeReadOnly:
		return "give the address of a server that can be written: the primary, without default_transaction_read_only"
	case codeNoRight:
		return fmt.Sprintf(`the schema is made and brought up to date by "a2agen tasks migrate" with a role that may CREATE in the database; role %[2]s then needs
  GRANT USAGE ON SCHEMA %[1]s TO %[2]s;
  GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA %[1]s TO %[2]s;
  GRANT USAGE ON ALL SEQUENCES IN SCHEMA %[1]s TO %[2]s;
  GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA %[1]s TO %[2]s;`, t.schema, user)
	case codeNoTable, codeNoColumn:
		return fmt.Sprintf("schema %s is another program's, or damaged: name a schema for this agent with %s=NAME in the address", t.schema, paramSchema)
	case codeNoParameter, codeProtocol:
		return "check the parameters of the address, and of the pooler if there is one"
	}
	if pg.Hint != "" {
		return pg.Hint
	}
	return "SQLSTATE " + pg.Code
}

// refusedTLS is what pgx says of a server without TLS.
const refusedTLS = "server refused TLS connection"

// lastOf is the innermost of an error's causes: those around it repeat where it was met. Of several attempts it is
// that of the first, but not that a server has no TLS where it was also tried without.
func lastOf(err error) string {
	for {
		next := errors.Unwrap(err)
		if several, ok := err.(interface{ Unwrap() []error }); ok {
			list := several.Unwrap()
			next = list[max(0, slices.IndexFunc(list, func(one error) bool { return !strings.Contains(one.Error(), refusedTLS) }))]
		}
		if next == nil {
			return err.Error()
		}
		err = next
	}
}
