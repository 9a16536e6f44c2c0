package memory

import (
	"sync/atomic"

	"github.com/a2agen/a2agen/internal/taskstate"
	"github.com/a2agen/a2agen/runtime/store"
)

// eventLog is the log of one task: a record for each version since one.
type eventLog struct {
	records []*store.Record
	trimmed int64          // Seq of the newest record that is not there any more
	blank   []store.Record // made in advance
	encoded atomic.Int64   // bytes that records keep for readers
}

// Numbers of records that are made at a time: an allocation for each event shows in the time of a stream. The first
// piece is for a short task.
const (
	firstRecords = 4
	moreRecords  = 16
)

// bytes is what the log takes beside the events' content, which is the task's.
func (l *eventLog) bytes() int {
	if l == nil {
		return 0
	}
	return len(l.records)*taskstate.EventFrame + int(l.encoded.Load())
}

// after returns the records after a version, none of which was trimmed.
func (l *eventLog) after(version int64) []*store.Record { return l.records[version-l.trimmed:] }

// append adds the record of an event that made the next version, and trims the log to keep records and a quarter more.
// Readers hold slices of the log, so trimming copies what stays, once in a while, instead of shifting.
func (l *eventLog) append(c *store.Change, keep int) {
	if len(l.records) > keep+keep/4 {
		cut := len(l.records) - keep
		l.trimmed = l.records[cut-1].Seq
		for _, rec := range l.records[:cut] {
			rec.Forget(true)
		}
		l.records = append(make([]*store.Record, 0, keep+keep/2), l.records[cut:]...)
	}
	if len(l.blank) == 0 {
		l.blank = make([]store.Record, moreRecords)
	}
	rec := &l.blank[0]
	l.blank = l.blank[1:]
	rec.Hold(l.trimmed+int64(len(l.records))+1, c.Event, c.Messages, &l.encoded)
	l.records = append(l.records, rec)
}
