//go:build unix

package postgrestest

import (
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"sync"
	"syscall"
)

// canStart: servers can be started on this system.
const canStart = true

// owner is the user that runs the servers when the test is root, which PostgreSQL does not run as.
var owner = sync.OnceValue(func() *syscall.Credential {
	if os.Geteuid() != 0 {
		return nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, errU := strconv.ParseUint(u.Uid, 10, 32)
		gid, errG := strconv.ParseUint(u.Gid, 10, 32)
		if errU == nil && errG == nil {
			return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
		}
	}
	return nil
})

// asOwner has a command run as the owner of the data, in a process group of its own: a signal from the terminal ends the test, not
// what it has started.
func asOwner(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Credential: owner()}
	cmd.Dir = "/"
}

// own gives a file to the owner of the data.
func own(path string) error {
	if c := owner(); c != nil {
		return os.Chown(path, int(c.Uid), int(c.Gid))
	}
	return nil
}
