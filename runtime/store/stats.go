package store

import "time"

// Stats is what an instance has done in a store since it was opened, and what is there. Numbers that a store does not
// know, or not yet, are -1.
type Stats struct {
	System string // the database, as OpenTelemetry calls it: "postgresql", "sqlite"

	Transactions int64         // that were committed
	Writes       int64         // changes in them: of tasks, push configurations, notes
	Conflicts    int64         // changes that were decided anew, since another instance was faster
	Sent         int64         // notifications by which other instances hear of changes
	Received     int64         // notifications of others
	Lag          time.Duration // how long the last notification was on its way

	Tasks, Bytes int64 // that the store keeps, of all instances
	Pools        []Pool
}

// Pool is a pool of connections.
type Pool struct {
	Name       string        // what it is for
	Used, Idle int           // connections
	Max        int           // that it may have
	Waited     time.Duration // for a connection, in all
	GaveUp     int64         // those who got none in time
}

// Counter is a store that can be observed. Stats asks nobody: it is quick, and works without the database.
type Counter interface {
	Store
	Stats() Stats
}

// Observer is an observer of a server that sees the calls of its store, too: ObserveStore returns the store that the
// server is to use in the place of s. A store that is no [Counter] is in memory, and best left as it is.
type Observer interface {
	ObserveStore(s Store) Store
}
