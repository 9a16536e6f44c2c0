package admin

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"
)

// Several makes one store of those of several databases over which owners are spread: each owner's tasks are in one of them.
func Several(databases []Store) Store { return several(databases) }

type several []Store

func (s several) Tasks(ctx context.Context, which Which) (all []TaskRow, err error) {
	for i, one := range s {
		rows, err := one.Tasks(ctx, which)
		if err != nil {
			return nil, err
		}
		for _, r := range rows {
			r.database = i
			all = append(all, r)
		}
	}
	if all, err = s.once(ctx, all); err != nil {
		return nil, err
	}
	slices.SortFunc(all, func(a, b TaskRow) int { return cmp.Or(b.At.Compare(a.At), strings.Compare(a.ID, b.ID)) })
	if which.Limit > 0 && len(all) > which.Limit {
		all = all[:which.Limit]
	}
	return all, nil
}

// once leaves out the tasks of callers that are on their way from one database to another, where the other one has them.
func (s several) once(ctx context.Context, rows []TaskRow) ([]TaskRow, error) {
	elsewhere := map[string]bool{}
	for _, r := range rows {
		if _, known := elsewhere[r.Principal]; known || !r.Away {
			continue
		}
		for _, one := range s {
			some, err := one.Tasks(ctx, Which{Principal: &r.Principal, Limit: 1})
			if err != nil {
				return nil, err
			}
			elsewhere[r.Principal] = elsewhere[r.Principal] || len(some) > 0 && !some[0].Away
		}
	}
	seen := map[[3]string]bool{}
	return slices.DeleteFunc(rows, func(r TaskRow) bool {
		key := [3]string{r.Principal, r.Tenant, r.ID}
		again := r.Away && (elsewhere[r.Principal] || seen[key]) // between two steps of a move it is away in both
		seen[key] = true
		return again
	}), nil
}

func (s several) Task(ctx context.Context, row TaskRow) (TaskPage, error) {
	return s[row.database].Task(ctx, row)
}

func (s several) Deliveries(ctx context.Context, dead bool) (all []PushRow, err error) {
	for _, one := range s {
		rows, err := one.Deliveries(ctx, dead)
		if err != nil {
			return nil, err
		}
		all = append(all, rows...)
	}
	return all, nil
}

func (s several) Check(ctx context.Context) (tasks int, wrong []string, err error) {
	for _, one := range s {
		n, more, err := one.Check(ctx)
		if err != nil {
			return 0, nil, err
		}
		tasks, wrong = tasks+n, append(wrong, more...)
	}
	return tasks, wrong, nil
}

func (s several) Prune(ctx context.Context, which Which, rested time.Duration, dry bool) (n int, err error) {
	return s.sum(func(one Store) (int, error) { return one.Prune(ctx, which, rested, dry) })
}

func (s several) Replay(ctx context.Context, task, id string) (n int, err error) {
	return s.sum(func(one Store) (int, error) { return one.Replay(ctx, task, id) })
}

// sum adds up what is done in each database, up to the first that fails.
func (s several) sum(do func(Store) (int, error)) (n int, err error) {
	for _, one := range s {
		more, err := do(one)
		if n += more; err != nil {
			return n, err
		}
	}
	return n, nil
}

func (s several) Close() (err error) {
	for _, one := range s {
		err = errors.Join(err, one.Close())
	}
	return err
}
