//go:build unix

package server

import (
	"context"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Who ends a process and its group sends two signals at once: the second one does not cut the shutdown short.
func TestTwoSignalsAtOnceAreOne(t *testing.T) {
	if !alone(t) {
		return
	}
	began, release := make(chan struct{}), make(chan struct{})
	s := hosted(t, func(context.Context, *Task) (string, error) {
		close(began)
		<-release
		return "done", nil
	}, Limits{})
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := free.Addr().String()
	_ = free.Close()
	os.Args = []string{"agent", "-addr", address}
	code := make(chan int, 1)
	go func() { code <- Main(s, nil) }()
	listens := func() bool {
		c, err := net.DialTimeout("tcp", address, time.Second)
		if err == nil {
			_ = c.Close()
		}
		return err == nil
	}
	until := func(want bool) {
		for range 1000 {
			if listens() == want {
				return
			}
			time.Sleep(5 * time.Millisecond)
		}
		t.Fatalf("that it listens does not become %v", want)
	}
	until(true)
	answered := make(chan error, 1)
	go func() {
		resp, err := http.Post("http://"+address, "application/json", strings.NewReader(sendStream))
		if err == nil {
			err = resp.Body.Close()
		}
		answered <- err
	}()
	<-began
	known := make(chan os.Signal, 2) // without it a signal that is on its way when Main returns ends the process
	signal.Notify(known, syscall.SIGTERM)
	defer signal.Stop(known)
	for range 2 {
		if err := syscall.Kill(os.Getpid(), syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		<-known
		until(false)
	}
	close(release)
	if err := <-answered; err != nil {
		t.Error(err)
	}
	if got := <-code; got != exitOK {
		t.Errorf("exit code %d", got)
	}
}
