package server

import (
	"cmp"
	"errors"
	"log/slog"
	"os"

	"github.com/a2agen/a2agen/runtime/internal/engine"
	"github.com/a2agen/a2agen/runtime/store"
)

// EnvStore names the file in which an agent keeps its tasks, if it keeps them in one, or is "memory", the word of
// a2agen.yaml. A file of that name is "./memory".
const EnvStore = "A2A_STORE"

// Words of [EnvStore] that are no file: SQLite's own is understood, too.
const (
	inMemory       = "memory"
	inMemorySQLite = ":memory:"
)

// tasks is where tasks are kept.
type tasks struct {
	path  string      // "" when it is not the server's own
	own   store.Store // which the server opened
	brief string      // why they end with the process; "" if they do not
}

// Why tasks end with the process.
const (
	byDefault = `"store: sqlite" in a2agen.yaml keeps them in a file`
	byWord    = EnvStore + " says so"
)

var errNoFile = errors.New(EnvStore + " is set, but this agent keeps its tasks in memory: write \"store: sqlite\" in " +
	"a2agen.yaml and run \"a2agen generate\", or unset it")

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
	t.path = cmp.Or(path, cfg.StorePath)
	if t.own, err = cfg.OpenStore(t.path, cfg.Protocol); err != nil {
		return tasks{}, err
	}
	o.Store = t.own
	return t, nil
}

// close closes the store that was opened for an engine whose making failed. An engine closes its store itself.
func (t *tasks) close() error {
	if t.own == nil {
		return nil
	}
	return t.own.Close()
}

// announce logs where tasks are kept.
func (t *tasks) announce(log *slog.Logger) {
	switch {
	case t.brief != "":
		log.Info("tasks are kept in memory and end with this process: " + t.brief)
	case t.path != "":
		log.Info("tasks are kept in a file", "path", t.path)
	}
}
