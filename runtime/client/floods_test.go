//go:build !race

// Floods, and the memory that they may take: the race detector has memory of its own, and makes them ten times as slow. "make race" runs these tests without it.

package client_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	a2art "github.com/a2agen/a2agen/runtime"
	rpc "github.com/a2agen/a2agen/runtime/client"
)

// allocated counts the bytes that f allocates, in this process.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// TestAHostileAgentIsSurvived: whatever an agent answers, a call ends soon, with an error, and memory follows the limits.
func TestAHostileAgentIsSurvived(t *testing.T) {
	over(t, func(t *testing.T, binding string) {
		calls := map[string]func(ctx context.Context, c *rpc.Client) error{
			"call": func(ctx context.Context, c *rpc.Client) error {
				_, err := chat.Call(ctx, c, rpc.Say("hi"))
				return err
			},
			"stream": func(ctx context.Context, c *rpc.Client) error {
				_, _, err := steps(chat.Stream(ctx, c, rpc.Say("hi")))
				return err
			},
			"await": func(ctx context.Context, c *rpc.Client) error {
				_, err := c.Await(ctx, "t1")
				return err
			},
		}
		for name, attack := range attacks {
			if binding != a2art.BindingJSONRPC && strings.Contains(name, "wrong id") {
				continue // only JSON-RPC has ids
			}
			for how, call := range calls {
				t.Run(how+"/"+name, func(t *testing.T) {
					f := newFake(t, binding, map[string][]reply{"SendMessage": {attack}, "SendStreamingMessage": {attack}, "SubscribeToTask": {attack}, "GetTask": {attack}})
					c := f.dial(append(limits, rpc.Policy(rpc.CallPolicy{Attempts: 1}))...)
					var err error
					used := allocated(func() { within(t, func() { err = call(t.Context(), c) }) })
					if err == nil {
						t.Error("taken for a result")
					}
					if used > 100<<20 {
						t.Errorf("%d MB were allocated", used>>20)
					}
				})
			}
		}
	})
}

func TestWhatAStreamedCallPutsTogetherIsLimited(t *testing.T) {
	over(t, func(t *testing.T, binding string) {
		t.Parallel()
		for name, tt := range map[string]struct {
			attack string
			limit  rpc.Option
			want   string
		}{
			"in bytes":     {"floods with chunks", rpc.MaxResponse(1 << 20), "over 1048576 bytes"},
			"in events":    {"floods with progress", rpc.MaxEvents(2000), "over 2000 events"},
			"in artifacts": {"floods with artifacts", rpc.MaxEvents(1 << 30), "over 4096 artifacts"},
		} {
			t.Run(name, func(t *testing.T) {
				f := newFake(t, binding, map[string][]reply{"SendStreamingMessage": {attacks[tt.attack]}, "SubscribeToTask": {attacks[tt.attack]}})
				c := f.dial(tt.limit)
				if _, _, err := steps(chat.Stream(t.Context(), c, rpc.Say("hi"))); !errors.Is(err, rpc.ErrTooLarge) || !strings.Contains(err.Error(), tt.want) {
					t.Errorf("stream: %v", err)
				}
				if _, err := c.Await(t.Context(), "t1"); !errors.Is(err, rpc.ErrTooLarge) {
					t.Errorf("await: %v", err)
				}
				n := 0
				for _, err := range c.Stream(t.Context(), rpc.Method{Role: a2art.RoleStream}, hello()) {
					if n++; err != nil || n > 5000 {
						break
					}
				}
				if n <= 5000 {
					t.Errorf("a stream that nobody puts together ended after %d events", n)
				}
			})
		}
	})
}

// TestALongStreamCostsWhatItWeighs: eight times the events cost about eight times the memory, whatever they are.
func TestALongStreamCostsWhatItWeighs(t *testing.T) {
	over(t, func(t *testing.T, binding string) {
		items := map[string]func(i int) string{
			"chunks":       func(int) string { return chunk2 },
			"artifacts":    func(i int) string { return strings.Replace(chunk1, `"a"`, fmt.Sprintf(`"a%d"`, i), 1) },
			"progress":     func(i int) string { return strings.Replace(working, `"m1"`, fmt.Sprintf(`"m%d"`, i), 1) },
			"tasks":        func(int) string { return taskWorking },
			"other events": func(int) string { return `{"future":{}}` },
		}
		for name, item := range items {
			t.Run(name, func(t *testing.T) {
				cost := func(n int) uint64 {
					all := make([]string, 0, n+2)
					for i := range n {
						all = append(all, item(i))
					}
					f := newFake(t, binding, map[string][]reply{"SendStreamingMessage": {events(append(all, completed)...)}})
					return allocated(func() {
						if _, _, err := steps(chat.Stream(t.Context(), f.dial(), rpc.Say("hi"))); err != nil {
							t.Fatal(err)
						}
					})
				}
				cost(10)
				if few, many := cost(250), cost(2000); many > 24*few || many > 60<<20 {
					t.Errorf("250 events cost %d kB, 2000 events %d kB", few>>10, many>>10)
				}
			})
		}
	})
}

// The same, as fast as the agent can: what is read has a limit, too.
func TestAFloodWithoutKnownEventsEnds(t *testing.T) {
	for name, noise := range noises {
		t.Run(name, func(t *testing.T) {
			over(t, func(t *testing.T, binding string) {
				if binding == a2art.BindingGRPC && noise != future {
					return // a ping has no size, and grpc-go reads them
				}
				flood := pour("text/event-stream", strings.Repeat(noise, 512))
				f := newFake(t, binding, map[string][]reply{"SendStreamingMessage": {events(taskWorking)}, "SubscribeToTask": {flood}})
				_, err := collect(f.typed(rpc.Reattach(2), rpc.MaxEvent(64<<10)).SendStreamingMessage(t.Context(), hello()))
				if !errors.Is(err, rpc.ErrNoEvent) || !strings.Contains(err.Error(), "in 1048576 bytes; 2 attempts") || subscriptions(f) != 2 {
					t.Errorf("%v, after %d subscriptions", err, subscriptions(f))
				}
			})
		})
	}
}
