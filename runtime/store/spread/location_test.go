package spread

import (
	"context"
	"testing"

	"github.com/a2agen/a2agen/runtime/store/memory"
)

func TestSeveralDatabasesAreNamedAtTheStart(t *testing.T) {
	open := func(context.Context) (Database, error) { return Database{Store: memory.New(memory.Limits{})}, nil }
	s, err := New([]Place{{"db2:5432/agents", open}, {"db1:5432/agents", open}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	if kind, address := s.Location(); kind != "several databases" || address != "db1:5432/agents db2:5432/agents" {
		t.Errorf("%s at %s", kind, address)
	}
}
