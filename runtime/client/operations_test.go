package client_test

import (
	"context"
	"errors"
	"iter"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	a2a "github.com/a2agen/a2agen/internal/a2awires"
	"github.com/a2agen/a2agen/internal/test/a2amore"
	ownclient "github.com/a2agen/a2agen/internal/test/a2amore/a2aclient"
	"github.com/a2agen/a2agen/runtime"
	rpc "github.com/a2agen/a2agen/runtime/client"
	"github.com/a2agen/a2agen/runtime/push"
	"github.com/a2agen/a2agen/runtime/wire"
)

// inspect answers with what it was asked, and watch as often as it was asked to. Then both fail if there was a code.
func inspect(_ context.Context, in *a2amore.Sample) (*a2amore.Sample, error) {
	if in.Failure != 0 {
		return nil, runtime.ErrTaskNotFound.With("no %s", in.ID).WithMetadata("sample", in.ID)
	}
	return in, nil
}

func watch(ctx context.Context, in *a2amore.Sample) iter.Seq2[*a2amore.Sample, error] {
	return func(yield func(*a2amore.Sample, error) bool) {
		for n := range in.Times {
			out := *in
			out.Times = n
			if !yield(&out, nil) {
				return
			}
		}
		if _, err := inspect(ctx, in); err != nil {
			yield(nil, err)
		}
	}
}

// eachVersion makes a test over each binding in each version that has it.
func eachVersion(t *testing.T, test func(t *testing.T, url, version, binding string)) {
	over(t, func(t *testing.T, binding string) {
		for _, v := range a2a.Protocol().Versions {
			if v.Over(binding) == nil {
				continue
			}
			t.Run(v.Name, func(t *testing.T) {
				url, _ := polyglot(t, binding)
				test(t, url, v.Name, binding)
			})
		}
	})
}

// someSample has a field of every kind.
func someSample() *a2amore.Sample {
	zero := int32(0)
	return &a2amore.Sample{
		ID: "a/b:c, d", Flag: true, Small: -7, Large: 1 << 60, Bare: 7, Huge: 1 << 63, Zigzag: -9, Fixed: 1 << 62, Single: 1.5, Ratio: -2.25e10,
		Raw: []byte{0xfb, 0xff, 0}, Taste: "TASTE_SOUR", At: time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC), Within: &wire.Duration{Seconds: 90},
		Nested:    &a2amore.SampleNested{Text: "x=1&y=+ é", Count: 5, IsDone: true, Labels: []string{"p,q", "r"}, More: &a2amore.SampleNested{Text: "deep"}},
		MaybeZero: &zero, Labels: []string{"one", "two,three", "50%"}, Counts: []int64{1, -2}, Flags: []bool{true, false}, Tastes: []a2amore.SampleTaste{"TASTE_SWEET", "TASTE_SOUR"},
	}
}

// TestOperationsOfOnesOwnWorkOverEveryBinding, whatever their fields.
func TestOperationsOfOnesOwnWorkOverEveryBinding(t *testing.T) {
	over(t, func(t *testing.T, binding string) {
		url, _ := polyglot(t, binding)
		card, err := a2amore.Protocol().DecodeCard([]byte(strings.Replace(cardJSON(url, "", streams+declared), "JSONRPC", binding, 1)))
		if err != nil {
			t.Fatal(err)
		}
		c, err := ownclient.FromCard(card.Generated().(*a2amore.AgentCard), withGRPC(nil)...)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		ctx := t.Context()
		got, err := c.Inspect(ctx, someSample())
		if diff := cmp.Diff(someSample(), got); diff != "" || err != nil {
			t.Errorf("inspect: %v (-want +got):\n%s", err, diff)
		}
		ask := someSample()
		ask.Times, ask.Failure = 3, 1
		var last error
		n := 0
		for got, err := range c.Watch(ctx, ask) {
			if last = err; err != nil {
				break
			}
			want := *ask
			want.Times = int32(n)
			if diff := cmp.Diff(&want, got); diff != "" {
				t.Errorf("watch (-want +got):\n%s", diff)
			}
			n++
		}
		for _, err := range []error{last, func() error { _, err := c.Inspect(ctx, ask); return err }()} {
			var e *runtime.Error
			if !errors.Is(err, runtime.ErrTaskNotFound) || !errors.As(err, &e) || e.Note != "no a/b:c, d" || e.Metadata("sample") != ask.ID {
				t.Errorf("%d items, and then %v", n, err)
			}
		}
		if _, err := c.Abandoned(ctx, &a2amore.Sample{ID: "x"}); !errors.Is(err, runtime.ErrUnsupportedOperation) {
			t.Errorf("abandoned: %v", err)
		}
	})
}

