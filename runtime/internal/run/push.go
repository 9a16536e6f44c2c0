package run

import (
	"context"

	"github.com/a2agen/a2agen/runtime/store"
)

// configuration is the one that came along with the message, for the task that is known by now; nil for none.
func (c *call) configuration() *store.Push {
	if c.push == nil {
		return nil
	}
	if c.push.ID == "" {
		c.push.ID = c.taskID()
		c.push.Config.ID = c.push.ID
	}
	c.push.Max = c.r.Limits.Pushes
	return c.push
}

// SetPush adds a configuration to a task, or puts it in the place of the one with its id.
func (r *Runner) SetPush(ctx context.Context, key store.Key, config *store.Push) error {
	config.Max = r.Limits.Pushes
	if err := r.Store.SetPush(ctx, key, *config); err != nil {
		return err
	}
	r.Deliveries.Wake() // the one before may have waited for its next try
	return nil
}
