package engine

import (
	"cmp"
	"context"
	"encoding/base64"
	"fmt"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/internal/deliver"
	"github.com/a2agen/a2agen/runtime/internal/feed"
	"github.com/a2agen/a2agen/runtime/internal/invalid"
	"github.com/a2agen/a2agen/runtime/internal/run"
	"github.com/a2agen/a2agen/runtime/store"
)

// pushing is what an engine has for push notifications.
type pushing interface {
	run.Deliveries
	// check says what is wrong with a configuration; nil: nothing.
	check(config *runtime.PushConfig) *runtime.Violation
	// serve carries out an operation on configurations.
	serve(r *Request, p *runtime.PushRequest) (Answer, error)
}

// Pusher makes what an engine has for push notifications: see [Pushing].
type Pusher func(e *Engine) pushing

// Pushing has an engine whose card declares push notifications send them. It is what a host without a sender never
// refers to, so that only agents with one link the worker and the operations.
func Pushing(sender deliver.Sender) Pusher {
	return func(e *Engine) pushing {
		c := deliver.Config{
			Store: e.store, Sender: sender, Observers: &e.Observers, Logger: e.log, Encode: e.encodePush,
			Join: e.protocol.NewArtifact, StoreTime: run.StoreTime, Grace: run.LastGrace,
		}
		if e.hooks != nil || e.protocol.Versions[0].Rules.Generations {
			c.Join = nil // a hook may have put something into an event, and a generation is that of one event
		}
		return &deliveries{deliver.New(c)}
	}
}

// deliveries is a worker with the operations on configurations.
type deliveries struct{ *deliver.Worker }

func (d *deliveries) check(config *runtime.PushConfig) *runtime.Violation {
	return d.Sender.Check(config)
}

func (d *deliveries) serve(r *Request, p *runtime.PushRequest) (Answer, error) { return r.push(p) }

// encodePush writes the body of a push notification in the words of a version. Content that cannot be written is left
// out: sending it again and again would hold back all that follows.
func (e *Engine) encodePush(version string, task runtime.Task, event runtime.Event) (out deliver.Encoded, err error) {
	v := e.Spoken(version)
	if v == nil {
		return out, fmt.Errorf("version %s is not spoken any more", version)
	}
	task = e.showTask(context.Background(), task)
	out.Version = v.Name
	if out.Body, out.LeftOut = e.protocol.AppendPush(nil, v.Version, task, event); out.LeftOut == nil {
		return out, nil
	}
	if task != nil {
		task = feed.BareTask(e.protocol, task)
	}
	out.Body, err = e.protocol.AppendPush(nil, v.Version, task, feed.BareEvent(e.protocol, event))
	return out, err
}

// pushes reports whether the agent sends push notifications.
func (e *Engine) pushes() bool { return e.pushing != nil }

// push carries out the operations on push configurations (A2A 1.0 §3.1.7 to §3.1.10). They belong
// to the owner of their task: for others there is no such task (R187).
func (r *Request) push(p *runtime.PushRequest) (a Answer, err error) {
	owner, err := r.owner(p.Tenant)
	switch {
	case err != nil:
	case p.TaskID == "":
		err = invalid.Field("taskId", "is required") // T29
	default:
		err = cmp.Or(checkName("taskId", p.TaskID), checkName("id", p.Config.ID))
	}
	if err != nil {
		return Answer{}, err
	}
	key := store.Key{Owner: owner, Task: p.TaskID}
	r.Subject.Task = p.TaskID
	if err := r.may(key); err != nil {
		return Answer{}, notFound(err, p.TaskID)
	}
	q := pushRequest{r, p, key}
	switch r.Op.Role {
	case runtime.RolePushCreate:
		a, err = r.value(q.create())
	case runtime.RolePushGet:
		a, err = r.value(q.get())
	case runtime.RolePushList:
		a, err = r.value(q.list())
	case runtime.RolePushDelete:
		err = q.delete()
	default:
		err = fmt.Errorf("operation %s decodes to a request for push configurations", r.Op.RPC)
	}
	return a, notFound(err, p.TaskID)
}

// pushRequest is a request for the push configurations of one task.
type pushRequest struct {
	*Request
	p   *runtime.PushRequest
	key store.Key
}

