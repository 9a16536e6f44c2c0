package skills

import (
	"context"
	"fmt"
	"slices"
	"time"

	"example.com/routes/agent"
)

// RouteOptimizerTraffic compares as many candidate routes as it is asked to, telling how far it is, and answers with the best.
func (a *Agent) RouteOptimizerTraffic(ctx context.Context, in *agent.RouteOptimizerTrafficInput, t *agent.Task) (*agent.RouteOptimizerTrafficOutput, error) {
	for n := range in.Alternatives {
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(a.Pace):
		}
		if err := t.Progress("compared %d of %d routes", n+1, in.Alternatives); err != nil {
			return nil, err
		}
	}
	stops := append(append([]agent.Place{in.Origin}, in.Via...), in.Destination)
	return drive(stops, in.Preferences), nil
}

// drive follows the roads from stop to stop. Roads are a third longer than the crow flies; toll roads a tenth shorter than others.
func drive(stops []agent.Place, preferences []agent.RouteOptimizerTrafficInputPreferencesItem) *agent.RouteOptimizerTrafficOutput {
	tolls := !slices.Contains(preferences, agent.RouteOptimizerTrafficInputPreferencesItemAvoidTolls)
	detour := 1.3
	if !tolls {
		detour *= 1.1
	}
	out := &agent.RouteOptimizerTrafficOutput{Tolls: tolls}
	var seconds float64
	for i := 1; i < len(stops); i++ {
		meters := detour * distance(locate(stops[i-1]), locate(stops[i]))
		dense := traffic(meters)
		out.Legs = append(out.Legs, agent.Leg{From: stops[i-1], To: stops[i], DistanceMeters: int64(meters), Traffic: &dense})
		out.DistanceMeters += int64(meters)
		seconds += meters / speed[dense]
	}
	out.Duration = isoDuration(time.Duration(seconds) * time.Second)
	return out
}

// speed is in meters a second.
var speed = map[agent.LegTraffic]float64{agent.LegTrafficFree: 28, agent.LegTrafficSlow: 14, agent.LegTrafficJam: 4}

// traffic is dense on short legs: those are in town.
func traffic(meters float64) agent.LegTraffic {
	switch {
	case meters > 40_000:
		return agent.LegTrafficFree
	case meters > 2_000:
		return agent.LegTrafficSlow
	default:
		return agent.LegTrafficJam
	}
}

// isoDuration renders d as ISO 8601 does: PT1H5M.
func isoDuration(d time.Duration) string {
	minutes := int(d.Round(time.Minute).Minutes())
	if minutes < 60 {
		return fmt.Sprintf("PT%dM", minutes)
	}
	return fmt.Sprintf("PT%dH%dM", minutes/60, minutes%60)
}
