package postgrestest

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestEveryTestHasASchemaOfItsOwn(t *testing.T) {
	var addresses []string
	t.Run("two tests", func(t *testing.T) {
		for range 2 {
			address := Server(t)
			conn := Connect(t, address)
			if _, err := conn.Exec(t.Context(), "CREATE SCHEMA "+schemaOf(address)+"; CREATE TABLE one(n int)"); err != nil {
				t.Fatal(err)
			}
			addresses = append(addresses, address)
		}
	})
	for _, address := range addresses {
		var n int
		err := Connect(t, address).QueryRow(t.Context(), "SELECT count(*) FROM pg_namespace WHERE nspname=$1", schemaOf(address)).Scan(&n)
		if err != nil || n != 0 {
			t.Errorf("%d schemas are left, %v", n, err)
		}
	}
}

func schemaOf(address string) string {
	_, name, _ := strings.Cut(address, schema+"=")
	return name
}

func TestAClusterComesBackWithItsData(t *testing.T) {
	c := New(t, Options{})
	if _, err := Connect(t, c.Address()).Exec(t.Context(), "CREATE TABLE kept(n int)"); err != nil {
		t.Fatal(err)
	}
	for name, end := range map[string]func() error{
		"fast": func() error { return c.Stop(Fast) }, "immediate": func() error { return c.Stop(Immediate) }, "kill": c.Kill,
	} {
		if err := end(); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if err := c.Start(); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if _, err := Connect(t, c.Address()).Exec(t.Context(), "SELECT n FROM kept"); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAStandbyFollowsUntilItIsPromoted(t *testing.T) {
	c := New(t, Options{})
	s := c.Standby(t)
	if _, err := Connect(t, c.Address()).Exec(t.Context(), "CREATE TABLE kept(n int)"); err != nil {
		t.Fatal(err)
	}
	standby := Connect(t, s.Address())
	for there := false; !there; {
		if err := standby.QueryRow(t.Context(), "SELECT to_regclass('kept') IS NOT NULL").Scan(&there); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := standby.Exec(t.Context(), "INSERT INTO kept VALUES(1)"); err == nil {
		t.Error("a standby was written")
	}
	if err := c.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := s.Promote(); err != nil {
		t.Fatal(err)
	}
	if _, err := standby.Exec(t.Context(), "INSERT INTO kept VALUES(1)"); err != nil {
		t.Errorf("after the promotion: %v", err)
	}
}

// TestAServerEndsWithTheTestBinary kills a process that has started one.
func TestAServerEndsWithTheTestBinary(t *testing.T) {
	if os.Getenv("A2A_POSTGRES_CHILD") != "" {
		c := New(t, Options{})
		fmt.Printf("pid=%d home=%s\n", c.Pid(), filepath.Dir(c.home))
		select {}
	}
	needBinaries(t)
	cmd := exec.Command(os.Args[0], "-test.run", "^TestAServerEndsWithTheTestBinary$")
	cmd.Env = append(os.Environ(), "A2A_POSTGRES_CHILD=1")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Process.Kill()
	var pid int
	var home string
	for lines := bufio.NewScanner(out); home == "" && lines.Scan(); {
		fmt.Sscanf(lines.Text(), "pid=%d home=%s", &pid, &home)
	}
	if home == "" {
		t.Fatal("the other process started no server")
	}
	cmd.Process.Kill()
	cmd.Wait()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for {
		if _, err := os.Stat(home); os.IsNotExist(err) {
			break
		}
		if ctx.Err() != nil {
			t.Fatalf("%s is still there", home)
		}
		time.Sleep(10 * time.Millisecond)
	}
	if text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/comm"); err == nil && strings.TrimSpace(string(text)) == "postgres" {
		if stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat"); err == nil && !strings.Contains(string(stat), ") Z ") {
			t.Errorf("server %d is still there", pid)
		}
	}
}

func TestAServerWaitsForItsPort(t *testing.T) {
	c := New(t, Options{})
	if err := c.Stop(Immediate); err != nil {
		t.Fatal(err)
	}
	other, err := net.Listen("tcp", c.HostPort())
	if err != nil {
		t.Fatal(err)
	}
	started := make(chan error, 1)
	go func() { started <- c.Start() }()
	for !strings.Contains(c.Log(), "could not bind") {
		if t.Context().Err() != nil {
			t.Fatal("it never tried to bind its port")
		}
		time.Sleep(time.Millisecond)
	}
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-started; err != nil {
		t.Fatal(err)
	}
}
