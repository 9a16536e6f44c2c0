package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/store/spread"
)

// severalOf returns the addresses of several databases, which are URLs with white space between them; nil: it is one.
func severalOf(address string) []string {
	list := strings.Fields(address)
	for _, one := range list {
		if !strings.HasPrefix(one, "postgres://") && !strings.HasPrefix(one, "postgresql://") {
			return nil // a list of key=value has spaces, too
		}
	}
	if len(list) < 2 {
		return nil
	}
	return list
}

// openSeveral opens a store that spreads its owners over several databases.
func openSeveral(addresses []string, agent string, p *runtime.Protocol) (store.Store, error) {
	names, err := namesOf(addresses)
	if err != nil {
		return nil, err
	}
	list, err := spread.ListOf(names)
	if err != nil {
		return nil, err
	}
	places := make([]spread.Place, len(addresses))
	for i, address := range addresses {
		places[i] = spread.Place{Name: names[i], Open: func(ctx context.Context) (spread.Database, error) {
			return openPlace(ctx, address, p, Options{Agent: agent, placed: list})
		}}
	}
	s, err := spread.New(places, nil)
	if err != nil {
		return nil, err
	}
	return s, nil
}

// namesOf returns the names of several databases. One that is listed twice is refused: what was moved from it to
// itself would be dropped.
func namesOf(addresses []string) ([]string, error) {
	names := make([]string, len(addresses))
	places := map[string]string{}
	for i, address := range addresses {
		t, err := parseAddress(address)
		if err != nil {
			return nil, err
		}
		names[i] = t.name()
		place := "schema " + t.schema + " of " + t.where
		if other, ok := places[place]; ok {
			return nil, fmt.Errorf("%s and %s are both %s: list each database once", other, names[i], place)
		}
		places[place] = names[i]
	}
	return names, nil
}

func openPlace(ctx context.Context, address string, p *runtime.Protocol, o Options) (spread.Database, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	s, err := Open(ctx, address, p, o)
	if err != nil {
		return spread.Database{}, err
	}
	return spread.Database{Store: s, Ledger: &Whole{s.target, s.pool}}, nil
}

// checkPlaces refuses a database that is not one of those that this store knows.
func (s *Store) checkPlaces(ctx context.Context) error {
	var places string
	if _, err := s.one(ctx, "SELECT places FROM a2a.meta", nil, &places); err != nil {
		return err
	}
	known := strings.Fields(s.options.placed)
	switch {
	case strings.HasPrefix(places, filling):
		return errFilling(places)
	case places == "":
		return nil
	case len(known) == 0:
		return fmt.Errorf("it is one of several databases (%s): A2A_STORE must list them all, with white space between them", places)
	}
	for _, name := range strings.Fields(strings.TrimSuffix(places, "?")) {
		if !slices.Contains(known, name) {
			return fmt.Errorf("it is one of the databases %s, and A2A_STORE lists %s: list them all, under the same names (%s=NAME)",
				places, s.options.placed, paramName)
		}
	}
	return nil
}

// awayError is the error of a server that cannot be reached: it may be there later.
type awayError struct{ text string }

func (e *awayError) Error() string        { return e.text }
func (e *awayError) Is(target error) bool { return target == store.ErrUnavailable }

// isAway reports whether a server could not be reached, or is not ready.
func isAway(err error) bool {
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok {
		return pg.Code == codeStarting || pg.Code == codeNoConnections
	}
	_, connecting := errors.AsType[*pgconn.ConnectError](err)
	return connecting || pgconn.Timeout(err) || errors.Is(err, context.DeadlineExceeded)
}
