package fleet

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// nginx starts nginx with the configuration of the example, before the given replicas, and returns its URL.
func nginx(t *testing.T, replicas [3]string) string {
	t.Helper()
	program, err := exec.LookPath("nginx")
	if err != nil {
		t.Skip("there is no nginx: install it (apt-get install nginx-light) to try its configuration")
	}
	text, err := os.ReadFile(example + "/nginx.conf")
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	for _, dir := range []string{folder, filepath.Dir(folder)} { // if this is root, nginx's workers are another user's
		if err := os.Chmod(dir, 0o755); err != nil { //nolint:gosec // there is nothing in it
			t.Fatal(err)
		}
	}
	conf := string(text)
	for i, address := range replicas {
		conf = strings.ReplaceAll(conf, fmt.Sprintf("replica%d:8080", i+1), address)
	}
	conf = strings.ReplaceAll(conf, "/tmp/", folder+"/")
	address := freeAddress(t)
	conf = regexp.MustCompile(`listen \d+;`).ReplaceAllString(conf, "listen "+address+";")
	name := filepath.Join(folder, "nginx.conf")
	if err := os.WriteFile(name, []byte(conf), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "-c", name, "-p", folder, "-g", "daemon off;")
	var out strings.Builder
	cmd.Stderr = &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		<-ended
	})
	for {
		if c, err := net.Dial("tcp", address); err == nil {
			_ = c.Close()
			return "http://" + address
		}
		select {
		case err := <-ended:
			ended <- err
			t.Fatalf("nginx ended: %v\n%s", err, out.String())
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// freeAddress is one on which nobody listens.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}

// TestEventsPassTheProxyAsTheyCome: a replica that sends no event before its client has got the one before is not waited for. It does
// not say X-Accel-Buffering, and its answer ends with the connection: those in chunks nginx passes on in any case.
func TestEventsPassTheProxyAsTheyCome(t *testing.T) {
	got, stop := make(chan string), make(chan struct{})
	replica := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		c, out, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer func() { _ = c.Close() }()
		fmt.Fprint(out, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n")
		for i := range 3 {
			fmt.Fprintf(out, "data: %d\n\n", i)
			_ = out.Flush()
			select {
			case <-got:
			case <-stop:
				return
			}
		}
	}))
	defer replica.Close()
	defer close(stop)
	address := replica.Listener.Addr().String()
	url := nginx(t, [3]string{address, address, address})
	client := &http.Client{Timeout: time.Minute}
	res, err := client.Post(url, "application/json", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	events := 0
	for lines := bufio.NewScanner(res.Body); lines.Scan(); {
		if strings.HasPrefix(lines.Text(), "data: ") {
			events++
			got <- lines.Text()
		}
	}
	if events != 3 {
		t.Errorf("%d events came", events)
	}
}

// TestAReplicaThatIsGoneIsPassedOver: every request is answered while two of three replicas are not there, and bodies up to the
// agent's limit pass.
func TestAReplicaThatIsGoneIsPassedOver(t *testing.T) {
	replica := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n, _ := io.Copy(io.Discard, r.Body)
		fmt.Fprintf(w, "%d bytes for %s", n, r.Host)
	}))
	defer replica.Close()
	url := nginx(t, [3]string{freeAddress(t), freeAddress(t), replica.Listener.Addr().String()})
	for _, size := range []int{2, 16 << 20, 2, 2, 2, 2} {
		res, err := http.Post(url, "application/json", strings.NewReader(strings.Repeat("x", size)))
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if want := fmt.Sprintf("%d bytes for %s", size, strings.TrimPrefix(url, "http://")); err != nil || string(text) != want {
			t.Errorf("%d %.100s, %v; want %s", res.StatusCode, text, err, want)
		}
	}
}
