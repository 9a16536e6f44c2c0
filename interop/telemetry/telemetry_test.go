// Package telemetry does what docs/observe.md says of OpenTelemetry, word by word, with an agent that the tool makes, and looks at what
// comes to a collector. The modules of SDK and exporters are downloaded for it.
package telemetry

import (
	"bufio"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	metricpb "go.opentelemetry.io/proto/otlp/metrics/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// collector keeps the names of what is sent to it over OTLP, and of whom.
type collector struct {
	mu    sync.Mutex
	names []string
}

func (c *collector) ServeHTTP(_ http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	c.mu.Lock()
	defer c.mu.Unlock()
	switch r.URL.Path {
	case "/v1/traces":
		var sent tracepb.TracesData // of one form with an ExportTraceServiceRequest
		_ = proto.Unmarshal(body, &sent)
		for _, from := range sent.GetResourceSpans() {
			for _, kv := range from.GetResource().GetAttributes() {
				c.names = append(c.names, kv.GetKey()+"="+kv.GetValue().GetStringValue())
			}
			for _, scope := range from.GetScopeSpans() {
				for _, s := range scope.GetSpans() {
					c.names = append(c.names, s.GetKind().String()+" "+s.GetName())
				}
			}
		}
	case "/v1/metrics":
		var sent metricpb.MetricsData
		_ = proto.Unmarshal(body, &sent)
		for _, from := range sent.GetResourceMetrics() {
			for _, scope := range from.GetScopeMetrics() {
				for _, m := range scope.GetMetrics() {
					c.names = append(c.names, m.GetName())
				}
			}
		}
	}
}

// page is docs/observe.md.
func page(t *testing.T) string {
	t.Helper()
	src, err := os.ReadFile("../../docs/observe.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, ok := strings.Cut(string(src), "\n## Traces and metrics\n")
	if !ok {
		t.Fatal("the page says nothing of traces and metrics")
	}
	return text
}

// block is the code of the page that begins so.
func block(t *testing.T, page, language, begin string) string {
	t.Helper()
	_, rest, ok := strings.Cut(page, "```"+language+"\n"+begin)
	code, _, closed := strings.Cut(rest, "```")
	if !ok || !closed {
		t.Fatalf("the page has no %s that begins %q", language, begin)
	}
	return begin + code
}

func do(t *testing.T, dir, name string, args ...string) {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s %v: %v\n%s", name, args, err, out)
	}
}

// write writes a file of the project.
func write(t *testing.T, file string, change func(old string) string) {
	t.Helper()
	old, _ := os.ReadFile(file)
	if err := os.WriteFile(file, []byte(change(string(old))), 0o600); err != nil {
		t.Fatal(err)
	}
}

// project is an agent with telemetry, as the page tells one to make it. It returns the program.
func project(t *testing.T) string {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "weather")
	tool := filepath.Join(t.TempDir(), "a2agen")
	do(t, root, "go", "build", "-o", tool, "./cmd/a2agen")
	do(t, root, tool, "init", dir, "--text", "chat", "--module", "example.com/weather", "--yes", "--runtime", root)
	text := page(t)
	write(t, dir+"/a2agen.yaml", func(old string) string { return old + block(t, text, "yaml", "telemetry:") })
	do(t, dir, tool, "generate")
	write(t, dir+"/telemetry.go", func(string) string { return block(t, text, "go", "package main") })
	write(t, dir+"/main.go", func(old string) string {
		body := regexp.MustCompile(`(?ms)^\tsrv, err := .*?^\tos\.Exit\([^\n]*\n`)
		if !body.MatchString(old) {
			t.Fatalf("main.go is not as the page has it:\n%s", old)
		}
		return body.ReplaceAllLiteralString(old, block(t, text, "go", "\tstop := startTelemetry()"))
	})
	do(t, dir, "go", "mod", "tidy")
	do(t, dir, "go", "build", "-o", "program", ".")
	return dir + "/program"
}

// start runs the agent on a free port, and returns where it is.
func start(t *testing.T, program, collector string) (url string, stop func()) {
	t.Helper()
	cmd := exec.Command(program, "-addr", "127.0.0.1:0")
	cmd.Env = append(os.Environ(), "OTEL_SERVICE_NAME=weather", "OTEL_EXPORTER_OTLP_ENDPOINT="+collector)
	out, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	lines := bufio.NewScanner(out)
	for address := regexp.MustCompile(`http://127\.0\.0\.1:\d+`); url == "" && lines.Scan(); {
		url = address.FindString(lines.Text())
	}
	if url == "" {
		t.Fatal("the agent does not say where it is")
	}
	return url, func() {
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		for lines.Scan() {
			t.Log(lines.Text())
		}
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	}
}

func TestThePageOfOpenTelemetry(t *testing.T) {
	c := &collector{}
	web := httptest.NewServer(c)
	defer web.Close()
	url, stop := start(t, project(t), web.URL)
	resp, err := (&http.Client{Timeout: 10 * time.Second}).Post(url, "application/json", strings.NewReader(
		`{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"go"}]}}}`))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	stop()
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, want := range []string{
		"service.name=weather", "SPAN_KIND_SERVER SendMessage", "SPAN_KIND_INTERNAL run chat",
		"a2a.server.call.duration", "a2a.server.call.active", "a2a.run.duration", "a2a.run.active",
	} {
		if !slices.Contains(c.names, want) {
			t.Errorf("the collector has no %s among %q", want, c.names)
		}
	}
}
