package engine

import (
	"fmt"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/internal/budget"
	"github.com/a2agen/a2agen/runtime/internal/feed"
	"github.com/a2agen/a2agen/runtime/internal/invalid"
	"github.com/a2agen/a2agen/runtime/store"
)

// Bounds of a page of tasks (R308).
const (
	defaultPage = 50
	maxPage     = 100
)

// list carries out ListTasks (A2A 1.0 §3.1.4). Tasks come without history unless some is asked for.
func (r *Request) list(p *runtime.ListRequest) (any, error) {
	owner, err := r.owner(p.Tenant)
	if err != nil {
		return nil, err
	}
	size := defaultPage
	switch {
	case p.PageSize != nil && (*p.PageSize < 0 || *p.PageSize > maxPage):
		return nil, invalid.Field("pageSize", fmt.Sprintf("must be between 1 and %d", maxPage))
	case p.HistoryLength != nil && *p.HistoryLength < 0:
		return nil, invalid.Field("historyLength", "must not be negative")
	case p.PageSize != nil && *p.PageSize > 0: // 0 is what ProtoJSON writers send for "not set"
		size = *p.PageSize
	}
	history := p.HistoryLength
	if history == nil {
		history = new(int)
	}
	page, err := r.page(owner, store.Query{
		Context: p.ContextID, State: p.State, After: p.After, Size: size, Bytes: r.e.limits.Page, Token: p.PageToken,
		View: store.View{History: history, Artifacts: p.IncludeArtifacts}, Without: r.refused(),
	})
	if err != nil {
		return nil, err
	}
	for i, task := range page.Tasks {
		page.Tasks[i] = r.e.showTask(r.Context, task)
	}
	r.listed = &listed{tasks: page.Tasks, next: page.Next, size: size, total: page.Total}
	return r.listed.page(r.e.protocol), nil
}

// page reads a page of tasks, as get reads one task.
func (r *Request) page(owner store.Owner, query store.Query) (store.Page, error) {
	page, err := r.e.store.List(r.e.soon(), owner, query)
	if err != nil || page.Bytes <= budget.Uncounted {
		return page, err
	}
	page.Tasks = nil
	if err := r.Response.Reserve(r.Context, int64(page.Bytes)); err != nil {
		return page, err
	}
	return r.e.store.List(r.e.soon(), owner, query)
}

// listed is a page of tasks, kept in case that one of them cannot be written.
type listed struct {
	tasks       []runtime.Task
	next        string
	size, total int
}

func (l *listed) page(p *runtime.Protocol) any {
	return p.NewTaskPage(l.tasks, l.next, l.size, l.total)
}

// bare replaces the tasks that cannot be written by their id, context and state. It reports whether there are any.
func (l *listed) bare(r *Request) (found bool) {
	for i, task := range l.tasks {
		one := listed{tasks: []runtime.Task{task}, size: 1, total: 1}
		if _, err := r.Op.Append(nil, one.page(r.e.protocol)); err != nil {
			r.warn(task.TaskInfo().ID, err)
			l.tasks[i], found = feed.BareTask(r.e.protocol, task), true
		}
	}
	return found
}

// warn logs that content of a task cannot be written.
func (r *Request) warn(task string, err error) {
	r.Logger().Warn("what a task holds cannot be written over this binding", "task", task, "error", err)
}
