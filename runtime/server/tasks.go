package server

import (
	"cmp"
	"errors"
	"log/slog"
	"os"

	"github.com/a2agen/a2agen/runtime/internal/engine"
	"github.com/a2agen/a2agen/runtime/store"
)

// EnvStore is the address of the store in which an agent keeps its tasks, if it keeps them in one: the path of a file for
// "store: sqlite" in a2agen.yaml, a URL for "store: postgres". "memory", the word of a2agen.yaml, keeps them in memory; a file of that name is "./memory".
const EnvStore = "A2A_STORE"

// Words of [EnvStore] that are no address: SQLite's own is understood, too.
const (
	inMemory       = "memory"
	inMemorySQLite = ":memory:"
)

// tasks is where tasks are kept.
type tasks struct {
	own   store.Store // which the server opened; nil when it is not the server's own
	brief string      // why they end with the process; "" if they do not
}

// Why tasks end with the process.
const (
	byDefault = `"store: sqlite" in a2agen.yaml keeps them in a file, "store: postgres" in a database`
	byWord    = EnvStore + " says so"
)

var errNoFile = errors.New(EnvStore + " is set, but this agent keeps its tasks in memory: write \"store: sqlite\", or \"store: " +
	"postgres\", in a2agen.yaml and run \"a2agen generate\", or unset it")

// openTasks opens what the configuration says, unless an option has said otherwise.
func openTasks(cfg Config, o *engine.Options) (t tasks, err error) {
	path := os.Getenv(EnvStore)
	switch {
	case o.Store != nil:
		return t, nil
	case path == inMemory, path == inMemorySQLite:
		return tasks{brief: byWord}, nil
	case cfg.OpenStore == nil && path != "":
		return t, errNoFile
	case cfg.OpenStore == nil:
		return tasks{brief: byDefault}, nil
	}
	t.own, err = cfg.OpenStore(cmp.Or(path, cfg.StorePath), cfg.Card.CardInfo().Name, cfg.Protocol)
	if err != nil {
		return tasks{}, err
	}
	o.Store = t.own
	return t, nil
}

// announce logs where tasks are kept.
func (t *tasks) announce(log *slog.Logger) {
	if t.brief != "" {
		log.Info("tasks are kept in memory and end with this process: " + t.brief)
	}
	if s, ok := t.own.(store.Located); ok {
		kind, address := s.Location()
		log.Info("tasks are kept in "+kind, "address", address)
	}
}
