package program

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/a2agen/a2agen/runtime/server"
)

// loopEnv makes this test's program a loop that starts it as its agent.
const loopEnv = "A2AGEN_TEST_DEV_LOOP"

func TestMain(m *testing.M) {
	switch addr := os.Getenv(server.EnvAddr); {
	case addr != "":
		_ = http.ListenAndServe(addr, http.NotFoundHandler())
	case os.Getenv(loopEnv) != "":
		program, _ := os.Executable()
		p, err := Start{Program: program, Output: io.Discard}.Run(context.Background())
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(p.Addr)
		select {}
	default:
		os.Exit(m.Run())
	}
}

func TestAnAgentEndsWithALoopThatWasKilled(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	loop := exec.Command(program)
	loop.Env = append(os.Environ(), loopEnv+"=1")
	out, err := loop.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := loop.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	addr := strings.TrimSpace(line)
	if _, _, bad := net.SplitHostPort(addr); err != nil || bad != nil {
		t.Fatalf("the loop says %q, %v", line, err)
	}
	_ = loop.Process.Kill()
	_ = loop.Wait() // it was killed
	for {
		conn, err := net.Dial("tcp", addr)
		if err != nil {
			return // the agent has ended
		}
		_ = conn.Close()
		time.Sleep(10 * time.Millisecond)
	}
}
