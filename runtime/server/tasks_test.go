package server_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/a2agen/a2agen/a2a"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/server"
	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/store/memory"
)

// filed is a store that knows whether it was closed.
type filed struct {
	store.Store
	path   string
	closed int
}

func (f *filed) Close(left ...store.Key) error { f.closed++; return f.Store.Close(left...) }

// TestTasksAreKeptWhereItIsSaid: an option goes first, then the environment, then what was generated. The server closes it.
func TestTasksAreKeptWhereItIsSaid(t *testing.T) {
	var opened *filed
	cfg := server.Config{Protocol: a2a.Protocol(), Card: readCard(t, testCard), Skills: []server.Skill{run("s", nil)}}
	cfg.StorePath = "agent.db"
	cfg.OpenStore = func(path, agent string, p *runtime.Protocol) (store.Store, error) {
		if p != cfg.Protocol {
			t.Error("it is opened for another protocol")
		}
		if agent != cfg.Card.CardInfo().Name {
			t.Errorf("it is opened for %q", agent)
		}
		if path == "broken.db" {
			return nil, errors.New("it is in use by process 7")
		}
		opened = &filed{Store: memory.New(memory.Limits{}), path: path}
		return opened, nil
	}
	open := func(env string, opts ...server.Option) (*server.Server, error) {
		opened = nil
		t.Setenv(server.EnvStore, env)
		return server.New(cfg, opts...)
	}
	for env, want := range map[string]string{"": "agent.db", "/data/x.db?synchronous=full": "/data/x.db?synchronous=full"} {
		s, err := open(env)
		if err != nil || opened == nil || opened.path != want {
			t.Fatalf("with %q: %v, %+v", env, err, opened)
		}
		if opened.closed > 0 {
			t.Error("it is closed too early")
		}
		if err := s.Close(); err != nil || opened.closed != 1 {
			t.Errorf("closed %d times: %v", opened.closed, err)
		}
	}
	for _, word := range []string{"memory", ":memory:"} {
		s, err := open(word)
		if err != nil || opened != nil {
			t.Fatalf("with %q: %v, %+v", word, err, opened)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	own := &filed{Store: memory.New(memory.Limits{})}
	for i, opt := range []server.Option{server.InMemory(), server.WithStore(own)} {
		s, err := open("x.db", opt)
		if err != nil || opened != nil {
			t.Errorf("beside an option: %v, %+v", err, opened)
		}
		if err := s.Close(); err != nil || own.closed != i {
			t.Errorf("option %d: closed %d times: %v", i, own.closed, err)
		}
	}
	if _, err := open("broken.db"); err == nil || !strings.Contains(err.Error(), "in use by process 7") {
		t.Errorf("what cannot be opened: %v", err)
	}
	cfg.Skills = append(cfg.Skills, cfg.Skills[0])
	if _, err := open(""); err == nil || opened == nil || opened.closed != 1 {
		t.Errorf("a server that cannot work leaves the store open: %v", err)
	}
	cfg.OpenStore, cfg.Skills = nil, cfg.Skills[1:]
	if s, err := open("memory"); err != nil || s.Close() != nil {
		t.Errorf("an agent without a file, in memory: %v", err)
	}
	if _, err := open("x.db"); err == nil || !strings.Contains(err.Error(), `write "store: sqlite", or "store: postgres", in a2agen.yaml`) {
		t.Errorf("a file for an agent without: %v", err)
	}
}
