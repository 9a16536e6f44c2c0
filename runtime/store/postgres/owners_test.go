package postgres

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/a2agen/a2agen/runtime/store/internal/relational"
)

// A distributed database keeps the rows of an owner in one place, if it is told to. A statement goes there when it names the
// owner, its account or its principal, or a task, which has one owner. What names tasks with t.n is a page of one owner's list.
var (
	namesOwner = regexp.MustCompile(`\b(principal|owner|account|task|n)=\$\d|\baccount BETWEEN \$1 AND \$1|\bt\.n=ANY\(\$`)
	insertsRow = regexp.MustCompile(`^(WITH \w+ AS \()?INSERT INTO a2a\.(task|event|body|call|push|ticket|repeat|note|account)\b`)
	ofTables   = regexp.MustCompile(`\ba2a\.\w+`)
	nobodys    = []string{"a2a.meta", "a2a.wire", "a2a.instance", "a2a.block"}
)

// ofMany are the statements that do not. docs/operating.md says what they are for, in "Beyond one PostgreSQL".
var ofMany = []string{
	addUsageSQL, addCountsSQL, // sums of a batch
	heaviestSQL, mostNotesSQL, // who makes room
	restedSQL, sweepSQL, sweepRepeatsSQL, oldNotesSQL, idleOwnersSQL, lockOwnersSQL, deleteOwnersSQL, deleteAccountsSQL, foldLanesSQL, // sweeps
	relational.NextDueSQL, claimDueSQL, freeClaimsSQL, // notifications that are due
	orphansSQL, "SELECT n FROM a2a.task WHERE runner=$1 AND done<calls", "SELECT n FROM a2a.task WHERE n=ANY($1) AND runner=$2 AND done<calls", // instances
	revsSQL, numbersSQL, // of tasks that are watched
	relational.TicketSQL,
	wrongSums, wrongCounts, wrongLogs, wrongCalls, // of tests
}

// checkOwners reports statements of a store that are of many owners, and not known to be.
func checkOwners(t *testing.T, s *Store) {
	t.Helper()
	for _, texts := range []*texts{&s.texts, &s.fences, &s.events} {
		texts.m.Range(func(text, _ any) bool {
			sql := strings.TrimSpace(text.(string))
			known := slices.ContainsFunc(ofMany, func(one string) bool { return strings.TrimSpace(one) == sql })
			for _, table := range ofTables.FindAllString(sql, -1) {
				if !known && !slices.Contains(nobodys, table) && !namesOwner.MatchString(sql) && !insertsRow.MatchString(sql) {
					t.Errorf("a statement names no owner and no task:\n%s", sql)
					break
				}
			}
			return true
		})
	}
}
