package record_test

import (
	"bufio"
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// interleaved is a stream with an event before and one after another request.
const interleaved = headLine + requestLine + streamLine + `{"type":"event","n":1,"text":"before"}` + "\n" +
	`{"type":"request","n":2,"method":"POST","path":"/cancel"}` + "\n" + `{"type":"response","n":2,"status":200,"body":{}}` + "\n" +
	`{"type":"event","n":1,"text":"after"}` + "\n" + endLine

// TestWhatCameAfterARequestIsPlayedAfterIt, and if the request is never made, it is played in the end.
func TestWhatCameAfterARequestIsPlayedAfterIt(t *testing.T) {
	for _, made := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			p := open(t, write(t, interleaved))
			resp, err := p.RoundTrip(must(http.NewRequestWithContext(t.Context(), http.MethodPost, agentURL, nil)))
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			began := time.Now()
			got := make(chan string, 10)
			go func() {
				defer close(got)
				for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
					if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
						got <- data
					}
				}
			}()
			if first := <-got; first != "before" {
				t.Errorf("first %s", first)
			}
			synctest.Wait()
			if len(got) > 0 {
				t.Error("what came after a request is played before it")
			}
			if made {
				if _, err := post(t, p, "/cancel", ""); err != nil {
					t.Error(err)
				}
			}
			if second := <-got; second != "after" || made != (time.Since(began) == 0) {
				t.Errorf("second %s, after %v", second, time.Since(began))
			}
			if _, more := <-got; more || made == (p.Unused() != nil) {
				t.Errorf("more: %v; unused: %v", more, p.Unused())
			}
		})
	}
}

// TestARequestThatWasGivenUpIsGivenUpAgain: no answer came until the client's context ended.
func TestARequestThatWasGivenUpIsGivenUpAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := open(t, write(t, headLine+requestLine+`{"type":"end","n":1,"how":"left"}`))
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		began := time.Now()
		_, err := p.RoundTrip(must(http.NewRequestWithContext(ctx, http.MethodPost, agentURL, nil)))
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != time.Minute {
			t.Errorf("%v after %v", err, time.Since(began))
		}
		if _, err := p.RoundTrip(must(http.NewRequestWithContext(ctx, http.MethodPost, agentURL, nil))); !errors.Is(err, context.DeadlineExceeded) || len(p.Mismatches()) > 0 {
			t.Errorf("a request whose time is over: %v", err)
		}
	})
}

// TestLongIDsAndSecretsTakeLinearTime, which an agent may make up: they are not looked for within texts.
func TestLongIDsAndSecretsTakeLinearTime(t *testing.T) {
	long := strings.Repeat("a1", 1<<18)
	agent := handler(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Set-Cookie", "c="+long)
		answer(w, "", `{"taskId":"`+long+`b","token":"`+long+`c","text":"`+long+long+`"}`)
	})
	began := time.Now()
	written := text(t, save(t, agent, func(over http.RoundTripper) { _, _ = post(t, over, "/", "{}") }))
	if !strings.Contains(written, `"taskId":"task-1"`) || !strings.Contains(written, `"token":"[masked]"`) || time.Since(began) > time.Minute {
		t.Errorf("after %v: %.300s", time.Since(began), written)
	}
}
