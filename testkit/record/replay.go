package record

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	rpc "github.com/a2agen/a2agen/runtime/client"
)

// Env is the environment variable that has [Replay] record, as the flag -record has. It also reaches packages
// whose tests do not link this one, and do not know the flag: A2A_RECORD=1 go test ./...
const Env = "A2A_RECORD"

const recordFlag = "record"

// The flag is one of test programs: others that link this package have flags of their own.
func init() {
	if testing.Testing() && flag.Lookup(recordFlag) == nil {
		flag.Bool(recordFlag, false, "call agents where tests play recordings (record.Replay), and record them anew")
	}
}

// Replay returns the option by which a client talks to a recording instead of an agent:
//
//	c, err := weather.New(t.Context(), "https://weather.example", record.Replay(t, "testdata/quote.jsonl"))
//
// The recording is made by running the test once with the flag -record, or with A2A_RECORD=1 in the environment: the
// client then calls the agent, and the exchanges are written to the file at the end of the test, with secrets masked,
// if the test passes. Without the flag no network is used, and credentials are not needed.
//
// A call that the recording does not have fails the test, and the difference to the nearest one is shown. So do
// recorded calls that are not made, unless [Lenient] is given. Put the option behind those that set an HTTP
// client or a binding, which it replaces; gRPC is not recorded.
func Replay(t testing.TB, file string, opts ...Option) rpc.Option {
	t.Helper()
	test := strings.Split(t.Name(), "/")
	for i, part := range test {
		test[i] = "^" + strings.ReplaceAll(regexp.QuoteMeta(part), "'", ".") + "$"
	}
	command := "go test -run '" + strings.Join(test, "/") + "' . -" + recordFlag
	opts = append([]Option{Command(command)}, opts...)
	recording, err := recordingAsked()
	if err != nil {
		t.Fatal(err)
	}
	transport := http.RoundTripper(nil)
	if recording {
		transport = startRecording(t, file, opts)
	} else {
		transport = startPlaying(t, file, command, opts)
	}
	return func(c *rpc.Client) {
		rpc.HTTPClient(&http.Client{Transport: transport})(c)
		rpc.Use(noGRPC{})(c)
		if !recording {
			rpc.WithoutCredentials()(c)
		}
	}
}

// recordingAsked reports whether the flag or the environment asks to record.
func recordingAsked() (bool, error) {
	if f := flag.Lookup(recordFlag); f != nil && f.Value.String() == "true" {
		return true, nil
	}
	value := os.Getenv(Env)
	if value == "" {
		return false, nil
	}
	asked, err := strconv.ParseBool(value)
	if err != nil {
		return false, fmt.Errorf("record: %s is %q: set it to 1 to record, or unset it", Env, value)
	}
	return asked, nil
}

// filesRecorded are the files that tests of this process have recorded, or are recording, with the name of the test.
var filesRecorded sync.Map

// startRecording returns the transport that records, and saves the recording when the test has passed.
func startRecording(t testing.TB, file string, opts []Option) http.RoundTripper {
	t.Helper()
	if other, taken := filesRecorded.LoadOrStore(file, t.Name()); taken && other != t.Name() {
		t.Fatalf("record: %s is recorded by %s: give each test a file of its own", file, other)
	}
	r := NewRecorder(opts...)
	t.Cleanup(func() {
		t.Helper()
		r.CloseIdleConnections()
		if t.Failed() || t.Skipped() {
			t.Logf("record: the test did not pass: %s is not written", file)
			return
		}
		if err := r.Save(file); err != nil {
			t.Errorf("record: %v", err)
			return
		}
		t.Logf("record: recorded %s: look it through before you commit it", file)
	})
	return r
}

// startPlaying returns the transport that plays, and fails the test in the end if the recording and the test differ.
func startPlaying(t testing.TB, file, command string, opts []Option) http.RoundTripper {
	t.Helper()
	p, err := Open(file, opts...)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		t.Fatalf("record: there is no recording %s yet: make it with the agent running, in the folder of this test: %s",
			file, command)
	case err != nil:
		t.Fatalf("record: %v; to make it anew: %s", err, command)
	}
	t.Cleanup(func() {
		t.Helper()
		mismatches := p.Mismatches()
		for _, m := range mismatches {
			t.Errorf("record: %s", m.Details())
		}
		if t.Failed() { // it did not come to what is left
			if silent, version, binding := p.Silent(); silent && len(mismatches) == 0 {
				t.Logf("record: nothing of %s was asked for, which is of version %s of the protocol, over %s: "+
					"if the client does not speak that any more, record again: %s", file, version, binding, command)
			}
			return
		}
		if err := p.Unused(); err != nil {
			t.Errorf("record: %v", err)
		}
	})
	return p
}

// noGRPC takes the place of gRPC, which would reach the agent itself.
type noGRPC struct{}

// Name is GRPC.
func (noGRPC) Name() string { return "GRPC" }

// Connect says what to do instead.
func (noGRPC) Connect(rpc.Target) (rpc.Conn, error) {
	return nil, errors.New("calls over gRPC are not recorded: " +
		`test with rpc.Prefer("JSONRPC", "HTTP+JSON"), and an agent that has one of them`)
}
