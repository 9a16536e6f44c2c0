package deliver

import (
	"time"

	"github.com/a2agen/a2agen/runtime/store"
)

// How much is claimed and in flight at once. A notification to a host that does not answer is in flight for as long as
// the transport waits, so those to hosts that have not answered in time yet share one half.
const (
	maxInFlight = 128
	maxUnproven = maxInFlight / 2
	maxPerHost  = 4 // and one to a host that did not answer
	maxClaimed  = 512
	maxHosts    = 4096 // that are remembered while nothing is on its way to them

	claimBatch = 32
	claimFor   = 2 * time.Minute
	claimRetry = 5 * time.Second // after the store could not say what is due
	// maxClaimAge is how old a claim may be when its notification is sent: it must last until the answer.
	maxClaimAge = claimFor - time.Minute
	// maxSleep is how long nobody looks for what another instance gives back before its claim runs out.
	maxSleep = 15 * time.Second

	promptWithin = time.Second            // an answer in this time is prompt
	slowAfter    = 250 * time.Millisecond // without an answer a host is slow, and nobody waits for it
	// leastPause is how long a job that was given back because of a slow host waits at least.
	leastPause = time.Second
)

// job is a delivery that is claimed.
type job struct {
	store.Delivery
	claimed  time.Time
	host     *host
	inFlight bool          // it is being delivered or given back
	later    time.Duration // given back, it falls due after this
	next     *job          // the same delivery, claimed again while this one was in flight
}

// jobKey tells jobs apart: a task and one of its configurations.
type jobKey struct {
	key store.Key
	id  string
}

func (j *job) key() jobKey { return jobKey{j.Key, j.Push.ID} }

// host is a machine to which notifications go, with the jobs that wait for it. Guarded by Worker.mu.
type host struct {
	name     string
	queue    []*job
	inFlight int       // jobs that are being delivered
	asking   int       // of those, requests that are under way: the others wait for the store
	heard    time.Time // when it answered last, or the first of the requests under way was sent
	prompt   bool      // the last answer came in time
	silent   time.Time // when the first of the requests without any answer was sent; zero: it answered the last one
}

// slow reports whether the host keeps what is under way waiting.
func (h *host) slow(now time.Time) bool { return h.asking > 0 && now.Sub(h.heard) > slowAfter }

// pause is for how long nothing more is sent to a host that is slow: as long as it has not answered.
func (h *host) pause(now time.Time) time.Duration {
	since := h.heard
	if !h.silent.IsZero() {
		since = h.silent
	}
	return min(max(now.Sub(since), leastPause), claimFor)
}

// limit is how many notifications may be in flight to the host.
func (h *host) limit() int {
	if !h.silent.IsZero() {
		return 1
	}
	return maxPerHost
}

// ask notes that a request is sent.
func (h *host) ask(now time.Time) {
	if h.asking == 0 {
		h.heard = now
	}
	h.asking++
}

// reply notes that the host answered a request, or did not.
func (h *host) reply(asked, now time.Time, answered bool) {
	h.asking--
	h.prompt = answered && now.Sub(asked) <= promptWithin
	switch {
	case answered:
		h.heard, h.silent = now, time.Time{}
	case h.silent.IsZero():
		h.silent = asked
	}
}
