package engine

import (
	"time"

	"github.com/a2agen/a2agen/runtime/store"
)

// How many notifications are on their way at once. A receiver that does not answer takes its places for as long as the
// transport waits, so those that have not shown that they answer in time share one half.
const (
	ways        = 128
	untried     = ways / 2
	waysToOne   = 4   // to one host, and one to a host that does not answer
	inHand      = 512 // deliveries that are claimed
	inTime      = time.Second
	silence     = 250 * time.Millisecond // of a host on whom others do not wait
	manyHosts   = 4096
	claimFor    = 2 * time.Minute
	claimAtOnce = 32
	// lookAnyway is how long nobody looks for what another instance gives back before its claim runs out.
	lookAnyway = 15 * time.Second
	// freshFor is how old a claim may be when its notification is sent: it has to hold until the answer.
	freshFor = claimFor - time.Minute
)

// parcel is a delivery that is claimed.
type parcel struct {
	store.Delivery
	at   time.Time // of the claim
	host *host
	away bool    // on its way
	next *parcel // claimed when this one was settled but not yet back
}

// parcelKey tells parcels apart.
type parcelKey struct {
	key store.Key
	id  string
}

func (p *parcel) name() parcelKey { return parcelKey{p.Key, p.Push.ID} }

// host is where notifications go: what is known of it, and what waits for its turn. The lock of the courier guards it.
type host struct {
	name   string
	queue  []*parcel
	active int       // on their way
	heard  time.Time // when it answered last, or when it was asked and nothing was on its way
	good   bool      // it answered in time
	bad    bool      // it did not answer at all
}

// slow reports whether the host keeps what is on its way waiting.
func (h *host) slow(now time.Time) bool { return h.active > 0 && now.Sub(h.heard) > silence }

// places is how many notifications may be on their way to the host.
func (h *host) places() int {
	if h.bad {
		return 1
	}
	return waysToOne
}

// left notes that a notification is on its way.
func (h *host) left(now time.Time) {
	if h.active == 0 {
		h.heard = now
	}
	h.active++
}

// back notes that the host answered, or did not, after a while.
func (h *host) back(now time.Time, answered bool, after time.Duration) {
	h.active--
	h.good, h.bad = answered && after <= inTime, !answered
	if answered {
		h.heard = now
	}
}
