package fault_test

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"

	a2a "github.com/a2agen/a2agen/internal/a2awires"
	"github.com/a2agen/a2agen/internal/test/gotool"
	"github.com/a2agen/a2agen/runtime"
	rpc "github.com/a2agen/a2agen/runtime/client"
	"github.com/a2agen/a2agen/runtime/client/grpcclient"
	"github.com/a2agen/a2agen/runtime/server"
	"github.com/a2agen/a2agen/runtime/server/grpcserver"
	"github.com/a2agen/a2agen/testkit/a2atest"
	"github.com/a2agen/a2agen/testkit/fault"
)

var update = flag.Bool("update", false, "write the table of testdata/proof.md; with A2A_LONG=1")

// row is a line of the table: the faults that every call of an agent meets.
type row struct {
	faults []fault.Fault
	cells  map[string]string // by binding, where not all calls come through: what is said instead
}

// third is the probability of faults that would let nothing pass if they hit everything.
const third = 1.0 / 3

func rows() []row {
	only := func(f ...fault.Fault) row { return row{faults: f} }
	lost := map[string]string{runtime.BindingJSONRPC: "`*rpc.LostCallError`", runtime.BindingHTTP: "`*rpc.LostCallError`", runtime.BindingGRPC: "cannot be applied"}
	numbered := map[string]string{runtime.BindingGRPC: "cannot be applied"}
	return []row{
		only(fault.Delay(200 * time.Millisecond)),
		only(fault.DelayEvents(time.Second)),
		only(fault.Slow(500)),
		only(fault.Drop(fault.Request).Probability(third)),
		only(fault.Drop(fault.Reply).Probability(third)),
		only(fault.Double()),
		only(fault.ReorderRequests()),
		only(fault.CutAfter(3)),
		only(fault.CutAfter(0).Probability(third)),
		only(fault.Truncate(200).Probability(third)),
		only(fault.HalfClose(3)),
		only(fault.HalfClose(0).Probability(third)),
		only(fault.StallAfter(3)),
		only(fault.Stall().Probability(third)),
		only(fault.Status(500).Probability(third)),
		only(fault.Status(502).Probability(third)),
		only(fault.Status(503).RetryAfter(3 * time.Second).Probability(third)),
		only(fault.Status(429).RetryAfter(3 * time.Second).Probability(third)),
		{list(fault.DropEvent(5)), numbered},
		{list(fault.DoubleEvent(5)), numbered},
		{list(fault.ReorderEvents(5)), numbered},
		{list(fault.DropEvent(1).On("SendStreamingMessage")), lost},
		only(fault.Delay(time.Second).Probability(0.3), fault.Double().Probability(0.2), fault.Status(503).Probability(0.1),
			fault.Drop(fault.Request).Probability(0.1), fault.Drop(fault.Reply).Probability(0.1), fault.HalfClose(4).Probability(0.1),
			fault.StallAfter(6).Probability(0.1), fault.CutAfter(2).Probability(0.2)),
	}
}

func list(f ...fault.Fault) []fault.Fault { return f }

// chunks is how many events of a stream carry a number.
const chunks = 30

// tally is what became of the calls of a cell.
type tally struct {
	streams, calls, events   int            // that came whole
	lost, doubled, reordered int            // events, and nothing said it
	again                    int            // runs of the skill over those that the calls make
	reported                 map[string]int // calls that ended with an error, by its type
	unexpected               []error
}

// add compares the numbers that came with those that were sent. A call that ends with an error must have brought the
// first ones.
func (c *tally) add(got []int, err error) {
	last := 0
	for _, n := range got {
		switch {
		case n == last+1:
		case n <= last:
			c.doubled++
		default:
			c.reordered++
		}
		last = n
	}
	switch {
	case err != nil:
		c.report(err)
	default:
		c.lost += max(0, chunks-len(got))
	}
}

// report counts an error by its type.
func (c *tally) report(err error) {
	var lost *rpc.LostCallError
	if !errors.As(err, &lost) {
		c.unexpected = append(c.unexpected, err)
		return
	}
	c.reported["`*rpc.LostCallError`"]++
}

// wrong says what must not be; "" if nothing is.
func (c *tally) wrong() string {
	if c.lost+c.doubled+c.reordered+c.again+len(c.unexpected) == 0 {
		return ""
	}
	return fmt.Sprintf("%d lost, %d doubled, %d reordered, %d runs too many, errors %q", c.lost, c.doubled, c.reordered, c.again, c.unexpected)
}

