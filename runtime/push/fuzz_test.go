package push_test

import (
	"context"
	"net/http/httptest"
	"net/textproto"
	"strings"
	"testing"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/push"
)

// FuzzReceiver: whatever the body and the headers are, the answer is one of those that are documented; a function is called
// only for what is answered by 200, and the same request again changes nothing.
func FuzzReceiver(f *testing.F) {
	for _, body := range []string{
		status("working"), chunk("x", true), task03("completed", noon, "Done.", "x", "y"), `{"task":{"id":"t"}}`, `{"message":{}}`, `{"x":1}`,
		`{"id":"t","sessionId":"c","status":{"state":"completed"},"artifacts":[{"parts":[{"type":"text","text":"x"}],"index":0}]}`, `null`, `[]`, "{\xff",
	} {
		f.Add(body, "1.0", "id", "t", "c", "1-3", "application/json")
		f.Add(body, "0.3", "", "", "", "", "")
	}
	f.Add(status("working"), "9.9", "\r\n", "%2", "%00", "18446744073709551615", "text/html")
	documented := map[int]bool{200: true, 400: true, 413: true, 415: true}
	f.Fuzz(func(t *testing.T, body, version, id, task, config, sequence, contentType string) {
		calls := 0
		r, err := push.NewReceiver(protocol(), quiet, push.Anyone(), push.On(func(_ context.Context, e anyEvent, n *push.Notification) error {
			if calls++; n.Version == "" || e == nil {
				t.Errorf("a function got %v of %+v", e, n)
			}
			return nil
		}))
		if err != nil {
			t.Fatal(err)
		}
		answer := func() (int, int) {
			req := httptest.NewRequest("POST", "/", strings.NewReader(body))
			for name, value := range map[string]string{
				"A2A-Version": version, runtime.PushIDHeader: id, runtime.PushTaskHeader: task, runtime.PushConfigHeader: config,
				runtime.PushSequenceHeader: sequence, "Content-Type": contentType,
			} {
				if value != "" {
					req.Header[textproto.CanonicalMIMEHeaderKey(name)] = []string{value}
				}
			}
			before, w := calls, httptest.NewRecorder()
			r.ServeHTTP(w, req)
			return w.Code, calls - before
		}
		first, called := answer()
		if !documented[first] || first != 200 && called > 0 {
			t.Errorf("%d after %d calls", first, called)
		}
		again, more := answer()
		if again != first || more > 0 && (id != "" || sequence != "") {
			t.Errorf("the same again: %d after %d calls, first %d", again, more, first)
		}
	})
}
