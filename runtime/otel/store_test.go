package otel_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/a2agen/a2agen/internal/test/faultstore"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/observe"
	"github.com/a2agen/a2agen/runtime/otel"
	"github.com/a2agen/a2agen/runtime/server"
	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/store/memory"
)

// counter is a store with numbers of its own.
type counter struct {
	*faultstore.Store
	stats store.Stats
}

func (c *counter) Stats() store.Stats { return c.stats }

// newCounter is a store that has all numbers, of an instance that has a lease.
func newCounter() *counter {
	return &counter{faultstore.New(memory.New(memory.Limits{}).Instance(time.Minute), nil), store.Stats{
		System: "postgresql", Transactions: 3, Writes: 12, Conflicts: 1, Sent: 5, Received: 7, Lag: 2 * time.Millisecond,
		Tasks: 40, Bytes: 4096, Pools: []store.Pool{{Name: "read", Used: 2, Idle: 1, Max: 4, Waited: time.Second, GaveUp: 6}},
	}}
}

// numbers are the measurements of instruments that are no histograms, by name and attributes.
func (c *collector) numbers(t *testing.T) map[string]float64 {
	t.Helper()
	var all metricdata.ResourceMetrics
	if err := c.reader.Collect(t.Context(), &all); err != nil {
		t.Fatal(err)
	}
	found := map[string]float64{}
	for _, scope := range all.ScopeMetrics {
		for _, m := range scope.Metrics {
			var points []metricdata.DataPoint[float64]
			switch data := m.Data.(type) {
			case metricdata.Sum[float64]:
				points = data.DataPoints
			case metricdata.Gauge[float64]:
				points = data.DataPoints
			}
			for _, p := range points {
				found[m.Name+" "+text(p.Attributes)] = p.Value
			}
		}
	}
	return found
}

func TestCallsOfTheStoreAreMeasuredByWhatTheyCameTo(t *testing.T) {
	c, kept := newCollector(), newCounter()
	s := c.observer(otel.Agent("Weather")).(store.Observer).ObserveStore(kept)
	for _, why := range []error{nil, store.ErrUnavailable, store.ErrUnknown, errors.New("the disk is broken")} {
		kept.Plan(faultstore.Always(faultstore.Fault{Refuse: why}))
		_, _ = s.Head(t.Context(), store.Key{Task: "none"})
	}
	const of = "db.client.operation.duration db.operation.name=head db.system.name=postgresql%s gen_ai.agent.name=Weather"
	got := c.series(t, "db.client.operation.duration")
	for _, errorType := range []string{"", " error.type=unavailable", " error.type=unknown", " error.type=_OTHER"} { // that there is no such task is an answer
		if got[fmt.Sprintf(of, errorType)] != 1 {
			t.Errorf("%q is not among %v", errorType, got)
		}
	}
}

