package sqlite

import (
	"context"

	"github.com/a2agen/a2agen/runtime/store/internal/relational"
	"github.com/a2agen/a2agen/runtime/store/internal/stored"
)

// metaSQL stands for [relational.MetaColumns]. What the row of a task does not have is in other tables; how many parts its content has
// is counted when that is read, and so are the bytes of events after the last body.
const metaSQL = `t.n, t.version, t.context, t.skill, t.clientid, t.trace, t.at, t.oldest, t.charged, t.asked, t.input, t.saved, t.log, length(t.head),
	coalesce((SELECT length(doc) FROM body WHERE task=t.n ORDER BY version DESC LIMIT 1), 0),
	coalesce((SELECT max(version) FROM body WHERE task=t.n), 0), 0, t.state, EXISTS(SELECT 1 FROM ticket WHERE task=t.n), t.runner,
	(SELECT count(*) FROM push WHERE task=t.n), ` + versionSQL + `, t.epoch, t.calls, t.done,
	(SELECT attempt FROM call WHERE task=t.n AND n=t.done+1), (SELECT made FROM call WHERE task=t.n AND n=t.done+1),
	(SELECT stamp FROM call WHERE task=t.n AND n=t.done+1), NULL, t.said, 0, t.status, 0, t.made, 0, t.rested`

// versionSQL is the version of a task: chunks of artifacts are not noted in its row.
const versionSQL = "max(t.version, coalesce((SELECT max(seq) FROM event WHERE task=t.n), 0))"

// load reads a whole task that is about to be changed.
func load(b *relational.Base, which relational.Which) (*stored.Row, error) {
	is, err := b.LoadOne(context.Background(), relational.Latest, which)
	if err != nil {
		return nil, err
	}
	return is.Row, stamps(b, is.N, &is.Meta)
}

// stamps reads those of the last updates.
func stamps(b *relational.Base, n int64, m *stored.Meta) error {
	last := m.Stamps[:0]
	return b.Ask(context.Background(), relational.Question{
		SQL: "SELECT stamp FROM event WHERE task=$1 AND stamp<>0 ORDER BY seq DESC LIMIT $2", Args: []any{n, len(m.Stamps)},
		Row: func(row relational.Row) error {
			var stamp int64
			err := row.Scan(&stamp)
			last = append(last, uint64(stamp)) //nolint:gosec // bits
			return err
		}})
}
