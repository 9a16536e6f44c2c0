//go:build unix

package server

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/a2agen/a2agen/a2a"
)

// envLogging has the test binary be an agent with the logger of generated programs.
const envLogging = "SERVER_TEST_LOGGING"

func init() {
	if os.Getenv(envLogging) == "" {
		return
	}
	protocol := a2a.Protocol()
	card, err := protocol.DecodeCard([]byte(hostCard))
	if err != nil {
		panic(err)
	}
	skill := Skill{ID: "x", Name: "x", Run: func(context.Context, *Task, any) ([]byte, error) { return []byte("done"), nil }}
	os.Args = []string{"agent", "-addr", "127.0.0.1:0"}
	os.Exit(Main(New(Config{Protocol: protocol, Card: card, Skills: []Skill{skill}}, WithLogger(Logger()))))
}

// Every request that was answered has its line, also when the agent is told to end in the middle of it all.
func TestNoLineIsLostAtSIGTERM(t *testing.T) {
	for _, words := range []string{"text", "json"} {
		t.Run(words, func(t *testing.T) {
			agent := exec.Command(os.Args[0])
			agent.Env = append(os.Environ(), envLogging+"=1", EnvLog+"="+words)
			log, err := agent.StderrPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := agent.Start(); err != nil {
				t.Fatal(err)
			}
			defer func() { _ = agent.Process.Kill() }()
			url, written := make(chan string, 1), make(chan int, 1)
			go func() {
				n, at := 0, regexp.MustCompile(`url=(http://[^ ]+)`)
				for lines := bufio.NewScanner(log); lines.Scan(); {
					if m := at.FindStringSubmatch(lines.Text()); m != nil {
						url <- m[1]
					}
					if strings.Contains(lines.Text(), "msg=request ") || strings.Contains(lines.Text(), `"msg":"request"`) {
						n++
					}
				}
				written <- n
			}()
			to := <-url
			var answered atomic.Int64
			enough := make(chan struct{})
			var all sync.WaitGroup
			for range 8 {
				all.Go(func() {
					web := &http.Client{Transport: &http.Transport{}, Timeout: time.Minute}
					defer web.CloseIdleConnections()
					for {
						resp, err := web.Post(to, "application/json", strings.NewReader(strings.Replace(sendStream, "Streaming", "", 1)))
						if err != nil {
							return // it does not listen any more
						}
						body, err := io.ReadAll(resp.Body)
						_ = resp.Body.Close()
						if err == nil && strings.Contains(string(body), "TASK_STATE_COMPLETED") && answered.Add(1) == 500 {
							close(enough)
						}
					}
				})
			}
			<-enough
			if err := agent.Process.Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
			all.Wait()
			lines := <-written
			if err := agent.Wait(); err != nil {
				t.Error(err)
			}
			if n := int(answered.Load()); lines < n {
				t.Errorf("%d lines of %d requests that were answered", lines, n)
			}
		})
	}
}
