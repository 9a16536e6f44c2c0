package filelock

import (
	"bufio"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
)

func open(t *testing.T, name string) *os.File {
	t.Helper()
	f, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func TestALockIsOfOneOpening(t *testing.T) {
	for name, try := range map[string]func(*os.File) error{"Try": Try, "TryByte": TryByte} {
		if name == "TryByte" && runtime.GOOS != "linux" && runtime.GOOS != "windows" {
			continue // the lock is the process's
		}
		file := filepath.Join(t.TempDir(), "file")
		first, second := open(t, file), open(t, file)
		if err := try(first); err != nil {
			t.Fatal(err)
		}
		if err := try(second); err != ErrHeld {
			t.Errorf("%s: a second opening gets %v", name, err)
		}
		if text, err := os.ReadFile(file); err != nil || len(text) > 0 {
			t.Errorf("%s: a file that is locked cannot be read: %v", name, err)
		}
		first.Close()
		if err := try(second); err != nil {
			t.Errorf("%s: after the first was closed: %v", name, err)
		}
	}
}

func TestWaitEndsWithItsContext(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := Try(open(t, file)); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	left := errors.New("left")
	cancel(left)
	if err := Wait(ctx, open(t, file)); err != left {
		t.Errorf("got %v", err)
	}
}

const envFile = "FILELOCK_TEST_FILE"

// TestMain is also the process that holds locks in TestTheLocksOfAKilledProcessAreFree.
func TestMain(m *testing.M) {
	if file := os.Getenv(envFile); file != "" {
		f, err := os.OpenFile(file, os.O_RDWR, 0)
		if err = errors.Join(err, Try(f), TryByte(f)); err != nil {
			panic(err)
		}
		_, _ = os.Stdout.WriteString("locked\n")
		_, _ = os.Stdin.Read(make([]byte, 1)) // until it is killed
		os.Exit(1)
	}
	os.Exit(m.Run())
}

func TestTheLocksOfAKilledProcessAreFree(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there both locks are one")
	}
	file := filepath.Join(t.TempDir(), "file")
	f := open(t, file)
	holder := exec.Command(os.Args[0])
	holder.Env = append(os.Environ(), envFile+"="+file)
	stdin, _ := holder.StdinPipe()
	defer stdin.Close()
	out, err := holder.StdoutPipe()
	if err == nil {
		err = holder.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	if line, _ := bufio.NewReader(out).ReadString('\n'); line != "locked\n" {
		t.Fatalf("the other process says %q", line)
	}
	if one, other := Try(f), TryByte(f); one != ErrHeld || other != ErrHeld {
		t.Errorf("while another process holds them: %v, %v", one, other)
	}
	_, _ = holder.Process.Kill(), holder.Wait()
	if err := errors.Join(Wait(t.Context(), f), TryByte(f)); err != nil {
		t.Errorf("after that was killed: %v", err)
	}
}
