package taskstate

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/a2agen/a2agen/runtime"
)

func TestACursorGoesThroughADelivery(t *testing.T) {
	c := NewCursor(3)
	if !c.Wake(100) || c.Wake(200) || c.Due != 100 {
		t.Fatalf("woken: %+v", c)
	}
	c.Claim(7, 100, time.Minute)
	if c.Wake(101) || c.Due != 100+int64(time.Minute) {
		t.Errorf("an event moves a claim: %+v", c)
	}
	if err := c.Settle(8, Outcome{Sent: 4}, 5, 200); !errors.Is(err, ErrLost) {
		t.Errorf("another holder settles it: %v", err)
	}
	for _, step := range []struct {
		name string
		o    Outcome
		want Cursor
	}{
		{"it fails", Outcome{Again: 50}, Cursor{Next: 4, Attempt: 1, Since: 200, Due: 250}},
		{"it fails again", Outcome{Again: 50}, Cursor{Next: 4, Attempt: 2, Since: 200, Due: 250}},
		{"one is sent, one is left", Outcome{Sent: 4, Until: 5}, Cursor{Next: 5, Until: 5, Due: 200}},
		{"the last is sent", Outcome{Sent: 5}, Cursor{Next: 6}},
		{"it dies", Outcome{Dead: "gone"}, Cursor{Next: 6, Dead: "gone"}},
	} {
		c.Claim(9, 190, time.Minute)
		if err := c.Settle(9, step.o, 5, 200); err != nil || c != step.want {
			t.Errorf("%s: %+v, %v", step.name, c, err)
		}
	}
	if c.Wake(300) {
		t.Error("a dead one is woken")
	}
	if c.Replace(6, 400); c != (Cursor{Next: 6, Due: 400}) {
		t.Errorf("replaced when it is behind: %+v", c)
	}
}

func TestRoomIsMadeOnlyWhereThatIsEnough(t *testing.T) {
	one := func(bytes int64) Holding { return Holding{1, bytes} }
	account := func(held, rested, limit Holding) *Account { return &Account{held, rested, limit} }
	lots := account(Holding{}, Holding{}, Holding{100, 10_000})
	for _, c := range []struct {
		name        string
		own, all    *Account
		stays, more Holding
		want        Verdict
	}{
		{"room", lots, lots, Holding{}, one(10), Fits},
		{"an own task goes", account(Holding{5, 90}, one(30), Holding{9, 100}), lots, Holding{}, one(30), Evict},
		{"it is not enough", account(Holding{5, 90}, one(10), Holding{9, 100}), lots, Holding{}, one(30), Full},
		{"it is the one that grows", account(Holding{5, 90}, one(30), Holding{9, 100}), lots, one(30), Holding{0, 30}, Full},
		{"another's task goes", lots, account(Holding{9, 90}, one(10), Holding{9, 1000}), Holding{}, one(1), Evict},
		{"what shrinks fits", account(Holding{9, 90}, Holding{}, Holding{1, 1}), lots, Holding{}, Holding{0, -5}, Fits},
	} {
		if got := Room(c.own, c.all, c.stays, c.more); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
	if got := Share(Holding{11, 100}, Holding{Bytes: 7}, true); got != (Holding{5, 7}) {
		t.Errorf("the share of a principal: %v", got)
	}
	if got := Share(Holding{11, 100}, Holding{}, false); got != (Holding{11, 100}) {
		t.Errorf("the share of callers without one: %v", got)
	}
	if !PushRoom(1, 3, 4, true) || PushRoom(2, 3, 4, true) || PushRoom(0, 4, 4, true) || !PushRoom(3, 3, 4, false) {
		t.Error("room for push configurations")
	}
}

func TestTheLongestEndedTaskGoesFirst(t *testing.T) {
	order := []Resting{{Ended, 5, 2}, {Ended, 6, 1}, {Ended, 6, 3}, {Parked, 1, 4}, {Parked, 1, 5}}
	shuffled := []Resting{order[3], order[2], order[4], order[1], order[0]}
	if slices.SortFunc(shuffled, Resting.Compare); !slices.Equal(shuffled, order) {
		t.Errorf("%v", shuffled)
	}
}

func TestACallIsBegunAgainAfterACrash(t *testing.T) {
	for _, c := range []struct {
		attempt int
		retry   bool
		want    Takeover
	}{{1, false, BeginAgain}, {2, false, NotRepeated}, {2, true, BeginAgain}, {3, true, BeginAgain}, {4, true, TooOften}} {
		if got := AfterCrash(c.attempt, c.retry); got != c.want {
			t.Errorf("attempt %d, retry %t: %d, want %d", c.attempt, c.retry, got, c.want)
		}
	}
}

func TestNothingHappensToATaskThatHasEnded(t *testing.T) {
	for from := runtime.StateUnspecified; from <= runtime.StateAuthRequired; from++ {
		for cause := range moves {
			for to := runtime.StateUnspecified; to <= runtime.StateAuthRequired; to++ {
				if May(from, Cause(cause), to) && (from.Terminal() || from == runtime.StateUnspecified || to <= runtime.StateSubmitted) {
					t.Errorf("cause %d moves a task from %s to %s", cause, from, to)
				}
			}
		}
	}
}

// TestTheTableIsTheOneOfTheDocs holds docs/internals/engine.md to the table.
func TestTheTableIsTheOneOfTheDocs(t *testing.T) {
	docs, err := os.ReadFile("../../docs/internals/engine.md")
	if err != nil {
		t.Fatal(err)
	}
	for cause, name := range []string{"handler", "message", "question", "begin", "cancel", "give up"} {
		row := "| " + name + " | " + moves[cause].from.String() + " | " + moves[cause].to.String() + " |"
		if !strings.Contains(string(docs), row) {
			t.Errorf("docs/internals/engine.md has no row\n%s", row)
		}
	}
}

func (s states) String() string {
	var names []string
	for one := runtime.StateUnspecified; one <= runtime.StateAuthRequired; one++ {
		if s&(1<<one) != 0 {
			names = append(names, one.String())
		}
	}
	return strings.Join(names, ", ")
}
