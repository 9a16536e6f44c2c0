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
)

// job is a delivery that is claimed.
type job struct {
	store.Delivery
	claimed  time.Time
	host     *host
	inFlight bool
	next     *job // the same delivery, claimed again while this one was in flight
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
	inFlight int
	heard    time.Time // when it answered last, or the first of those in flight was sent
	prompt   bool      // the last answer came in time
	silent   bool      // the last notification was not answered at all
}

// slow reports whether the host keeps what is in flight waiting.
func (h *host) slow(now time.Time) bool { return h.inFlight > 0 && now.Sub(h.heard) > slowAfter }

// limit is how many notifications may be in flight to the host.
func (h *host) limit() int {
	if h.silent {
		return 1
	}
	return maxPerHost
}

// begin notes that a notification is sent.
func (h *host) begin(now time.Time) {
	if h.inFlight == 0 {
		h.heard = now
	}
	h.inFlight++
}

// end notes that the host answered after a while, or did not.
func (h *host) end(now time.Time, answered bool, after time.Duration) {
	h.inFlight--
	h.prompt, h.silent = answered && after <= promptWithin, !answered
	if answered {
		h.heard = now
	}
}
