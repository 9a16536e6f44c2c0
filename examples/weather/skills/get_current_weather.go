package skills

import (
	"context"

	"example.com/weather/agent"
)

// GetCurrentWeather answers with the weather of today.
func (a *Agent) GetCurrentWeather(_ context.Context, in *agent.GetCurrentWeatherInput, t *agent.Task) (*agent.GetCurrentWeatherOutput, error) {
	found := find(in.Location)
	if len(found) == 0 {
		return nil, t.Reject("I know nothing of that place. Try Paris, Tokyo, New York or London.")
	}
	now := skyOver(found[0], a.now())
	out := &agent.GetCurrentWeatherOutput{Location: found[0], Temperature: now.mean, Units: in.Units, Conditions: now.conditions, Humidity: &now.humidity}
	if in.Units == agent.UnitsFahrenheit {
		out.Temperature = now.mean*9/5 + 32
	}
	return out, nil
}
