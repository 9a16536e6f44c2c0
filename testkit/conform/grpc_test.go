package conform

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestAddressesOfGRPCAreReadAsCardsHaveThem(t *testing.T) {
	for _, c := range []struct {
		address string
		secure  bool
		want    string
	}{
		{"agent.test:443", true, "https://agent.test:443"},
		{"127.0.0.1:50051", false, "http://127.0.0.1:50051"},
		{"[::1]:50051", false, "http://[::1]:50051"},
		{"localhost:50051", false, "http://localhost:50051"},
		{"dns:///agent.test:443", true, "https://agent.test:443"},
		{"https://agent.test/a2a", false, "https://agent.test"},
		{"grpc://agent.test:80", true, "http://agent.test:80"},
		{"", true, ""},
		{"agent.test:443/path", true, ""},
		{"user@agent.test:443", true, ""},
	} {
		got, err := grpcBase(c.address, c.secure)
		if got != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%q: %q, %v", c.address, got, err)
		}
	}
}

func TestAMessageIsReadNoFurtherThanItsBound(t *testing.T) {
	long := append([]byte{0}, binary.BigEndian.AppendUint32(nil, maxBody+1)...)
	if _, err := readFrame(bytes.NewReader(long)); !errors.Is(err, errTooLong) {
		t.Errorf("a message that is announced as too long: %v", err)
	}
	cut := append([]byte{0}, binary.BigEndian.AppendUint32(nil, maxBody)...)
	if _, err := readFrame(bytes.NewReader(append(cut, "abc"...))); err == nil || err == io.EOF {
		t.Errorf("a message that is cut: %v", err)
	}
	if _, err := readFrame(bytes.NewReader([]byte{1, 0, 0, 0, 0})); err == nil {
		t.Error("a compressed message is read")
	}
	if m, err := readFrame(bytes.NewReader(grpcFrame([]byte("abc")))); err != nil || string(m) != "abc" {
		t.Errorf("%q, %v", m, err)
	}
}

// R160: how a call ended, with ErrorInfo in its details.
func TestTheEndOfACallIsRead(t *testing.T) {
	info := appendBytes(appendBytes(nil, 1, []byte("TASK_NOT_FOUND")), 2, []byte("a2a-protocol.org"))
	detail := appendBytes(appendBytes(nil, 1, []byte(errorInfoType)), 2, info)
	details := func(code uint64) string {
		return base64.RawStdEncoding.EncodeToString(appendBytes(appendVarint(nil, 1, code), 3, detail))
	}
	for name, c := range map[string]struct {
		code, message, details string
		status, reason         string
		faults                 int
	}{
		"well":                    {"0", "", "", "", "", 0},
		"with details":            {"5", "no such%20task", details(5), "NOT_FOUND", "TASK_NOT_FOUND", 0},
		"details of another code": {"5", "no", details(3), "NOT_FOUND", "TASK_NOT_FOUND", 1},
		"no details":              {"5", "no", "", "NOT_FOUND", "", 0},
		"no message":              {"13", "", "", "INTERNAL", "", 1},
		"no base64":               {"13", "no", "%%", "INTERNAL", "", 1},
		"no message of details":   {"13", "no", "AAAA", "INTERNAL", "", 1},
		"no status":               {"", "", "", "UNKNOWN", "", 1},
		"a status of nobody":      {"17", "no", "", "UNKNOWN", "", 1},
	} {
		h := http.Header{}
		h.Set("Grpc-Status", c.code)
		h.Set("Grpc-Message", c.message)
		h.Set("Grpc-Status-Details-Bin", c.details)
		f, faults := readGRPCStatus(h)
		if f == nil {
			f = &failure{}
		}
		if f.status != c.status || f.reason != c.reason || len(faults) != c.faults {
			t.Errorf("%s: %+v, %q", name, f, faults)
		}
	}
}

// TestAWebhookTakesWhatIsSentToItsOwnPaths: other posts, what is too long, and what is too much are refused.
func TestAWebhookTakesWhatIsSentToItsOwnPaths(t *testing.T) {
	w, err := listenForPushes("")
	if err != nil {
		t.Fatal(err)
	}
	defer w.close()
	target := w.open("mine")
	post := func(to, body string) int {
		resp, err := http.Post(to, "application/json", strings.NewReader(body)) //nolint:noctx // on this machine
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		return resp.StatusCode
	}
	if got := post(w.base+"/other", "{}"); got != http.StatusNotFound {
		t.Errorf("another path: %d", got)
	}
	if got := post(target, strings.Repeat(" ", maxDelivery+1)); got != http.StatusBadRequest {
		t.Errorf("a notification that is too long: %d", got)
	}
	for range maxDeliveries {
		if got := post(target, "{}"); got != http.StatusOK {
			t.Fatalf("a notification: %d", got)
		}
	}
	if got := post(target, "{}"); got != http.StatusNotFound {
		t.Errorf("one too many: %d", got)
	}
	all := w.wait(t.Context(), target, func(all []delivery) bool { return len(all) == maxDeliveries })
	if len(all) != maxDeliveries {
		t.Errorf("%d notifications", len(all))
	}
}

func TestWebhooksAreForAgentsOnThisMachineUnlessOneIsNamed(t *testing.T) {
	for name, c := range map[string]struct {
		local bool
		named string
		ok    bool
	}{
		"on this machine":     {true, "", true},
		"elsewhere":           {false, "", false},
		"elsewhere, no port":  {false, "http://me.test", false},
		"elsewhere, no http":  {false, "ftp://me.test:99", false},
		"elsewhere, no digit": {false, "http://me.test:port", false},
	} {
		r := &runner{ctx: t.Context(), local: c.local, config: Config{Webhook: c.named, Timeout: time.Second}}
		err := r.listen()
		if (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
		if err == nil {
			r.webhook.close()
		}
	}
}
