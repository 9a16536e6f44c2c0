package run

import (
	"context"
	"slices"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store"
)

// configuration is the one that came along with the message, for the task that is known by now; nil for none.
func (c *call) configuration() *store.Push {
	if c.push != nil && c.push.ID == "" {
		c.push.ID = c.taskID()
		c.push.Config.ID = c.push.ID
	}
	return c.push
}

// roomForPush refuses a configuration that would be one too many for its task.
func (r *Runner) roomForPush(ctx context.Context, key store.Key, config *store.Push) error {
	if config == nil {
		return nil
	}
	all, err := r.Store.Pushes(ctx, key)
	if err != nil {
		return err
	}
	has := func(p store.Push) bool { return p.ID == config.ID }
	if len(all) >= r.Limits.Pushes && !slices.ContainsFunc(all, has) {
		const full = "the task has as many push notification configurations as it may have, %d"
		return runtime.ErrInvalidParams.With(full, len(all))
	}
	return nil
}

// SetPush adds a configuration to a task, or puts it in the place of the one with its id.
func (r *Runner) SetPush(ctx context.Context, key store.Key, config *store.Push) error {
	h := r.tasks.use(key)
	defer r.tasks.drop(h)
	h.mu.Lock() // so that nobody else adds the last one
	defer h.mu.Unlock()
	if err := r.roomForPush(ctx, key, config); err != nil {
		return err
	}
	if err := r.Store.SetPush(ctx, key, *config); err != nil {
		return err
	}
	r.Deliveries.Wake() // the one before may have waited for its next try
	return nil
}
