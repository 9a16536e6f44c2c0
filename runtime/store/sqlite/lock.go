package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/a2agen/a2agen/internal/filelock"
)

// Three guards keep a second process from writing, since each of them alone can be evaded.
//
//   - A lock on a byte of the database file itself, which holds under all names of the file.
//   - A lock on a file beside it, which also holds when the database was replaced by a copy, and for programs made with
//     an older a2agen, which take no other.
//   - The row of the last instance. An instance that finds the row of another when it is about to write stops for good:
//     that also holds where locks do not, as on some network file systems.

// lockSuffix names the file beside the store's whose lock a process holds while it works on the store. It is a lock of the operating
// system, on a second, empty database: a killed process holds none. The file is never removed: a process that had just opened
// it could lock the removed file while another one locks a new one.
const lockSuffix = "-lock"

// InUse reports that another process works on the file.
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

// lock is what an instance holds as long as it works on a file.
type lock struct {
	beside *conn
	file   *os.File // nil: there are no locks of that kind here
}

// release releases the locks. The file beside stays.
func (l *lock) release() {
	if l.beside != nil {
		_ = l.beside.close()
	}
	if l.file != nil {
		_ = l.file.Close()
	}
}

// acquire takes the locks of a file, whose path has no symbolic links, and makes the file if it is not there.
func acquire(path string) (l lock, err error) {
	if isFolder(path) {
		return l, fs.ErrInvalid // which gets no lock beside it
	}
	l.beside, err = connect(path+lockSuffix, "rwc", "busy_timeout(0)", "journal_mode(MEMORY)")
	if err == nil {
		err = l.beside.script("BEGIN EXCLUSIVE")
	}
	if err == nil {
		l.file, err = lockFile(path)
	}
	if err == nil {
		return l, nil
	}
	l.release()
	if code(err) == codeBusy || err == filelock.ErrHeld {
		return lock{}, holder(path)
	}
	return lock{}, err
}

// lockFile locks the database file. It fails with [filelock.ErrHeld], or because the file has several names: what SQLite keeps
// beside the file has one of them, so that whoever opens it by the other would not see what was written last, and break it.
func lockFile(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644) //nolint:gosec // as SQLite makes it
	if err != nil {
		return nil, nil // SQLite cannot write it either, and says why
	}
	err = filelock.TryByte(f)
	if n := filelock.Links(f); err == nil && n > 1 {
		err = fmt.Errorf("it has %d names (hard links), and what SQLite keeps beside it belongs to one of them: remove the others, or "+
			"open a copy", n)
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

// holder is the error about the process that holds the lock, with its id if the file has it.
func holder(path string) error {
	e := &InUse{Path: path}
	if _, err := os.Stat(path + "-wal"); err != nil {
		return e // it is open by another name, where the last rows are
	}
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
