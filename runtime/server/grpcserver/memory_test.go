//go:build linux && !race

package grpcserver_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2"

	"github.com/a2agen/a2agen/internal/a2awires"
	"github.com/a2agen/a2agen/runtime/server"
	"github.com/a2agen/a2agen/runtime/server/grpcserver"
	"github.com/a2agen/a2agen/runtime/store/sqlite"
)

// envAgent has the test binary be an agent, with its tasks in the file that it names.
const envAgent = "GRPCSERVER_TEST_AGENT"

func init() {
	if file := os.Getenv(envAgent); file != "" {
		os.Exit(parrot(file))
	}
}

// parrot is an agent as init makes it, with one skill that says again what it is told.
func parrot(file string) int {
	protocol := a2awires.Protocol()
	tasks, err := sqlite.OpenStore(file, "parrot", protocol)
	if err != nil {
		return server.Main(nil, err)
	}
	card, err := protocol.DecodeCard([]byte(testCard))
	if err != nil {
		return server.Main(nil, err)
	}
	says := run("say", func(_ context.Context, t *server.Task) (string, error) { return "You said: " + t.Text(), nil })
	os.Args = []string{"parrot", "-addr", "127.0.0.1:0"}
	return server.Main(server.New(server.Config{Protocol: protocol, Card: card, Skills: []server.Skill{says}},
		grpcserver.Serve(), server.WithStore(tasks), server.WithoutCallLog()))
}

// TestLargeMessagesAtOnceStayWithinTheirMemory holds that [server.Limits.Bodies] is of memory, and of all that a message
// takes until it is answered: decoded, in the handler's answer, encoded for the store and for the client.
func TestLargeMessagesAtOnceStayWithinTheirMemory(t *testing.T) {
	const calls, size = 50, 16<<20 - 1<<10
	text := strings.Repeat("x", size)
	method, in := sending(t, text)
	bomb := compressed(zip(in))
	body := `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"` + text + `"}]}}}`
	for _, c := range []struct {
		name string
		most int // MB that the process may take
		send func(a *agent) (served, refused int)
	}{
		{"gzip over gRPC", 400, func(a *agent) (served, refused int) {
			p := a.connect(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 1 << 30})
			p.must(p.WriteWindowUpdate(0, 1<<30))
			for range calls {
				p.send(method, bomb, true)
			}
			for range calls {
				switch got := p.statusOf(0, time.Minute); got {
				case wireOK:
					served++
				case wireExhausted:
					refused++
				default:
					t.Errorf("a call ends with %q", got)
				}
			}
			return served, refused
		}},
		{"JSON-RPC", 700, func(a *agent) (served, refused int) {
			answers := make(chan int, calls)
			for range calls {
				go func() {
					r, _ := http.NewRequest(http.MethodPost, "http://"+a.addr+"/rpc", strings.NewReader(body))
					r.Header.Set("Content-Type", "application/json")
					resp, err := http.DefaultClient.Do(r)
					if err != nil { // the connection was closed while the body was being sent
						answers <- http.StatusServiceUnavailable
						return
					}
					_, _ = io.Copy(io.Discard, resp.Body)
					_ = resp.Body.Close()
					answers <- resp.StatusCode
				}()
			}
			for range calls {
				switch got := <-answers; got {
				case http.StatusOK:
					served++
				case http.StatusServiceUnavailable:
					refused++
				default:
					t.Errorf("a request ends with %d", got)
				}
			}
			http.DefaultClient.CloseIdleConnections()
			return served, refused
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			child := exec.Command(os.Args[0])
			child.Env = append(os.Environ(), envAgent+"="+filepath.Join(t.TempDir(), "parrot.db"))
			log, err := child.StderrPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := child.Start(); err != nil {
				t.Fatal(err)
			}
			defer func() { _ = child.Process.Kill(); _ = child.Wait() }()
			served, refused := c.send(&agent{t: t, addr: listening(t, log)})
			peak := peakOf(t, child.Process.Pid)
			t.Logf("%d MB, %d served, %d refused", peak, served, refused)
			if peak > c.most || served == 0 || served+refused != calls {
				t.Errorf("%d MB at the peak, %d calls are served, %d refused", peak, served, refused)
			}
		})
	}
}

// listening returns the address of an agent by what it logs, which is read to its end.
func listening(t *testing.T, log io.Reader) string {
	t.Helper()
	lines := bufio.NewScanner(log)
	for lines.Scan() {
		if m := regexp.MustCompile(`msg="agent is listening" url=http://(\S+?)/? `).FindStringSubmatch(lines.Text()); m != nil {
			go func() { _, _ = io.Copy(io.Discard, log) }()
			return m[1]
		}
	}
	t.Fatal("the agent does not listen")
	return ""
}

// peakOf is the most memory that a process has had, in MB.
func peakOf(t *testing.T, pid int) int {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	kB, err := strconv.Atoi(string(regexp.MustCompile(`VmHWM:\s+(\d+) kB`).FindSubmatch(status)[1]))
	if err != nil {
		t.Fatal(err)
	}
	return kB >> 10
}