const card = `{"name":"counter","description":"d","version":"1","supportedInterfaces":[INTERFACES],
"capabilities":{"streaming":true,"extensions":[{"uri":"` + runtime.SkillsExtension + `","params":{"idempotency":{"window":86400}}}]},
"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],"skills":[{"id":"count","name":"count","description":"d","tags":[]}]}`

var count = rpc.Skill[[]runtime.Part, *rpc.Result]{ID: "count", In: rpc.PlainInput, Out: rpc.PlainOutput}

// counter is an agent whose skill streams the numbers from 1, with the faults before it.
func counter(t *testing.T, version, binding string, faults []fault.Fault, seed int64) (c *rpc.Client, in *fault.Injector, runs *atomic.Int32) {
	runs = new(atomic.Int32)
	run := func(_ context.Context, t *server.Task, _ any) ([]byte, error) {
		runs.Add(1)
		w := t.Stream("numbers")
		for i := range chunks {
			if _, err := fmt.Fprintf(w, "%d ", i+1); err != nil {
				return nil, err
			}
			time.Sleep(100 * time.Millisecond)
		}
		return nil, w.Close()
	}
	url := "http://counter.test/rpc"
	if binding == runtime.BindingGRPC {
		url = "127.0.0.1:80" // which needs no resolver
	}
	iface := `{"url":"` + url + `","protocolBinding":"` + binding + `","protocolVersion":"` + version + `"}`
	decoded, err := a2a.Protocol().DecodeCard([]byte(strings.Replace(card, "INTERFACES", iface, 1)))
	if err != nil {
		t.Fatal(err)
	}
	s, err := server.New(server.Config{Protocol: a2a.Protocol(), Card: decoded, Skills: []server.Skill{{ID: "count", Name: "count", Run: run}}},
		server.InMemory(), server.WithLogger(slog.New(slog.DiscardHandler)), grpcserver.Serve())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	in, err = fault.New(seed, faults...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(in.Close)
	a := a2atest.Serve(t, in.Handler(s), a2atest.Name("counter"))
	dial := grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return a.Dial(ctx, "tcp", "counter.test:80") })
	c, err = rpc.FromCard(a2a.Protocol(), decoded, append(a.Options(), rpc.Policy(rpc.CallPolicy{AttemptTimeout: time.Minute, Attempts: 20}), rpc.Reattach(20),
		rpc.Use(grpcclient.Binding(grpcclient.ClearText(), grpcclient.DialOptions(dial, grpc.WithDisableServiceConfig()))))...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c, in, runs
}

// cell makes so many streams, and a call for every fourth of them, under faults.
func cell(t *testing.T, version, binding string, r row, streams int, seed int64) *tally {
	all := &tally{reported: map[string]int{}}
	synctest.Test(t, func(t *testing.T) {
		c, in, runs := counter(t, version, binding, r.faults, seed)
		time.Sleep(time.Minute) // an agent that just started takes no repetition of what it may have had before
		for all.streams < streams {
			if all.streams++; all.streams%4 == 1 {
				all.calls++
				r, err := count.Call(t.Context(), c, rpc.Say("count"))
				all.add(numbersOf(r), err)
			}
			got, err := numbers(t.Context(), c)
			all.add(got, err)
			all.events += len(got)
		}
		time.Sleep(time.Minute) // work that nobody waits for goes on
		all.again = max(0, int(runs.Load())-all.streams-all.calls)
		if err := in.Err(); err != nil && r.cells[binding] == "cannot be applied" {
			all.reported[r.cells[binding]]++
		} else if unused := in.Unused(); err != nil && len(r.faults) == 1 && r.faults[0].String() != "ReorderRequests()" || len(unused) > 0 && long {
			t.Errorf("not applied: %v, hit nothing: %v", err, unused)
		}
	})
	return all
}

func numbers(ctx context.Context, c *rpc.Client) (got []int, err error) {
	ctx, cancel := context.WithTimeout(ctx, 24*time.Hour)
	defer cancel()
	for e, err := range count.Stream(ctx, c, rpc.Say("count")) {
		if err != nil {
			return got, err
		}
		if e.Artifact != nil {
			got = append(got, integers(e.Text())...)
		}
	}
	return got, nil
}

// numbersOf are those of a result.
func numbersOf(r *rpc.Result) []int {
	if r == nil {
		return nil
	}
	return integers(r.Text())
}

