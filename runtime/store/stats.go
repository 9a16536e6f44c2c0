package store

import "time"

// Stats counts the work of an instance in a store since it was opened, and the content of the store. Unknown numbers are -1.
type Stats struct {
	System string // the database, as OpenTelemetry names it: "postgresql", "sqlite"

	Transactions int64         // that were committed
	Writes       int64         // changes in them: of tasks, push configurations, notes
	Conflicts    int64         // changes that were decided again after one of another instance
	Sent         int64         // notifications of changes for other instances
	Received     int64         // notifications of other instances
	Lag          time.Duration // of the last notification

	Tasks, Bytes int64 // that the store keeps, of all instances
	Pools        []Pool
}

// Pool is a pool of connections.
type Pool struct {
	Name       string        // its purpose
	Used, Idle int           // connections
	Max        int           // connections
	Waited     time.Duration // for a connection, in all
	GaveUp     int64         // waits that ended without a connection
}

// Counter is a store that can be observed. Stats makes no request: it is quick, and works while the database is down.
type Counter interface {
	Store
	Stats() Stats
}

// Observer is an observer of a server that also sees the calls of its store: ObserveStore returns the store that the
// server uses in place of s. A store that is no [Counter] is in memory, and should be returned as it is.
type Observer interface {
	ObserveStore(s Store) Store
}
