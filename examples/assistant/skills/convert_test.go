package skills

import (
	"math"
	"testing"

	"example.com/assistant/client"
)

func TestConvert_convertsThereAndBack(t *testing.T) {
	c := newWorld(t).assistant(t)
	for _, units := range [][2]client.Unit{{client.UnitCelsius, client.UnitFahrenheit}, {client.UnitKilometers, client.UnitMiles}} {
		there, err := c.Convert(t.Context(), &client.ConvertInput{Value: 10, From: units[0], To: units[1]})
		if err != nil {
			t.Fatal(err)
		}
		back, err := c.Convert(t.Context(), &client.ConvertInput{Value: there.Value, From: units[1], To: units[0]})
		if err != nil || there.Value == 10 || math.Abs(back.Value-10) > 1e-9 {
			t.Errorf("10 %s are %v %s, and that is %v, %v", units[0], there, units[1], back, err)
		}
	}
}
