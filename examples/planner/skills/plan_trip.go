package skills

import (
	"cmp"
	"context"
	"errors"
	"sync"

	rpc "github.com/a2agen/a2agen/runtime/client"

	"example.com/planner/agent"
	"example.com/planner/client/routes"
	"example.com/planner/client/weather"
)

// PlanTrip asks for the way and for the weather at the same time, and passes on what the two say while they work. If
// one of them asks something, so does the plan: the answer calls this handler again, and it makes the same calls
// again, of which the one that asked gets the answer, and the other gives what it gave.
//
// So it is after a crash: "onCrash: retry" calls the handler again, and its calls find the tasks that they began.
func (a *Agent) PlanTrip(ctx context.Context, in *agent.PlanTripInput, t *agent.Task) (*agent.PlanTripOutput, error) {
	var way *routes.RouteOptimizerTrafficOutput
	var noWay error
	var asking sync.WaitGroup
	asking.Go(func() {
		trip := &routes.RouteOptimizerTrafficInput{
			Origin: routes.PlaceString(in.From), Destination: routes.PlaceString(in.To), Alternatives: 3,
		}
		way, noWay = rpc.Forward(t, a.Routes.RouteOptimizerTrafficStream(ctx, trip))
	})
	stay := &weather.GetForecastInput{Location: in.To, Days: in.Days}
	sky, noSky := rpc.Forward(t, a.Weather.GetForecastStream(ctx, stay))
	asking.Wait()

	err := cmp.Or(noWay, noSky)
	var ask *rpc.InputRequiredError
	switch {
	case errors.As(err, &ask):
		return nil, t.AskFrom(ask)
	case err != nil:
		return nil, err
	}
	return plan(way, sky), nil
}

// plan puts together what the two agents say.
func plan(way *routes.RouteOptimizerTrafficOutput, sky *weather.GetForecastOutput) *agent.PlanTripOutput {
	out := &agent.PlanTripOutput{To: sky.Location, DistanceMeters: way.DistanceMeters, Duration: way.Duration}
	for _, d := range sky.Days {
		out.Days = append(out.Days, agent.PlanTripOutputDaysItem{
			Date: d.Date, Conditions: string(d.Conditions), High: d.High, Low: d.Low,
		})
	}
	return out
}
