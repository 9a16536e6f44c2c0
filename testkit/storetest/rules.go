package storetest

import (
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/a2agen/a2agen/runtime/store/memory"
)

// The rules of tasks, as rows: a step, and after "->" what the store answers, as far as it matters. A row without "->"
// must succeed. The clock stands still but for what steps wait.

// script is the test of a rule.
type script struct {
	name   string
	limits memory.Limits
	rows   string
}

// play makes the steps of a script. A store whose clock cannot be set waits a moment, but not for hours: what comes after that is
// left out, and so is what comes after the end of an instance where there are no others.
func (s *suite) play(sc *script) {
	clock := start
	d := s.side(nil, func() time.Time { return clock })
	if s.OpenAt != nil {
		d.in = s.OpenAt(s.T, sc.limits, d.now)
	} else {
		d.in = s.Open(s.T, sc.limits)
	}
	defer func() { _ = d.in.Close() }()
	stamp := stamps{of: map[string]uint64{}}
	for row, want := range s.rows(sc.rows) {
		if s.OpenAt == nil && row.Wait > 10*time.Millisecond || row.Op == "crash" && s.Heir == nil || row.Op == "leave" && s.Leave == nil {
			s.Logf("left out from %q on", row)
			break
		}
		if clock = clock.Add(row.Wait); s.OpenAt == nil {
			time.Sleep(row.Wait)
		}
		if row.Task != "" && !slices.Contains(d.tasks, row.Task) {
			d.tasks = append(d.tasks, row.Task)
			slices.Sort(d.tasks)
		}
		a := d.do(&row, stamp.next(&row))
		if a.err != nil && want == nil {
			s.Fatalf("%s: %v", row, a.err)
		}
		for _, fact := range want {
			if fact != a.more && !slices.Contains(a.facts, fact) {
				s.Errorf("%s -> %s, want %s", row, strings.Join(a.facts, ", "), fact)
			}
		}
	}
	if s.Wrong != nil {
		if wrong, err := s.Wrong(d.in); err != nil || len(wrong) > 0 {
			s.Errorf("in the end the store counts what is not there: %q, %v", wrong, err)
		}
	}
}

// rows reads the steps of a script, and what is expected of each; nil: no error. "9x" before a step repeats it.
func (s *suite) rows(script string) iter.Seq2[step, []string] {
	return func(yield func(step, []string) bool) {
		for line := range strings.Lines(script) {
			line, _, _ = strings.Cut(line, "#")
			row, facts, expects := strings.Cut(strings.TrimSpace(line), "->")
			if row == "" {
				continue
			}
			times := 1
			if before, after, _ := strings.Cut(row, "x "); after != "" {
				if n, err := strconv.Atoi(before); err == nil {
					times, row = n, after
				}
			}
			st, err := parse(row)
			if err != nil {
				s.Fatal(err)
			}
			var want []string
			for fact := range strings.SplitSeq(facts, ",") {
				if expects {
					want = append(want, strings.TrimSpace(fact))
				}
			}
			for range times {
				if !yield(st, want) {
					return
				}
			}
		}
	}
}

