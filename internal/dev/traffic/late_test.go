package traffic

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestABodyMayBeReadWhileTheAnswerBegins, as transports do that look for its end; what is read later is not kept.
func TestABodyMayBeReadWhileTheAnswerBegins(t *testing.T) {
	l := &Log{}
	h := l.Record(0, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		read := make(chan struct{})
		go func() {
			defer close(read)
			_, _ = io.Copy(io.Discard, r.Body)
		}()
		w.WriteHeader(http.StatusOK)
		<-read
		_, _ = io.WriteString(w, "ok")
	}))
	for range 100 {
		h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, "/", strings.NewReader("hello")))
	}
	for _, s := range l.List(0, MaxCalls) {
		if x, _ := l.Get(s.ID); !strings.HasPrefix("hello", string(x.Request.Bytes)) || x.State != Done {
			t.Errorf("%+v", x)
		}
	}
}
