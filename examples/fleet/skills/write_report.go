package skills

import (
	"context"
	"fmt"
	"time"

	"example.com/fleet/agent"
)

// WriteReport handles the skill "write-report". When its replica ends in the middle, another calls it again: the first section that it writes
// replaces those of the attempt before.
func (a *Agent) WriteReport(ctx context.Context, in *agent.WriteReportInput, t *agent.Task) (*agent.WriteReportOutput, error) {
	if err := t.Progress("Replica %s writes, attempt %d.", a.replica, t.Call().Attempt()); err != nil {
		return nil, err
	}
	w := t.Stream("report")
	for i := range in.Sections {
		select {
		case <-ctx.Done(): // canceled, out of time, or this replica shuts down
			return nil, context.Cause(ctx)
		case <-time.After(time.Duration(in.PauseMillis) * time.Millisecond):
		}
		if _, err := fmt.Fprintf(w, "Section %d of %d about %s, by replica %s.\n", i+1, in.Sections, in.Subject, a.replica); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return &agent.WriteReportOutput{Replica: a.replica, Attempt: int64(t.Call().Attempt()), Sections: in.Sections}, nil
}