var scripts = []script{
	// Of several reasons the first of this order is the answer.
	{"Reasons", memory.Limits{Pushes: 1}, `
		create t1 call repeat=1
		create t2 more=1 completed
		create t3 push=1
		unfit t4 repeat=1 handler other=1 stale=9 redeem=9 push=9        -> not found
		unfit t1 same repeat=1 handler other=1 stale=9 redeem=9 push=9   -> version 1, begins 1
		unfit t2 repeat=1 handler other=1 stale=9 redeem=9 push=9        -> repeated t1, call 1, other
		unfit t1 repeat=1 handler other=1 stale=9 redeem=9 push=9        -> repeated t1, call 1, same
		unfit t1 handler other=1 stale=9 redeem=9 push=9                 -> lost
		unfit t1 handler stale=9 redeem=9 push=9                         -> conflict
		unfit t1 handler redeem=9 push=9                                 -> unfit
		unfit t1 handler kind=1                                          -> unfit
		unfit t1 handler kind=2                                          -> unfit   # a task is no update
		chunk t1 stale=-1                                                -> conflict
		status t1 working handler redeem=9 push=9                        -> no ticket
		status t1 working handler push=9                                 -> too large
		status t1 working handler push=1                                 -> full
		status t1 working handler                                        -> version 2
		unfit t2 handler other=1 stale=9 redeem=9 push=9                 -> ended
		set t4 push=9                                                    -> not found
		status t1 working call handler done                              -> unfit
		status t1 completed call                                         -> unfit
		head t1                                                          -> version 2, calls 1
		status t3 canceled
		chunk t3                                                         -> ended
		create t4 more=1 rejected
		chunk t4 stale=1                                                 -> ended
		create t5 more=1 failed
		chunk t5                                                         -> ended`},

	// A handler's update need not know the version, and is refused once the epoch is another.
	{"Epochs", memory.Limits{}, `
		create t1 call                            -> epoch 1, begins 1
		status t1 working                         -> version 2
		chunk t1 handler                          -> version 3, epoch 1
		chunk t1 handler other=1                  -> lost
		chunk t1 handler other=1000000            -> lost
		chunk t1 handler stale=1                  -> conflict
		status t1 input-required handler done     -> version 4, epoch 2, begins none
		chunk t1 handler other=-1                 -> lost
		chunk t1 handler                          -> lost
		status t1 working call                    -> epoch 3, begins 2, attempt 1
		status t1 canceled                        -> epoch 4
		chunk t1 handler other=-1                 -> ended
		events t1                                 -> 5 events`},

	// What comes twice with one stamp is made once: of the last eight updates, and of the one that began the call at work.
	{"Stamps", memory.Limits{}, `
		create t1 call                    -> version 1, epoch 1, begins 1
		again t1                          -> version 1, epoch 1, begins 1, attempt 1
		create t1 call                    -> exists
		create t1 unstamped               -> exists
		chunk t1 handler unstamped
		chunk t1 unstamped stale=1        -> conflict
		status t1 completed handler done  -> version 3
		again t1                          -> version 3, begins none
		crash
		again t1                          -> version 3`},
	{"EightStamps", memory.Limits{}, `
		create t1
		status t1 working call   -> begins 1
		9x chunk t1
		again t1 back=10         -> exists
		again t1 back=9          -> version 11, begins 1
		again t1 back=8          -> conflict
		again t1 back=7          -> version 11
		crash
		again t1 back=8          -> conflict
		again t1 back=7          -> version 11`},

	// One call is at work at a time, the others wait in order, and the end of the task ends all.
	{"Calls", memory.Limits{}, `
		create t1 call                                -> begins 1, attempt 1, made 0, call 1 of t1
		3x status t1 working call                     -> begins none
		head t1                                       -> calls 4, done 0
		whole t1 name=1 handler done                  -> begins 2, attempt 1, made 1, call 2 of t1, epoch 1
		again t1                                      -> begins 2
		status t1 working handler done more=2         -> begins 3, made 3, call 3 of t1
		status t1 input-required handler done         -> begins 4, made 3, call 4 of t1
		status t1 completed handler                   -> begins none
		head t1                                       -> calls 4, done 4
		create t2 call
		status t2 working call
		status t2 completed handler done              -> begins none
		head t2                                       -> calls 2, done 2
		crash
		claim                                         -> 0 claimed`},

	// The tasks of an instance that crashed are taken over, once, by skill; its own updates are lost then.
	{"Claim", memory.Limits{}, `
		create t1 call repeat=1
		create t2 call
		create t3 call skill=1
		create t4
		create t5 call
		status t5 completed handler done
		chunk t1 handler
		crash
		claim skill=9                -> 0 claimed
		claim size=1                 -> 1 claimed
		claim                        -> 1 claimed
		claim skill=1                -> 1 claimed, t3 call 1, t3 attempt 2, t3 made 0, t3 call 1 of t3, t3 epoch 2
		claim                        -> 0 claimed
		claim skill=1                -> 0 claimed
		chunk t1 handler             -> version 3, epoch 2
		chunk t1 handler other=-1    -> lost
		chunk t2 handler             -> version 2
		create t6 repeat=1           -> repeated t1, call 1`},
	{"Attempts", memory.Limits{}, `
		create t1 call
		whole t1 handler
		crash
		claim                              -> t1 call 1, t1 attempt 2, t1 made 0
		crash
		status t1 working call             -> begins none     # before the work is taken over
		claim                              -> t1 call 1, t1 attempt 3, t1 made 0
		crash
		claim                              -> t1 attempt 4
		status t1 working handler done     -> begins 2, attempt 1, made 1`},
	{"GiveBack", memory.Limits{}, `
		create t1 call
		status t1 working call
		create t2 call
		leave t2                           # which counts an attempt
		chunk t1 handler                   -> lost
		claim                              -> 2 claimed, t1 call 1, t1 attempt 1, t2 attempt 2
		status t1 working handler done     -> begins 2, attempt 1`},

	// A message that was sent before is found out, for a while.
	{"Repeats", memory.Limits{}, `
		create t1 repeat=1
		create t2 repeat=1                     -> repeated t1, call 0, other
		status t1 working call repeat=1        -> repeated t1, call 0, same
		status t1 working call repeat=2        -> version 2
		again t1                               -> version 2
		status t1 working call repeat=2        -> repeated t1, call 1, same
		create ann1 repeat=1
		create acme1 repeat=1
		create bob1 repeat=1
		create acme2 repeat=1                  -> repeated acme1
		create t2 repeat=2 wait=59m59s         -> repeated t1, call 1, other
		create t2 repeat=2 wait=1s`},

	// A ticket is good once, for its own task.
	{"Tickets", memory.Limits{}, `
		create acme1 call
		status acme1 auth-required handler done ticket=1
		create t1
		status t1 auth-required ticket=3
		show ticket=1                                    -> acme1, a ticket
		show ticket=2                                    -> no ticket
		status acme1 working redeem=2 call               -> no ticket
		status t1 working redeem=1 call                  -> no ticket
		status acme1 working redeem=1 call stale=1       -> conflict
		status acme1 working redeem=1 call               -> version 3, begins 2
		again acme1                                      -> version 3, begins 2
		show ticket=1                                    -> no ticket
		status acme1 working redeem=1 call               -> no ticket
		crash
		claim                                            -> acme1 call 2 of acme1
		show ticket=3                                    -> t1, a ticket
		show ticket=3 wait=1h                            -> no ticket
		status t1 working redeem=3                       -> no ticket`},

	// Tickets end with their task, with the use of another, with their time, and when there are too many, but not with
	// other updates.
	{"TicketsEnd", memory.Limits{Tasks: 2}, `
		create t1 call
		status t1 auth-required ticket=1 good=30m
		status t1 auth-required ticket=2 good=-1s
		show ticket=2                       -> no ticket
		status t1 working redeem=2          -> no ticket
		status t1 auth-required ticket=5
		status t1 auth-required ticket=4
		status t1 auth-required ticket=3
		show ticket=1                       -> t1
		status t1 auth-required ticket=6    # five: the one that ends first goes
		show ticket=1                       -> no ticket
		status t1 auth-required ticket=7    # and of equal ones the first
		show ticket=5                       -> no ticket
		status t1 working call
		show ticket=3                       -> t1
		status t1 working redeem=3 call     -> begins none
		show ticket=4                       -> no ticket
		status t1 working redeem=4          -> no ticket
		status t1 auth-required ticket=1
		status t1 canceled
		show ticket=1                       -> no ticket
		status t1 working redeem=1          -> ended
		create t2
		status t2 auth-required ticket=2
		create t3                           # t1 goes
		create t4                           # t2 goes
		show ticket=2                       -> no ticket`},

	// Of two tickets with one hash the later one counts, whatever happens to the task of the first.
	{"OneTicket", memory.Limits{}, `
		create t1
		create t2
		status t1 auth-required ticket=1
		status t2 auth-required ticket=1
		show ticket=1                        -> t2
		status t1 working redeem=1           -> no ticket
		status t1 canceled
		show ticket=1                        -> t2
		status t2 auth-required ticket=1
		status t2 working redeem=1
		show ticket=1                        -> no ticket`},

	// A task has push notification configurations by id, which have room in the store and in the half of it that an owner has.
	{"Pushes", memory.Limits{}, `
		create t1 push=1                     -> pushed
		status t1 working push=3             -> pushed
		set t1 push=2
		set t1 push=1 size=3
		pushes t1                            -> p1 https://example.com/p1xxx, p2 https://example.com/p2, p3 https://example.com/p3
		unset t1 push=2
		unset t1 push=2
		unset t1 push=6
		set ann1 push=1                      -> not found
		unset ann1                           -> not found
		pushes ann1                          -> not found
		set t1 push=4 max=2                  -> too many
		set t1 push=4 max=3
		chunk t1 push=5 max=3                -> too many
		set t1 push=1 max=1
		crash
		pushes t1                            -> p1 https://example.com/p1, p3 https://example.com/p3, p4 https://example.com/p4`},
	{"PushRoom", memory.Limits{Pushes: 4}, `
		create ann1 push=1
		create acme1 push=1
		create acme2 push=1                  -> full
		create bob1
		set bob1 push=1
		set bob1 push=1
		chunk bob1 push=2
		set bob1 push=3                      -> full
		create t1 push=1                     -> full
		create t1
		status t1 auth-required ticket=1
		status t1 working redeem=1 push=1    -> full
		show ticket=1                        -> t1
		unset bob1 push=2
		status t1 working redeem=1 push=1`},
	{"PushSize", memory.Limits{}, `
		create t1
		create t2 push=7                     # 9 kB, however they are written
		set t1 push=7
		create t3 push=8                     -> unfit
		set t1 push=8                        -> unfit
		status t1 working push=8             -> unfit
		create t3 push=9                     -> too large
		set t1 push=9                        -> too large
		status t1 working push=9             -> too large
		left                                 -> t1 t2`},

	// Events after a configuration are due to it, in order, and claimed by one at a time.
	{"Deliveries", memory.Limits{}, `
		due                          -> 0 due, never
		create t1
		chunk t1
		set t1 push=1
		due                          -> 0 due
		chunk t1
		set t1 push=2
		chunk t1                     -> version 4, pushed
		due                          -> 2 due, t1 p1 from 3, t1 p2 from 4
		due                          -> 0 due, later
		chunk t1                     # while it is on its way
		settle back=1 push=0
		settle back=1 push=0         -> lost
		settle back=1 push=1
		due                          -> 2 due, t1 p1 from 4, t1 p2 from 5
		settle push=0 travels        # one arrived: the next is 5
		settle push=1
		due                          -> 1 due, t1 p1 from 5 to 6
		settle
		due                          -> 0 due
		status t1 completed
		due                          -> 2 due, t1 p1 from 6, t1 p2 from 6
		unset t1 push=1
		settle push=0                -> lost
		settle push=1`},

	// They are tried again, or given up, until the configuration is set anew.
	{"FailedDeliveries", memory.Limits{}, `
		create t1
		set t1 push=1
		chunk t1
		due                          -> t1 p1 from 2
		settle fails
		settle                       -> lost
		chunk t1                     # makes nothing due before its time
		due                          -> 0 due, later
		set t1 push=1
		due                          -> 1 due, t1 p1 from 2
		settle later
		due                          -> 0 due, later
		set t1 push=1
		due                          -> 1 due, t1 p1 from 2
		settle dead
		chunk t1
		due                          -> 0 due
		set t1 push=1
		due                          -> 1 due, t1 p1 from 2
		settle fails
		due wait=1m                  -> 1 due, t1 p1 from 2 attempt 1, failed after 0s
		settle fails
		due wait=1m                  -> 1 due, t1 p1 from 2 attempt 2, failed after 0s
		settle later
		due wait=1m                  -> 1 due, t1 p1 from 2 attempt 2
		settle fails travels
		due wait=1m                  -> 1 due, t1 p1 from 3 to 4 attempt 1, failed after 3m0s`},
	{"LostDeliveries", memory.Limits{}, `
		create t1 push=1
		chunk t1
		due                          -> 1 due, t1 p1 from 2
		due wait=59m59s              -> 0 due
		due wait=1s                  -> 1 due, t1 p1 from 2
		settle back=2                -> lost
		settle
		chunk t1
		crash
		due                          -> 1 due, t1 p1 from 3`},

	// A task grows up to its limit, and can always end.
	{"TaskBytes", memory.Limits{Bytes: 1 << 20, TaskBytes: 100_000}, `
		create t1
		3x chunk t1 size=30000
		chunk t1 size=30000          -> too large
		whole t1 size=1              # what is replaced counts no more
		3x chunk t1 size=30000
		chunk t1 size=30000          -> too large
		status t1 completed size=90000   -> too large
		status t1 failed size=1000
		create t2 size=200000        -> too large
		create t2 input=200000       -> too large
		create t2 size=60000 input=50000   -> too large
		create t2 call size=90000
		chunk t2 handler more=2 working size=60000   -> too large
		get t2                       -> version 1`},
	{"Replaced", memory.Limits{OwnerBytes: 70_000, TaskBytes: 50_000}, `
		create t1
		2x whole t1 size=20000
		chunk t1 size=40000          -> too large
		status t1 working
		create t2 size=30000         -> full         # what was replaced counts until an update that needs the room is taken
		chunk t1 size=20000
		get t1                       -> artifacts 1`},

	// What ends a task in a few words has room in any case, and others go for it where that helps. Parts have room of their own.
	{"LastWords", memory.Limits{Bytes: 40_000, TaskBytes: 30_000}, `
		create t1 size=18000
		create t2 size=17000 more=1 completed
		status t1 failed size=3500
		left                         -> t1`},
	{"OwnLastWords", memory.Limits{Bytes: 40_000, TaskBytes: 39_000}, `
		create t1 size=36000
		status t1 failed size=3500
		left                         -> t1`},
	{"PartsCount", memory.Limits{Bytes: 1 << 20, TaskBytes: 20_000}, `
		create t1 size=17500
		status t1 failed size=1600 parts=40   -> too large`},

	// The longest ended task makes room, then the one that has waited longest, never one that is at work.
	{"Eviction", memory.Limits{Tasks: 4}, `
		create t1 call
		create t2 more=1 input-required
		create t3 more=1 completed wait=2ms
		create t4 more=1 completed wait=2ms
		create t5 call
		left                         -> t1 t2 t4 t5
		create t6 call
		left                         -> t1 t2 t5 t6
		create t7 call
		left                         -> t1 t5 t6 t7
		get t2                       -> not found
		create t8                    -> full
		list t1                      -> total 4`},
	{"FirstOfEqualGoes", memory.Limits{Tasks: 3}, `
		create t1 wait=10s           # a clock that does not go on
		create t2
		create t3
		status t3 completed
		status t1 completed
		status t2 completed
		create t4 call
		left                         -> t2 t3 t4
		create t5 call
		left                         -> t3 t4 t5`},

	// A task that rests and grows has others evicted, never itself.
	{"Growing", memory.Limits{OwnerBytes: 100_000}, `
		create t1 size=25000 more=1 input-required
		create t2 size=25000 more=1 input-required wait=2ms
		create t3 size=25000 more=1 input-required wait=2ms
		status t1 input-required size=96000   -> full         # without its own there is not enough to go
		left                         -> t1 t2 t3
		status t1 input-required size=36000   -> version 3
		left                         -> t1 t3
		list t1                      -> total 2
		create t4 size=3000          # there is room: what is counted is what is there
		left                         -> t1 t3 t4`},

	// For what is refused nothing was evicted.
	{"RoomForNothing", memory.Limits{Tasks: 2, Pushes: 1}, `
		create t1 more=1 completed
		create t2 call push=1
		create t3 push=1             -> full
		left                         -> t1 t2`},
	{"AskingIsWork", memory.Limits{Bytes: 100_000, TaskBytes: 90_000}, `
		create t1 size=20000 more=1 completed
		create t2 size=60000 call
		status t2 input-required handler
		create t3 size=60000         -> full
		create bob1 size=47000       -> full
		left                         -> t1 t2
		chunk t2 handler done        # now it waits for its client alone
		create t3 size=60000
		left                         -> t3`},

	// An owner over its share loses tasks of its own, in whatever tenant: that is a name which anybody may choose.
	{"OwnerShare", memory.Limits{Tasks: 100, OwnerTasks: 3}, `
		create bob1 more=1 completed
		create bob2 more=1 completed
		create bob3 more=1 completed
		create ann1 more=1 completed wait=2ms
		create acme1 more=1 completed wait=2ms
		create ann2 more=1 completed wait=2ms
		create acme2 more=1 completed wait=2ms
		create ann3 more=1 completed wait=2ms
		left                         -> acme2 ann2 ann3 bob1 bob2 bob3`},
	{"Heaviest", memory.Limits{Bytes: 130_000, TaskBytes: 60_000}, `
		create ann1 size=20000 more=1 completed
		create ann2 size=20000 more=1 completed
		create bob1 more=1 completed
		create bob2 more=1 completed
		create bob3 more=1 completed
		create bob4 more=1 completed
		create bob5 more=1 completed
		create bob6 more=1 completed
		create t1 size=55000
		create t2 size=15000         # six small tasks weigh less than two of 20 kB
		left                         -> ann2 bob1 bob2 bob3 bob4 bob5 bob6 t1 t2
		create t3 size=20000         # and more than one
		left                         -> ann2 bob2 bob3 bob4 bob5 bob6 t1 t2 t3`},

	// Tasks that have rested for too long are dropped, by the clock of the store. A task rests since its state was set, or its last
	// call was over, whatever comes later.
	{"Retention", memory.Limits{Ended: time.Hour, Parked: 3 * time.Hour}, `
		create t1 more=1 completed at=2h
		create t2 more=1 completed at=-2h
		create t3 more=1 auth-required
		create t4 call
		sweep                        -> 0 dropped
		create t5 more=1 completed wait=30m
		sweep wait=31m               -> 2 dropped
		left                         -> t3 t4 t5
		list t1                      -> total 3
		sweep                        -> 0 dropped
		create t1                    # its id is free
		chunk t3
		sweep wait=2h                -> 2 dropped
		left                         -> t1 t4`},
	{"RestsSince", memory.Limits{Parked: time.Hour}, `
		create t1
		status t1 input-required
		create t2 call
		status t2 input-required handler   # its call goes on
		chunk t1 wait=40m
		chunk t2 handler done
		sweep wait=30m               -> 1 dropped
		left                         -> t2
		sweep wait=31m               -> 1 dropped`},
	{"KeptToBeSent", memory.Limits{Tasks: 2, Ended: time.Hour}, `
		create t1 push=1
		create t2 push=1
		status t1 completed
		status t2 completed wait=1s
		sweep wait=2h                -> 0 dropped
		due                          -> 2 due
		create t3                    # what is full makes room all the same
		left                         -> t2 t3
		settle push=0                -> lost
		due wait=1h                  -> 1 due, t2 p1 from 2
		settle
		sweep                        -> 1 dropped`},

	// Events that come together are all stored or none, and are read like others. A task may come with all that happens to it.
	{"Together", memory.Limits{}, `
		create t1 call
		chunk t1 handler more=3 working                  -> version 5, epoch 1, artifacts 3, history 2
		again t1                                         -> version 5
		status t1 input-required handler more=2 size=9   -> version 8, history 3
		unfit t1 handler more=2 working                  -> unfit
		status t1 completed handler more=1               -> unfit        # an event after the end
		events t1                                        -> 7 events, 2 artifact, 6 status input-required, 7 artifact
		events t1 after=3 size=2                         -> 2 events, 4 artifact, 5 status working
		crash
		get t1                                           -> version 8, artifacts 3, history 3
		events t1 after=4                                -> 4 events, 5 status working, 6 status input-required, 8 artifact
		events t2                                        -> not found`},
	{"AnsweredAtOnce", memory.Limits{}, `
		create t1 call done more=3 completed         -> version 4, epoch 2, begins none, artifacts 2, history 2
		again t1                                     -> version 4, begins none
		create t2 call done more=1 input-required    -> version 2, begins none
		status t2 working call                       -> begins 2, attempt 1
		head t1                                      -> version 4, calls 1, done 1
		list t1 completed                            -> total 1, t1
		events t1                                    -> 3 events, 4 status completed
		leave
		claim                                        -> 1 claimed, t2 call 2
		events t1                                    -> 3 events, 4 status completed
		get t1                                       -> completed, history 2`},

	// What handlers keep for a context of an owner is written by its version.
	{"Notes", memory.Limits{}, `
		notes ann1                   ->
		note ann1 size=1 stale=-7    -> conflict
		note ann1 size=1
		note ann1 size=2 stale=1     -> conflict
		note ann1 size=2
		note ann1 size=3 stale=-1    -> conflict
		note ann1 size=3 any
		note bob1 size=4
		note acme1 size=5
		note ann1 name=1 size=6
		notes ann1                   -> 0:3 1:6
		note ann1 stale=1            -> conflict
		note ann1
		note ann1 any
		notes ann1                   -> 1:6
		notes t1                     ->
		note ann1 size=1 wait=2ms
		note t1 size=1048577         -> too large
		leave
		notes ann1                   -> 0:1 1:6
		notes bob1                   -> 0:4
		notes acme1                  -> 0:5`},

	// Notes make room among themselves, those of an owner first, in an eighth of what it may hold, then those of who has most, in a
	// quarter of all. No task makes room by a note.
	{"NoteShares", memory.Limits{Bytes: 800_000, OwnerBytes: 800_000}, `
		note ann1 size=110000        -> too large
		note ann1 name=0 size=20000
		note ann1 name=1 size=20000 wait=2ms
		note ann1 name=2 size=20000 wait=2ms
		note ann1 name=3 size=20000 wait=2ms
		note ann1 name=4 size=20000 wait=2ms
		notes ann1                   -> 1:20000 2:20000 3:20000 4:20000
		note ann1 name=1 size=20000 wait=2ms
		note acme1 name=5 size=20000 wait=2ms
		notes ann1                   -> 1:20000 3:20000 4:20000
		note bob1 name=0 size=20000 wait=2ms
		note bob1 name=1 size=20000 wait=2ms
		note bob1 name=2 size=20000 wait=2ms
		note t1 size=70000 wait=2ms
		notes ann1                   -> 1:20000 4:20000
		notes acme1                  -> 5:20000
		notes bob1                   -> 0:20000 1:20000 2:20000
		notes t1                     -> 0:70000`},
	{"NotesAreCharged", memory.Limits{Bytes: 1 << 20, OwnerBytes: 100_000}, `
		create ann1 call input=22000
		create ann2 call input=22000
		create ann3 call input=22000
		create ann4 input=22000
		note ann1 size=11000         -> full
		status ann4 input-required
		note ann1 size=11000
		left                         -> ann1 ann2 ann3
		create ann5 input=22000       -> full
		notes ann1                   -> 0:11000
		note ann1
		create ann5 input=22000`},
	{"NoteRetention", memory.Limits{Ended: time.Hour, Parked: 3 * time.Hour}, `
		note ann1 size=1
		note bob1 size=1
		sweep wait=2h
		note bob1 size=2
		notes ann1                   -> 0:1
		sweep wait=61m
		notes ann1                   ->
		notes bob1                   -> 0:2`},
}
