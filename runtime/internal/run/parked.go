package run

import (
	"context"
	"sync"

	"github.com/a2agen/a2agen/runtime/store"
)

// maxParked is for how many tasks it is known what to cancel with them.
const maxParked = 10_000

// parked says what is to be canceled with tasks that wait with the question of another agent: no handler is there to do
// it. It is in memory alone, and says nothing of tasks that waited before the process began.
type parked struct {
	mu    sync.Mutex
	tasks map[store.Key][]func(context.Context) error
}

func (p *parked) put(key store.Key, cancel []func(context.Context) error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.tasks == nil {
		p.tasks = map[store.Key][]func(context.Context) error{}
	}
	if len(p.tasks) >= maxParked {
		for other := range p.tasks {
			delete(p.tasks, other)
			break
		}
	}
	p.tasks[key] = cancel
}

func (p *parked) take(key store.Key) []func(context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	cancel := p.tasks[key]
	delete(p.tasks, key)
	return cancel
}

// passOn notes that the call ends with the question of another agent.
func (e *conclusion) passOn(asked *askedCall) {
	if asked == nil {
		return
	}
	c := e.c
	c.task.notes.ask(asked)
	c.r.parked.put(store.Key{Owner: c.owner, Task: c.taskID()}, c.task.notes.takeOpen())
}

// cancelParked cancels the tasks of other agents for which a canceled task has waited.
func (r *Runner) cancelParked(key store.Key) {
	for _, cancel := range r.parked.take(key) {
		r.cancelOther(context.Background(), r.newBackgroundCall(), cancel)
	}
}
