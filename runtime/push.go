package runtime

import "fmt"

// AppendPush appends the body of a push notification about e, an event of task, which already shows it: a stream item,
// or before 1.0 the whole task as it now stands (A2A 1.0 §4.3.3, R18; [Rules.PushTask]).
func (p *Protocol) AppendPush(dst []byte, v *Version, task Task, e Event) ([]byte, error) {
	if !v.Rules.PushTask {
		return v.AppendEvent(dst, e)
	}
	if v.Rules.Places {
		var err error
		if task, err = p.Placed(task); err != nil {
			return dst, err
		}
	}
	for _, op := range v.Operations {
		if op.Role == RoleGet {
			return op.Append(dst, task)
		}
	}
	return dst, fmt.Errorf("encode a push notification: version %s has no operation that gets a task", v.Name)
}
