package feed

import "time"

// outage is a time in which a stream cannot read the log of its task. The stream stays open, with heartbeats, and goes on
// where it was; one that lasts too long ends it, since another instance may reach the store. The client comes back with
// the number of the last event that it has. The zero outage is none.
type outage struct {
	begun time.Time
	next  time.Time // when the log is to be read again
	tries int       // that failed
}

const (
	// longestOutage is how long a stream waits for the store.
	longestOutage = time.Minute
	// doublings of the pause between two reads, so that many streams are no load on a store that comes back.
	doublings = 3
)

// retry notes that a read failed, and returns how long to wait until the next.
func (o *outage) retry() time.Duration {
	now := time.Now()
	if o.tries == 0 {
		o.begun = now
	}
	pause := Jitter(PollEvery << min(o.tries, doublings))
	o.tries, o.next = o.tries+1, now.Add(pause)
	return pause
}

// tooLong reports whether the stream is to end.
func (o *outage) tooLong() bool { return o.tries > 0 && time.Since(o.begun) > longestOutage }
