package fleet

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
	"strings"
	"testing"
	"time"

	"github.com/a2agen/a2agen/internal/test/postgrestest"
)

// replica is a process of the example's agent.
type replica struct {
	name, address string
	cmd           *exec.Cmd
}

// replicas starts three of them on one database.
func replicas(t *testing.T) (all [3]*replica) {
	t.Helper()
	store := postgrestest.Server(t) + "&a2a_lease=2s"
	program := filepath.Join(t.TempDir(), "reports")
	build := exec.Command("go", "build", "-o", program, ".")
	build.Dir = example
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for i := range all {
		r := &replica{name: fmt.Sprintf("replica%d", i+1)}
		r.cmd = exec.Command(program, "-addr", "127.0.0.1:0")
		r.cmd.Env = append(os.Environ(), "A2A_STORE="+store, "REPLICA="+r.name, "A2A_HOSTS=*")
		out, err := r.cmd.StderrPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := r.cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			_ = r.cmd.Process.Kill()
			_ = r.cmd.Wait()
		})
		var said strings.Builder
		lines := bufio.NewScanner(out)
		for listens := regexp.MustCompile(`url=http://(\S+)`); r.address == "" && lines.Scan(); {
			fmt.Fprintln(&said, lines.Text())
			if m := listens.FindStringSubmatch(lines.Text()); m != nil {
				r.address = m[1]
			}
		}
		if r.address == "" || !strings.Contains(said.String(), "tasks are kept in PostgreSQL") {
			t.Fatalf("%s does not run:\n%s", r.name, said.String())
		}
		go func() { _, _ = io.Copy(io.Discard, out) }()
		all[i] = r
	}
	return all
}

// call makes a JSON-RPC call, and returns the body of its answer.
func call(t *testing.T, url, method, params, last string) *http.Response {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`, method, params)))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("A2A-Version", "1.0")
	if last != "" {
		req.Header.Set("Last-Event-ID", last)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = res.Body.Close() })
	return res
}

var (
	taskID  = regexp.MustCompile(`"task":\{"id":"([^"]+)"`)
	writes  = regexp.MustCompile(`Replica (replica\d) writes, attempt (\d)`)
	section = regexp.MustCompile(`Section (\d+) of 30`)
)

// heard is what has come of a task so far.
type heard struct {
	task, last string
	attempts   []string // the replica of each
	sections   int      // of the last attempt
	ended      bool
}

// read reads a stream to its end, or until enough.
func (h *heard) read(t *testing.T, body io.Reader, enough func() bool) {
	t.Helper()
	lines := bufio.NewScanner(body)
	lines.Buffer(nil, 1<<20)
	for !enough() && lines.Scan() {
		line := lines.Text()
		if id, ok := strings.CutPrefix(line, "id: "); ok {
			h.last = id
		}
		if m := taskID.FindStringSubmatch(line); m != nil && h.task == "" {
			h.task = m[1]
		}
		if m := writes.FindStringSubmatch(line); m != nil && fmt.Sprint(len(h.attempts)+1) == m[2] {
			h.attempts, h.sections = append(h.attempts, m[1]), 0
		}
		for _, m := range section.FindAllStringSubmatch(line, -1) {
			if m[1] == fmt.Sprint(h.sections+1) {
				h.sections++
			}
		}
		h.ended = h.ended || strings.Contains(line, "TASK_STATE_COMPLETED")
	}
}

// TestAReportOutlivesItsReplica: the replica that writes a report is killed in the middle. The client comes back, by way of the proxy, to
// one of the others, and hears the rest of it from there; both know the same task in the end.
func TestAReportOutlivesItsReplica(t *testing.T) {
	all := replicas(t)
	url := nginx(t, [3]string{all[0].address, all[1].address, all[2].address})
	var h heard
	res := call(t, url, "SendStreamingMessage",
		`{"message":{"messageId":"m1","role":"ROLE_USER","parts":[{"data":{"subject":"tides","sections":30,"pauseMillis":20}}]}}`, "")
	h.read(t, res.Body, func() bool { return h.sections >= 5 })
	_ = res.Body.Close()
	if len(h.attempts) != 1 || h.task == "" {
		t.Fatalf("%+v", h)
	}
	var left []*replica
	for _, r := range all {
		if r.name == h.attempts[0] {
			_ = r.cmd.Process.Kill()
			continue
		}
		left = append(left, r)
	}
	for tries := 0; !h.ended && tries < 20; tries++ {
		res := call(t, url, "SubscribeToTask", fmt.Sprintf(`{"id":%q}`, h.task), h.last)
		h.read(t, res.Body, func() bool { return h.ended })
		_ = res.Body.Close()
	}
	if !h.ended || len(h.attempts) != 2 || h.attempts[1] == h.attempts[0] || h.sections != 30 {
		t.Fatalf("%+v", h)
	}
	var tasks []string
	for _, r := range left {
		text, err := io.ReadAll(call(t, "http://"+r.address, "GetTask", fmt.Sprintf(`{"id":%q}`, h.task), "").Body)
		if err != nil {
			t.Fatal(err)
		}
		tasks = append(tasks, string(text))
	}
	if tasks[0] != tasks[1] || !strings.Contains(tasks[0], `"attempt":2`) || strings.Contains(tasks[0], "by replica "+h.attempts[0]) {
		t.Errorf("the replicas know\n%s\nand\n%s", tasks[0], tasks[1])
	}
}
