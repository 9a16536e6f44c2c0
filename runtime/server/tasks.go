package server

import (
	"cmp"
	"errors"
	"log/slog"
	"os"

	"github.com/a2agen/a2agen/runtime/engine"
	"github.com/a2agen/a2agen/runtime/store"
)

// EnvStore names the file in which an agent keeps its tasks, if it keeps them in one.
const EnvStore = "A2A_STORE"

// tasks is where tasks are kept.
type tasks struct {
	path  string      // "" when it is not the server's own
	own   store.Store // which the server opened
	brief bool        // they end with the process
}

var errNoFile = errors.New(EnvStore + " is set, but this agent keeps its tasks in memory: write \"store: sqlite\" in " +
	"a2agen.yaml and run \"a2agen generate\", or unset it")

// openTasks opens what the configuration says, unless an option has said otherwise.
func openTasks(cfg Config, o *engine.Options) (t tasks, err error) {
	path := os.Getenv(EnvStore)
	switch {
	case o.Store != nil:
		return t, nil
	case cfg.OpenStore == nil && path != "":
		return t, errNoFile
	case cfg.OpenStore == nil:
		return tasks{brief: true}, nil
	}
	t.path = cmp.Or(path, cfg.StorePath)
	if t.own, err = cfg.OpenStore(t.path, cfg.Protocol); err != nil {
		return tasks{}, err
	}
	o.Store = t.own
	return t, nil
}

// close closes what was opened for an engine that did not come to be, which would close it.
func (t *tasks) close() error {
	if t.own == nil {
		return nil
	}
	return t.own.Close()
}

// announce tells who starts the agent where tasks are kept.
func (t *tasks) announce(log *slog.Logger) {
	switch {
	case t.brief:
		log.Info("tasks are kept in memory and end with this process: \"store: sqlite\" in a2agen.yaml keeps them in a file")
	case t.path != "":
		log.Info("tasks are kept in a file", "path", t.path)
	}
}
