//go:build !js && !wasip1

package sqlite

import (
	"database/sql/driver"
	"errors"

	"modernc.org/sqlite"
)

func openDriver(name string) (driver.Conn, error) { return new(sqlite.Driver).Open(name) }

// code returns SQLite's result code of an error, 0 when it is none of SQLite's.
func code(err error) int {
	var e *sqlite.Error
	if errors.As(err, &e) {
		return e.Code() & 0xff
	}
	return 0
}