func integers(text string) (list []int) {
	for _, s := range strings.Fields(text) {
		n, _ := strconv.Atoi(s)
		list = append(list, n)
	}
	return list
}

// long: the proof has the hundred thousand events of testdata/proof.md.
var long = gotool.IsLong() && !underRace

// Under every fault, over each binding, in two versions, the client brings each event once and in its order, or says
// by an error that it cannot. testdata/proof.md has the outcomes.
func TestTheClientLosesNothing(t *testing.T) {
	each := 1 // streams of a cell
	table := rows()
	if long {
		each = 100_000/(chunks*len(table)*len(runtime.Bindings)*len(versions)) + 2
	}
	var lines []string
	var total, streams, calls int
	for n, r := range table {
		line := "| " + named(r.faults)
		var outcomes, over []string // what bindings one after another share stands once
		for _, b := range runtime.Bindings {
			is := map[string]bool{}
			for i, version := range versions {
				t.Run(fmt.Sprintf("%d/%s/%s", n, b.Name, version), func(t *testing.T) {
					got := cell(t, version, b.Name, r, each, int64(10*n+i))
					if wrong := got.wrong(); wrong != "" {
						t.Errorf("%v: %s", r.faults, wrong)
					}
					total, streams, calls = total+got.events, streams+got.streams, calls+got.calls
					for said := range got.reported {
						is[said] = true
					}
				})
			}
			said := slices.Sorted(maps.Keys(is))
			if want := r.cells[b.Name]; strings.Join(said, ", ") != want {
				t.Errorf("%v over %s: %q, want %q", r.faults, b.Name, said, want)
			}
			if outcome := cmp.Or(strings.Join(said, ", "), "complete"); len(outcomes) > 0 && outcomes[len(outcomes)-1] == outcome {
				over[len(over)-1] += ", " + b.Name
			} else {
				outcomes, over = append(outcomes, outcome), append(over, b.Name)
			}
		}
		if len(outcomes) > 1 {
			for i := range outcomes {
				outcomes[i] += " over " + over[i]
			}
		}
		lines = append(lines, line+" | "+strings.Join(outcomes, "; ")+" |\n")
	}
	head := fmt.Sprintf("%d events in %d streams, and %d calls without one: 0 lost, 0 doubled, 0 reordered.\n", total, streams, calls)
	holdTable(t, head, strings.Join(lines, ""))
}

var versions = []string{"1.0", "0.3"}

// named writes faults as a cell.
func named(faults []fault.Fault) string {
	var names []string
	for _, f := range faults {
		names = append(names, "`"+strings.ReplaceAll(f.String(), fmt.Sprint(third), "1./3")+"`")
	}
	return strings.Join(names, ", ")
}

// holdTable compares the table with testdata/proof.md, or writes it. The head is that of the long run.
func holdTable(t *testing.T, head, lines string) {
	const page, begin, end = "testdata/proof.md", "<!-- proof -->\n", "<!-- /proof -->\n"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, _ := strings.Cut(string(text), begin)
	had, after, ok := strings.Cut(rest, end)
	if !ok {
		t.Fatalf("%s has no %s", page, end)
	}
	table := "\n| under | calls |\n|---|---|\n" + lines + "\n"
	if *update && !t.Failed() {
		gotool.Long(t)
		if err := os.WriteFile(page, []byte(before+begin+head+table+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if _, was, _ := strings.Cut(had, "\n"); was != table || long && !strings.HasPrefix(had, head) {
		t.Errorf("the table of %s is not this one (A2A_LONG=1 go test ./testkit/fault -run %s -update writes it):\n%s%s", page, t.Name(), head, table)
	}
}

// In the versions before 0.3, whose streams need not begin with a task, broken streams go on, too.
func TestOldVersionsGoOn(t *testing.T) {
	for _, version := range []string{"0.2", "0.1"} {
		for _, f := range []fault.Fault{fault.Delay(time.Second), fault.CutAfter(3), fault.HalfClose(4), fault.Drop(fault.Reply).Times(2)} {
			t.Run(version+"/"+f.String(), func(t *testing.T) {
				got := cell(t, version, runtime.BindingJSONRPC, row{faults: list(f)}, 4, 1)
				if wrong := got.wrong(); wrong != "" || len(got.reported) > 0 || got.events != 4*chunks {
					t.Errorf("%d events, %s, %v", got.events, wrong, got.reported)
				}
			})
		}
	}
}
