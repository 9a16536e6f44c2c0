package memory_test

import (
	"testing"

	"github.com/a2agen/a2agen/internal/test/a2amore"
	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/store/memory"
	"github.com/a2agen/a2agen/testkit/storetest"
)

func TestMemoryHasGenerations(t *testing.T) {
	p := a2amore.Protocol()
	storetest.Generations(t, func(*testing.T) storetest.Harness {
		return storetest.Harness{Protocol: p, Open: func(_ *testing.T, l memory.Limits) store.Store {
			m := memory.New(l)
			m.Pack(memory.Coding{Append: p.Versions[0].AppendEvent, Read: p.Versions[0].ReadEvent})
			return m
		}}
	})
}
