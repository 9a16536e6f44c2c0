//go:build js || wasip1

package sqlite

import (
	"database/sql/driver"
	"errors"
)

// There are no files to work on.

func openDriver(string) (driver.Conn, error) {
	return nil, errors.New("there is no SQLite on this system")
}

func code(error) int { return 0 }