// create adds a configuration, or replaces the one with its id (R18). It is sent the events from now on; none, if the
// task has ended.
func (q pushRequest) create() (any, error) {
	config, err := q.configured("", q.p.Config)
	if err != nil {
		return nil, err
	}
	if config.ID == "" {
		config.ID = q.key.Task // as clients of older versions expect, who have one
		config.Config.ID = q.key.Task
	}
	if err := q.e.runner.SetPush(q.key, config); err != nil {
		return nil, err
	}
	return q.e.protocol.NewPushConfig(q.p.Tenant, q.p.TaskID, config.Config), nil
}

// configured checks a configuration, and gives it an id unless that is to be its task's.
func (r *Request) configured(field string, config runtime.PushConfig) (*store.Push, error) {
	if v := r.e.pushing.check(&config); v != nil {
		return nil, invalid.Field(field+v.Field, v.Description)
	}
	if config.ID == "" && !r.Version.Unnamed {
		config.ID = r.e.runner.NewID()
	}
	config.Tenant, config.TaskID = "", "" // the store knows whose it is
	return &store.Push{ID: config.ID, Version: r.Version.Name, Config: config, Tasks: r.Version.Rules.PushTask}, nil
}

// inline returns the configuration that comes with a message (R46). It is for the message's task: one that names another
// task or tenant is refused.
func (r *Request) inline(p *runtime.SendRequest, info *runtime.MessageInfo) (*store.Push, error) {
	const field = "configuration.taskPushNotificationConfig."
	config := p.Push
	switch {
	case !r.e.pushes():
		return nil, runtime.ErrPushNotificationNotSupported
	case config.TaskID != "" && config.TaskID != info.TaskID:
		return nil, invalid.Field(field+"taskId", "is not the task of the message")
	case config.Tenant != "" && config.Tenant != r.Subject.Tenant:
		return nil, invalid.Field(field+"tenant", "is not the tenant of the message")
	}
	if err := checkName(field+"id", config.ID); err != nil {
		return nil, err
	}
	return r.configured(field, *config)
}

// get returns a configuration. One that does not exist is reported as a task that does not (R19, T18). Before 1.0 a
// request need not name one.
func (q pushRequest) get() (any, error) {
	if q.p.Config.ID == "" && !q.Version.Unnamed {
		return nil, invalid.Field("id", "is required")
	}
	all, err := q.e.store.Pushes(q.e.soon(), q.key)
	if err != nil {
		return nil, err
	}
	for _, push := range all {
		if q.p.Config.ID == "" || push.ID == q.p.Config.ID {
			return q.e.protocol.NewPushConfig(q.p.Tenant, q.p.TaskID, push.Config), nil
		}
	}
	return nil, runtime.ErrTaskNotFound.With("it has no such push notification configuration")
}

// list returns the configurations of a task, by id (R20).
func (q pushRequest) list() (any, error) {
	if q.p.PageSize != nil && (*q.p.PageSize < 0 || *q.p.PageSize > maxPage) {
		return nil, invalid.Field("pageSize", fmt.Sprintf("must be between 1 and %d", maxPage))
	}
	after, err := base64.RawURLEncoding.DecodeString(q.p.PageToken)
	if err != nil {
		return nil, store.ErrCursor
	}
	all, err := q.e.store.Pushes(q.e.soon(), q.key)
	if err != nil {
		return nil, err
	}
	configs := make([]runtime.PushConfig, 0, len(all))
	next := ""
	for _, push := range all {
		if q.p.PageToken != "" && push.ID <= string(after) {
			continue
		}
		if q.p.PageSize != nil && *q.p.PageSize > 0 && len(configs) == *q.p.PageSize {
			next = base64.RawURLEncoding.EncodeToString([]byte(configs[len(configs)-1].ID))
			break
		}
		configs = append(configs, push.Config)
	}
	return q.e.protocol.NewPushPage(q.p.Tenant, q.p.TaskID, configs, next), nil
}

// delete removes a configuration, which need not be there (R21).
func (q pushRequest) delete() error {
	if q.p.Config.ID == "" {
		return invalid.Field("id", "is required")
	}
	return q.e.store.DeletePush(q.e.soon(), q.key, q.p.Config.ID)
}
