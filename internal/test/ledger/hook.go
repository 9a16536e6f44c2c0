package ledger

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/push"
)

const secret = "hook-secret"

// notification is what a request to the webhook said.
type notification struct {
	first, last int
	body        uint64 // its digest
}

// Hook is a webhook of all tasks. It refuses some notifications and hangs up on others.
type Hook struct {
	*httptest.Server
	// Verify checks the signature of a notification; nil: they are not signed.
	Verify   func(ctx context.Context, token string, body []byte) (push.Signed, error)
	mu       sync.Mutex
	rnd      *rand.Rand
	seen     map[string]notification   // by id, taken or not
	taken    map[string][]notification // by task, in the order in which they came, repeats left out
	repeated int
	faults   []string
}

// NewHook starts a webhook. rnd picks what it refuses.
func NewHook(rnd *rand.Rand) *Hook {
	h := &Hook{rnd: rnd, seen: map[string]notification{}, taken: map[string][]notification{}}
	h.Server = httptest.NewServer(h)
	return h
}

func (h *Hook) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the agent was killed
	}
	n, err := read(r.Header, string(body))
	if err == nil {
		err = h.verify(r, body)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if err != nil {
		h.faults = append(h.faults, err.Error())
		return
	}
	id, task := r.Header.Get(runtime.PushIDHeader), r.Header.Get(runtime.PushTaskHeader)
	before, known := h.seen[id]
	if known && before != n {
		h.faults = append(h.faults, fmt.Sprintf("notification %s of task %s said %v, and now %v", id, task, before, n))
	}
	h.seen[id] = n
	if h.rnd.IntN(50) == 0 {
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	h.take(task, n)
	if h.rnd.IntN(100) == 0 {
		panic(http.ErrAbortHandler) // the agent does not hear that it was taken
	}
}

// verify checks the signature, which names the notification as its headers do.
func (h *Hook) verify(r *http.Request, body []byte) error {
	if h.Verify == nil {
		return nil
	}
	signed, err := h.Verify(r.Context(), r.Header.Get(runtime.PushSignatureHeader), body)
	if err != nil {
		return fmt.Errorf("the signature of notification %s: %w", r.Header.Get(runtime.PushIDHeader), err)
	}
	for name, want := range map[string]string{
		runtime.PushIDHeader: signed.ID, runtime.PushTaskHeader: signed.TaskID, runtime.PushSequenceHeader: signed.Sequence,
	} {
		if got := r.Header.Get(name); got != want {
			return fmt.Errorf("a notification with %s %q is signed for %q", name, got, want)
		}
	}
	return nil
}

// take adds a notification to those of its task, unless it was taken before.
func (h *Hook) take(task string, n notification) {
	for _, m := range h.taken[task] {
		if m == n {
			h.repeated++
			return
		}
	}
	h.taken[task] = append(h.taken[task], n)
}

func read(header http.Header, body string) (n notification, err error) {
	if got := header.Get(runtime.PushTokenHeader); got != secret {
		return n, fmt.Errorf("a notification with the token %q", got)
	}
	first, last, two := strings.Cut(header.Get(runtime.PushSequenceHeader), "-")
	if !two {
		last = first
	}
	n.body = sumOf(body)
	if n.first, err = strconv.Atoi(first); err == nil {
		n.last, err = strconv.Atoi(last)
	}
	return n, err
}

// of returns what was taken of a task.
func (h *Hook) of(task string) []notification {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.taken[task]
}

// complain checks the notifications of a task against its log, which ends with the event of number last. An empty text
// says that all is well, and missing that more has to come.
func complain(taken []notification, log sums, last int) (fault string, missing bool) {
	at := 1 // the first event is the task as it was made, which has no notification
	if len(taken) > 0 && taken[0].first == 1 {
		at = 0
	}
	for _, n := range taken {
		if n.first != at+1 {
			return fmt.Sprintf("notification of %d to %d comes after %d", n.first, n.last, at), false
		}
		if at = n.last; n.first == n.last && n.first > 1 && n.body != log[n.first] {
			return fmt.Sprintf("notification %d is not as the event", n.first), false
		}
	}
	return "", at < last
}