func TestTheStoreSaysWhatItHasDoneAndHolds(t *testing.T) {
	c, kept := newCollector(), newCounter()
	s := c.observer(otel.Agent("Weather")).(store.Observer).ObserveStore(kept)
	if _, err := s.Renew(t.Context()); err != nil {
		t.Fatal(err)
	}
	const of, pool = " db.system.name=postgresql gen_ai.agent.name=Weather", " db.client.connection.pool.name=read"
	got := c.numbers(t)
	if left := got["a2a.store.lease.remaining"+of]; left <= 0 || left > 60 {
		t.Errorf("the lease lasts another %v s of 60", left)
	}
	for series, want := range map[string]float64{
		"a2a.store.transactions" + of: 3, "a2a.store.writes" + of: 12, "a2a.store.conflicts" + of: 1,
		"a2a.store.notifications.sent" + of: 5, "a2a.store.notifications.received" + of: 7, "a2a.store.notifications.lag" + of: 0.002,
		"a2a.store.tasks" + of: 40, "a2a.store.size" + of: 4096, "a2a.store.claimed" + of: 0,
		"db.client.connection.count" + pool + " db.client.connection.state=used" + of: 2,
		"db.client.connection.count" + pool + " db.client.connection.state=idle" + of: 1,
		"db.client.connection.max" + pool + of:                                        4,
		"db.client.connection.timeouts" + pool + of:                                   6,
		"a2a.store.connection.waited" + pool + of:                                     1,
	} {
		if value, ok := got[series]; !ok || value != want {
			t.Errorf("%s is %v (%v), want %v", series, value, ok, want)
		}
	}
	kept.stats = store.Stats{System: "postgresql", Transactions: -1, Tasks: -1}
	if _, there := c.numbers(t)["a2a.store.tasks"+of]; there {
		t.Error("what is not known is reported")
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if got := c.numbers(t); len(got) > 0 {
		t.Errorf("a store that is closed says %v", got)
	}
}

// A store in memory stays as it is: nothing stands between an agent and it.
func TestAStoreInMemoryIsNotWrapped(t *testing.T) {
	m := memory.New(memory.Limits{})
	if got := newCollector().observer().(store.Observer).ObserveStore(m); got != store.Store(m) {
		t.Errorf("it is wrapped in a %T", got)
	}
}

// greet answers.
func greet(context.Context, *server.Task, any) ([]byte, error) { return []byte("hello"), nil }

// everything is what an agent gives out that does all there is: names as Prometheus has them, and labels.
func everything(t *testing.T) (names, labels map[string]bool) {
	c := newCollector()
	o := c.observer(otel.Agent("Weather"))
	url := host(t, way{runtime.BindingJSONRPC, "1.0"}, greet, server.WithObserver(o), server.WithStore(newCounter()))
	body := strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"hi"}]}}}`)
	resp, err := http.Post(url, "application/json", body)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	for _, kind := range []observe.Kind{observe.Serve, observe.Call, observe.Deliver, observe.Run} {
		happen(t.Context(), o, observe.Activity{Kind: kind, Operation: "o", Binding: "JSONRPC", Stream: true, Skill: "s"}, func(a *observe.Activity) {
			a.State, a.Reason = runtime.StateFailed, observe.ReasonFailed
		})
	}
	s := o.(store.Observer).ObserveStore(newCounter())
	_, _ = s.Renew(t.Context())
	var all metricdata.ResourceMetrics
	if err := c.reader.Collect(t.Context(), &all); err != nil {
		t.Fatal(err)
	}
	names, labels = map[string]bool{}, map[string]bool{"le": true, "instance": true, "job": true}
	note := func(set attribute.Set) {
		for _, kv := range set.ToSlice() {
			labels[strings.ReplaceAll(string(kv.Key), ".", "_")] = true
		}
	}
	for _, scope := range all.ScopeMetrics {
		for _, m := range scope.Metrics {
			name := strings.ReplaceAll(m.Name, ".", "_") + map[string]string{"s": "_seconds", "By": "_bytes"}[m.Unit]
			switch data := m.Data.(type) {
			case metricdata.Histogram[float64]:
				names[name+"_bucket"], names[name+"_sum"], names[name+"_count"] = true, true, true
				for _, p := range data.DataPoints {
					note(p.Attributes)
				}
			case metricdata.Sum[float64]:
				if data.IsMonotonic {
					name += "_total"
				}
				names[name] = true
				for _, p := range data.DataPoints {
					note(p.Attributes)
				}
			case metricdata.Sum[int64]:
				names[name] = true
				for _, p := range data.DataPoints {
					note(p.Attributes)
				}
			case metricdata.Gauge[float64]:
				names[name] = true
				for _, p := range data.DataPoints {
					note(p.Attributes)
				}
			default:
				t.Errorf("%s is a %T", m.Name, data)
			}
		}
	}
	return names, labels
}

// The dashboard of examples/fleet asks for nothing that is not there, and shows all that there is.
func TestTheDashboardAsksForWhatThereIs(t *testing.T) {
	names, labels := everything(t)
	src, err := os.ReadFile("../../examples/fleet/grafana/a2agen.json")
	if err != nil {
		t.Fatal(err)
	}
	var board struct {
		Panels []struct {
			Type, Title, Description string
			GridPos                  struct{ X, Y, W, H int }
			Targets                  []struct{ Expr, LegendFormat string }
		}
		Templating struct{ List []struct{ Name string } }
	}
	if err := json.Unmarshal(src, &board); err != nil {
		t.Fatal(err)
	}
	asked := map[string]bool{}
	word, matcher, label := regexp.MustCompile(`\b(?:a2a|db)_[a-z0-9_]+`), regexp.MustCompile(`([a-z_0-9]+)(?:=~|!~|!=|=)"`), regexp.MustCompile(`[a-z_0-9]+`)
	grouping, selector := regexp.MustCompile(`by \(([^)]*)\)`), regexp.MustCompile(`\{[^}]*\}`)
	for _, p := range board.Panels {
		if p.Type != "row" && (p.Description == "" || len(p.Targets) == 0) {
			t.Errorf("%s says or asks nothing", p.Title)
		}
		for _, target := range p.Targets {
			var used []string
			for _, m := range matcher.FindAllStringSubmatch(target.Expr, -1) {
				used = append(used, m[1])
			}
			for _, m := range grouping.FindAllStringSubmatch(target.Expr, -1) {
				used = append(used, label.FindAllString(m[1], -1)...)
			}
			used = append(used, label.FindAllString(strings.Join(regexp.MustCompile(`\{\{[^}]*\}\}`).FindAllString(target.LegendFormat, -1), " "), -1)...)
			for _, l := range used {
				if !labels[l] {
					t.Errorf("%s: no metric has a label %s", p.Title, l)
				}
			}
			bare := grouping.ReplaceAllString(selector.ReplaceAllString(target.Expr, ""), "")
			metrics := word.FindAllString(bare, -1)
			for _, name := range metrics {
				if asked[name] = true; !names[name] {
					t.Errorf("%s: there is no metric %s", p.Title, name)
				}
			}
			if len(metrics) == 0 {
				t.Errorf("%s asks for no metric: %s", p.Title, target.Expr)
			}
		}
	}
	for _, page := range []string{"observe.md", "operating.md"} {
		text, err := os.ReadFile("../../docs/" + page)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range regexp.MustCompile(`\ba2a_(?:store|server|run|client|delivery)_[a-z0-9_]+`).FindAllString(string(text), -1) {
			if !names[name] {
				t.Errorf("%s: there is no metric %s", page, name)
			}
		}
	}
	for name := range names {
		family := regexp.MustCompile(`_(bucket|sum|count)$`).ReplaceAllString(name, "")
		shown := asked[name] || slices.ContainsFunc([]string{"_bucket", "_count"}, func(end string) bool { return asked[family+end] })
		if !shown && !strings.HasSuffix(name, "_active") {
			t.Errorf("%s is not shown", name)
		}
	}
}
