package ringtest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"testing"
)

// envDisk is set for the tests that run in a mount namespace of their own, in which they have a disk.
const envDisk = "RING_DISK"

// diskSize is far more than the servers need: it is memory that is taken when it is used.
const diskSize = 6 << 30

// runOnDisk runs the tests with a small file system for temporary files, which can be full. That needs root. The file
// system ends with the tests, however they end: it is in a mount namespace of their own.
func runOnDisk(m *testing.M) int {
	switch {
	case os.Geteuid() != 0:
		return m.Run()
	case os.Getenv(envDisk) == "":
		if code, err := runInNamespace(); err == nil {
			return code
		}
		return m.Run()
	}
	dir, err := os.MkdirTemp("", "ringtest-")
	if err == nil {
		err = errors.Join(os.Chmod(dir, 0o755), syscall.Mount("ringtest", dir, "tmpfs", 0, fmt.Sprint("mode=0755,size=", int64(diskSize))))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "no disk that can be full:", err)
		return m.Run()
	}
	_ = os.Setenv("TMPDIR", dir)
	theDisk = &disk{dir}
	defer func() {
		_ = syscall.Unmount(dir, syscall.MNT_DETACH)
		_ = os.Remove(dir)
	}()
	return m.Run()
}

// runInNamespace runs this program again. It fails if that cannot be started.
func runInNamespace() (code int, err error) {
	self, err := os.Executable()
	if err != nil {
		return 0, err
	}
	cmd := exec.Command(self, os.Args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.Env = os.Stdin, os.Stdout, os.Stderr, append(os.Environ(), envDisk+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS, Pdeathsig: syscall.SIGKILL}
	runtime.LockOSThread() // with which it would end
	defer runtime.UnlockOSThread()
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	_ = cmd.Wait() // the code says it
	return cmd.ProcessState.ExitCode(), nil
}

// disk is the file system of temporary files.
type disk struct{ dir string }

// theDisk is nil where there is none.
var theDisk *disk

// fill leaves no room.
func (d *disk) fill() error {
	var s syscall.Statfs_t
	if err := syscall.Statfs(d.dir, &s); err != nil {
		return err
	}
	used := (s.Blocks - s.Bfree) * uint64(s.Bsize)
	return d.resize(used + 256<<10) // what is written meanwhile
}

// free makes room again.
func (d *disk) free() error { return d.resize(diskSize) }

func (d *disk) resize(size uint64) error {
	if err := syscall.Mount("ringtest", d.dir, "tmpfs", syscall.MS_REMOUNT, fmt.Sprint("size=", size)); err != nil {
		return fmt.Errorf("resizing the disk to %d: %w", size, err)
	}
	return nil
}
