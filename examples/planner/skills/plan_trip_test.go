package skills

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2agen/a2agen/runtime"
	rpc "github.com/a2agen/a2agen/runtime/client"
	"github.com/a2agen/a2agen/runtime/server"
	"github.com/a2agen/a2agen/runtime/store/sqlite"
	"github.com/a2agen/a2agen/testkit/a2atest"

	"example.com/planner/a2a"
	"example.com/planner/client"
	"example.com/planner/client/routes"
	"example.com/planner/client/weather"
)

var (
	toParis = &client.PlanTripInput{From: "Oslo", To: "Paris", Days: 1}
	paris   = sunIn("Paris")
	way     = &routes.RouteOptimizerTrafficOutput{
		DistanceMeters: 1_700_000, Duration: "PT18H",
		Legs: []routes.Leg{{From: routes.PlaceString("Oslo"), To: routes.PlaceString("Paris"), DistanceMeters: 1_700_000}},
	}
)

// sunIn is the forecast of a day.
func sunIn(town string) *weather.GetForecastOutput {
	day := weather.Day{Date: time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC), High: 24, Low: 14, Conditions: weather.ConditionsSunny}
	return &weather.GetForecastOutput{Location: town, Days: []weather.Day{day}}
}

func TestPlanTrip_putsTogetherWhatTheOthersSay(t *testing.T) {
	w := newWorld(t)
	w.weather.GetForecast.Returns(paris)
	w.routes.RouteOptimizerTraffic.Returns(way)
	out, err := w.planner(t).PlanTrip(t.Context(), toParis)
	if err != nil {
		t.Fatal(err)
	}
	if out.To != "Paris" || out.DistanceMeters != 1_700_000 || len(out.Days) != 1 || out.Days[0].Conditions != "sunny" {
		t.Errorf("got %+v", out)
	}
	if asked := w.weather.GetForecast.Calls(); len(asked) != 1 || asked[0].Location != "Paris" || asked[0].Days != 1 {
		t.Errorf("it asked for the weather of %+v", asked)
	}
}

func TestPlanTrip_asksBothAtTheSameTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // two minutes take no time
		w := newWorld(t)
		w.weather.GetForecast.After(2 * time.Minute).Returns(paris)
		w.routes.RouteOptimizerTraffic.After(2 * time.Minute).Returns(way)
		begun, planner := time.Now(), w.planner(t)
		if _, err := planner.PlanTrip(t.Context(), toParis); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(begun); took > 3*time.Minute {
			t.Errorf("it took %v", took)
		}
	})
}

func TestPlanTrip_passesOnWhatTheOthersSay(t *testing.T) {
	w := newWorld(t)
	w.weather.GetForecast.Streams("Monday: sun\n", "Tuesday: rain\n").Returns(paris)
	w.routes.RouteOptimizerTraffic.Progress("compared 1 of 3 routes").Returns(way)
	var said []string
	for step, err := range w.planner(t).PlanTripStream(t.Context(), toParis) {
		if err != nil {
			t.Fatal(err)
		}
		if text := strings.TrimSpace(step.Text()); text != "" && !step.Done {
			said = append(said, text)
		}
	}
	slices.Sort(said)
	if got := strings.Join(said, ", "); got != "Monday: sun, Tuesday: rain, compared 1 of 3 routes" {
		t.Errorf("it said %s", got)
	}
}

func TestPlanTrip_asksWhatItIsAsked(t *testing.T) {
	w := newWorld(t)
	w.weather.GetForecast.Asks("Illinois or Oregon?").Returns(sunIn("Springfield, Oregon"))
	w.routes.RouteOptimizerTraffic.Returns(way)
	planner := w.planner(t)
	_, err := planner.PlanTrip(t.Context(), &client.PlanTripInput{From: "Oslo", To: "Springfield", Days: 1})
	var ask *rpc.InputRequiredError
	if !errors.As(err, &ask) || ask.Prompt != "Illinois or Oregon?" {
		t.Fatalf("got %v, want the question of the weather agent", err)
	}
	out, err := planner.PlanTripAnswer(t.Context(), ask, runtime.Text("Oregon"))
	if err != nil || out.To != "Springfield, Oregon" {
		t.Fatalf("got %+v, %v", out, err)
	}
	if calls := len(w.routes.RouteOptimizerTraffic.Calls()); calls != 1 {
		t.Errorf("the route was worked on %d times", calls)
	}
}

func TestPlanTrip_asksNothingForATripThatHasNoWay(t *testing.T) {
	w := newWorld(t)
	w.weather.GetForecast.Asks("Illinois or Oregon?")
	w.routes.RouteOptimizerTraffic.Fails("no road leads there")
	_, err := w.planner(t).PlanTrip(t.Context(), toParis)
	var ended *rpc.TaskError
	if !errors.As(err, &ended) || ended.State != runtime.StateFailed {
		t.Errorf("got %v, want a failed task", err)
	}
}

// TestPlanTrip_goesOnAfterARestart: the agents that it calls go on meanwhile, and do nothing twice.
func TestPlanTrip_goesOnAfterARestart(t *testing.T) {
	file, w := filepath.Join(t.TempDir(), "plans.db"), newWorld(t)
	asked, goOn := make(chan struct{}), make(chan struct{})
	w.weather.GetForecast.Returns(paris)
	w.routes.OnRouteOptimizerTraffic(func(context.Context, *routes.RouteOptimizerTrafficInput, *a2atest.Task) (*routes.RouteOptimizerTrafficOutput, error) {
		close(asked)
		<-goOn
		return way, nil
	})
	before, stop := w.serve(t, kept(t, file))
	_, err := before.PlanTrip(t.Context(), toParis, rpc.ReturnImmediately())
	var pending *rpc.PendingError
	if !errors.As(err, &pending) {
		t.Fatalf("got %v, want a task that is at work", err)
	}
	<-asked
	stop()
	after, _ := w.serve(t, kept(t, file))
	close(goOn)
	result, err := after.RPC().Await(t.Context(), pending.TaskID)
	if err != nil || result.State != runtime.StateCompleted {
		t.Fatalf("got %+v, %v", result, err)
	}
	if sky, ways := len(w.weather.GetForecast.Calls()), len(w.routes.RouteOptimizerTraffic.Calls()); sky != 1 || ways != 1 {
		t.Errorf("the weather was asked for %d times, the way %d times", sky, ways)
	}
}

// kept keeps tasks in a file, as the agent does outside of tests.
func kept(t *testing.T, file string) server.Option {
	t.Helper()
	tasks, err := sqlite.Open(file, a2a.Protocol(), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return server.WithStore(tasks)
}
