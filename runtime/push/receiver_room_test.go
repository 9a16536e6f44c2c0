package push

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/a2agen/a2agen/a2a"
)

// TestRoomIsTakenForAllThatANotificationTakesInMemory holds that [Limits.Bodies] is of memory, as it is taken: the body
// and what is decoded of it, each with the garbage that it leaves behind, and the body no longer than it is needed.
func TestRoomIsTakenForAllThatANotificationTakesInMemory(t *testing.T) {
	const size = 1 << 20
	body := `{"artifactUpdate":{"taskId":"t","contextId":"c","artifact":{"artifactId":"a","parts":[{"text":"` + strings.Repeat("x", size) + `"}]}}}`
	var atWork int64
	var r *Receiver
	r, err := NewReceiver(a2a.Protocol(), Anyone(), On(func(context.Context, *a2a.TaskArtifactUpdateEvent, *Notification) error {
		atWork = r.bodies.Taken()
		return nil
	}))
	if err != nil {
		t.Fatal(err)
	}
	reading := &watched{Reader: strings.NewReader(body), see: func() int64 { return r.bodies.Taken() }}
	req := httptest.NewRequest(http.MethodPost, "/", reading)
	req.ContentLength = int64(len(body))
	w := httptest.NewRecorder()
	r.ServeHTTP(w, req)
	if w.Code != http.StatusOK {
		t.Fatal(w.Code, w.Body)
	}
	for _, c := range []struct {
		what            string
		got, from, upTo int64
	}{
		{"at the end of the body", reading.most, 4 * (size - freeBody), 5 * size},
		{"in the function", atWork, 2 * (size - freeBody), 3 * size},
		{"in the end", r.bodies.Taken(), 0, 0},
	} {
		if c.got < c.from || c.got > c.upTo {
			t.Errorf("%s %d bytes are taken, want %d to %d", c.what, c.got, c.from, c.upTo)
		}
	}
}

// watched looks at something at each read.
type watched struct {
	*strings.Reader
	see  func() int64
	most int64
}

func (w *watched) Read(p []byte) (int, error) {
	w.most = max(w.most, w.see())
	return w.Reader.Read(p)
}

// TestANotificationIsRefusedBeforeItHasComeWhole: what there is no room to decode is not received.
func TestANotificationIsRefusedBeforeItHasComeWhole(t *testing.T) {
	r, err := NewReceiver(a2a.Protocol(), Anyone(), WithLimits(Limits{Bodies: 8 << 20}))
	if err != nil {
		t.Fatal(err)
	}
	r.bodies.Add(6 << 20) // others are at work
	left := strings.NewReader(`{"x":"` + strings.Repeat("x", 1<<20) + `"}`)
	w := httptest.NewRecorder()
	r.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/", left))
	if w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" || left.Len() < 1<<19 {
		t.Errorf("%d with %d bytes unread", w.Code, left.Len())
	}
}
