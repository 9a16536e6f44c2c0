package client_test

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/a2agen/a2agen/internal/sse"
	"github.com/a2agen/a2agen/runtime"
	rpc "github.com/a2agen/a2agen/runtime/client"
)

// numbered has an agent say that it numbers its events.
func numbered(r reply) reply {
	return func(w http.ResponseWriter, req *http.Request, q request) {
		w.Header().Set(sse.NumberedHeader, sse.Numbered)
		r(w, req, q)
	}
}

// TestNumbersSayWhatIsMissing: a gap is a broken connection, an event that came already is left out, and a whole task may
// skip numbers. An agent that does not number its events is believed.
func TestNumbersSayWhatIsMissing(t *testing.T) {
	first, second := withID("1", taskWorking), withID("2", chunk1)
	third, last := withID("3", working), withID("4", completed)
	all := []string{"task TASK_STATE_WORKING", "artifact sun", "status TASK_STATE_WORKING", "status TASK_STATE_COMPLETED"}
	for name, tt := range map[string]struct {
		begin, then reply
		want        []string
		after       string // the Last-Event-ID of the subscription
	}{
		"missing":      {numbered(events(first, second, last)), numbered(events(third, last)), all, "2"},
		"swapped":      {numbered(events(first, third, second, last)), numbered(events(second, third, last)), all, "1"},
		"twice":        {numbered(events(first, first, second, second, third, second, last)), nil, append(all[:1:1], all...), ""},
		"a whole task": {numbered(events(first, second, withID("9", taskWorking), withID("10", completed))), nil, []string{all[0], all[1], all[0], all[3]}, ""},
		"lost at once": {numbered(events(first)), numbered(events(last)), nil, "1"},
		"not numbered": {events(first, third, second, last), nil, []string{all[0], all[2], all[1], all[3]}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, binding string) {
				f, opts := newFakeInMemory(t, binding, map[string][]reply{"SendStreamingMessage": {tt.begin}, "SubscribeToTask": {tt.then}})
				items, err := collect(f.typed(append(opts, rpc.Reattach(3))...).SendStreamingMessage(t.Context(), hello()))
				var broken *rpc.StreamError
				if tt.want == nil {
					if !errors.As(err, &broken) || !strings.Contains(err.Error(), "event 4 came after event 1") || len(items) != 1 {
						t.Errorf("%q, %v", items, err)
					}
					return
				}
				if !slices.Equal(items, tt.want) || err != nil {
					t.Errorf("%q, %v", items, err)
				}
				if n := subscriptions(f); n != min(1, len(tt.after)) || n > 0 && f.got[1].Header.Get("Last-Event-ID") != tt.after {
					t.Errorf("%d subscriptions, %v", n, f.got)
				}
			}, overHTTP...)
		})
	}
}

// TestOneEventForEverEnds: it is no news, however often it comes.
func TestOneEventForEverEnds(t *testing.T) {
	inBubble(t, func(t *testing.T, binding string) {
		again := every(time.Millisecond, strings.Replace(withID("1", chunk1)[1:], `"id":$ID,`, "", 1), withID("1", taskWorking))
		f, opts := newFakeInMemory(t, binding, map[string][]reply{"SendStreamingMessage": {numbered(again)}, "SubscribeToTask": {numbered(again)}})
		items, err := collect(f.typed(append(opts, rpc.Reattach(2), rpc.MaxEvent(64<<10))...).SendStreamingMessage(t.Context(), hello()))
		if !errors.Is(err, rpc.ErrNoEvent) || len(items) != 3 {
			t.Errorf("%d items, %v", len(items), err)
		}
	}, runtime.BindingJSONRPC)
}