// TestPushConfigurationsOverEveryBinding, and what they bring.
func TestPushConfigurationsOverEveryBinding(t *testing.T) {
	eachVersion(t, func(t *testing.T, url, version, binding string) {
		if version == "0.1" {
			return // it has no operations for them
		}
		c, ctx := speak(t, url, version, binding), t.Context()
		hook, err := push.NewReceiver(a2a.Protocol(), push.Token("tok"))
		if err != nil {
			t.Fatal(err)
		}
		web := httptest.NewServer(hook)
		defer web.Close()
		r, err := chat.Call(ctx, c.RPC(), rpc.Say("forecast"), rpc.WithPush(web.URL, "tok"), rpc.ByPush(hook))
		if err != nil || r.Text() != "dry" {
			t.Fatalf("by push: %v %v", r, err)
		}
		var ask *rpc.InputRequiredError
		if _, err := chat.Call(ctx, c.RPC(), rpc.Say("ask")); !errors.As(err, &ask) {
			t.Fatal(err)
		}
		made, err := c.CreateTaskPushNotificationConfig(ctx, &a2a.TaskPushNotificationConfig{TaskID: ask.TaskID, ID: "p:1", URL: web.URL, Token: "tok"})
		if err != nil || made.ID != "p:1" || made.TaskID != ask.TaskID {
			t.Fatalf("create: %+v %v", made, err)
		}
		if got, err := c.GetTaskPushNotificationConfig(ctx, &a2a.GetTaskPushNotificationConfigRequest{TaskID: ask.TaskID, ID: "p:1"}); err != nil || got.URL != web.URL {
			t.Errorf("get: %+v %v", got, err)
		}
		if list, err := c.ListTaskPushNotificationConfigs(ctx, &a2a.ListTaskPushNotificationConfigsRequest{TaskID: ask.TaskID}); err != nil || len(list.Configs) != 1 || list.Configs[0].ID != "p:1" {
			t.Errorf("list: %+v %v", list, err)
		}
		if err := c.DeleteTaskPushNotificationConfig(ctx, &a2a.DeleteTaskPushNotificationConfigRequest{TaskID: ask.TaskID, ID: "p:1"}); err != nil {
			t.Errorf("delete: %v", err)
		}
		if got, err := c.GetTaskPushNotificationConfig(ctx, &a2a.GetTaskPushNotificationConfigRequest{TaskID: ask.TaskID, ID: "p:1"}); !errors.Is(err, runtime.ErrTaskNotFound) {
			t.Errorf("get what is deleted: %+v %v", got, err)
		}
	})
}

// TestListsAndCardsOverEveryBinding: the operations that are neither messages nor single tasks.
func TestListsAndCardsOverEveryBinding(t *testing.T) {
	over(t, func(t *testing.T, binding string) {
		url, _ := polyglot(t, binding)
		c, ctx := speak(t, url, "1.0", binding), t.Context()
		for range 3 {
			if _, err := chat.Call(ctx, c.RPC(), rpc.Say("forecast"), rpc.InContext("c 1&2")); err != nil {
				t.Fatal(err)
			}
		}
		size, none, yes := int32(2), int32(0), true
		ask := &a2a.ListTasksRequest{
			ContextID: "c 1&2", Status: a2a.TaskStateCompleted, PageSize: &size, HistoryLength: &none, IncludeArtifacts: &yes, StatusTimestampAfter: time.Now().Add(-time.Hour),
		}
		first, err := c.ListTasks(ctx, ask)
		if err != nil || len(first.Tasks) != 2 || first.TotalSize != 3 || len(first.Tasks[0].Artifacts) != 1 || len(first.Tasks[0].History) != 0 {
			t.Fatalf("%+v %v", first, err)
		}
		ask.PageToken = first.NextPageToken
		if second, err := c.ListTasks(ctx, ask); err != nil || len(second.Tasks) != 1 || second.NextPageToken != "" {
			t.Errorf("%+v %v", second, err)
		}
		size = -1
		var e *runtime.Error
		if _, err := c.ListTasks(ctx, ask); !errors.Is(err, runtime.ErrInvalidParams) || !errors.As(err, &e) || len(e.Violations()) != 1 {
			t.Errorf("a page of -1: %v", err)
		}
		if _, err := c.GetExtendedAgentCard(ctx, nil); !errors.Is(err, runtime.ErrUnsupportedOperation) {
			t.Errorf("a card that is not there: %v", err)
		}
	})
}
