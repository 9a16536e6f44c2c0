package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// lockSuffix names the file beside the store's whose lock says that somebody works on it. It is a lock of the operating
// system's, by way of a second, empty database: a process that was killed holds none. The file stays when nobody holds
// it: one that is removed could still be locked by somebody who had just opened it, beside another who makes it anew.
const lockSuffix = "-lock"

// InUse says that another process works on the file.
type InUse struct {
	Path  string
	PID   int64
	Host  string
	Since time.Time
}

func (e *InUse) Error() string {
	if e.PID == 0 {
		return e.Path + " is in use by another process"
	}
	return fmt.Sprintf("%s is in use by process %d on %s, since %s", e.Path, e.PID, e.Host,
		e.Since.Local().Format("2006-01-02 15:04:05"))
}

// acquire takes the lock of a file, until the connection is closed.
func acquire(path string) (*conn, error) {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real // all names of a file have one lock
	}
	if isFolder(path) {
		return nil, fs.ErrInvalid // which gets no lock beside it
	}
	c, err := connect(path+lockSuffix, "rwc", "busy_timeout(0)", "journal_mode(MEMORY)")
	if err == nil {
		if err = c.script("BEGIN EXCLUSIVE"); err == nil {
			return c, nil
		}
		_ = c.close()
	}
	if code(err) == codeBusy {
		return nil, holder(path)
	}
	return nil, err
}

// holder is the error about the process that holds the lock, as far as the file tells who that is.
func holder(path string) error {
	e := &InUse{Path: path}
	c, err := connect(path, "ro", "busy_timeout(1000)")
	if err != nil {
		return e
	}
	defer func() { _ = c.close() }()
	_ = c.query("SELECT pid, host, began FROM instance ORDER BY n DESC LIMIT 1", func(v []value) error {
		e.PID, e.Host, e.Since = num(v[0]), text(v[1]), time.Unix(0, num(v[2]))
		return nil
	})
	return e
}

// freeDue gives up the deliveries that others had claimed: nobody is there to settle them.
const freeDue = "UPDATE push INDEXED BY push_due SET holder=0, due=? WHERE due IS NOT NULL AND holder<>0"

// register gives the instance its number: one that no other ever had, so that what the others ran is nobody's.
func register(c *conn, now time.Time) (me int64, err error) {
	host, err := os.Hostname()
	if err != nil {
		host = "this machine"
	}
	// AUTOINCREMENT remembers the numbers of those that are forgotten.
	err = c.query("INSERT INTO instance(pid, host, began) VALUES(?,?,?) RETURNING n", func(v []value) error {
		me = num(v[0])
		return nil
	}, os.Getpid(), host, now.UnixNano())
	if err == nil && me == 0 {
		err = errors.New("the instance got no number")
	}
	if err == nil {
		_, err = c.exec("DELETE FROM instance WHERE n<?", me)
	}
	if err == nil {
		_, err = c.exec(freeDue, now.UnixNano())
	}
	return me, err
}
