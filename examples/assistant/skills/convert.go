package skills

import (
	"context"

	"example.com/assistant/agent"
)

// Convert converts a value. A temperature is no length.
func (a *Agent) Convert(_ context.Context, in *agent.ConvertInput, t *agent.Task) (*agent.ConvertOutput, error) {
	const kilometers = 1.609344 // of a mile
	switch {
	case in.From == in.To:
		return &agent.ConvertOutput{Value: in.Value}, nil
	case in.From == agent.UnitCelsius && in.To == agent.UnitFahrenheit:
		return &agent.ConvertOutput{Value: in.Value*9/5 + 32}, nil
	case in.From == agent.UnitFahrenheit && in.To == agent.UnitCelsius:
		return &agent.ConvertOutput{Value: (in.Value - 32) * 5 / 9}, nil
	case in.From == agent.UnitKilometers && in.To == agent.UnitMiles:
		return &agent.ConvertOutput{Value: in.Value / kilometers}, nil
	case in.From == agent.UnitMiles && in.To == agent.UnitKilometers:
		return &agent.ConvertOutput{Value: in.Value * kilometers}, nil
	}
	return nil, t.Reject("%s cannot be converted to %s.", in.From, in.To)
}
