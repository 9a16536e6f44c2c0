package skills

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"example.com/weather/agent"
)

// GetForecast tells the days one by one as a stream of text and answers with all of them. A name that several cities bear is asked
// back; the answer calls it again.
func (a *Agent) GetForecast(_ context.Context, in *agent.GetForecastInput, t *agent.Task) (*agent.GetForecastOutput, error) {
	asked := in.Location
	if t.Resumed() && t.Text() != "" {
		asked = t.Text()
	}
	found := find(asked)
	slices.Sort(found)
	switch {
	case len(found) == 0:
		return nil, t.Ask("Which city? I know Paris, Tokyo, New York, London, Oslo, Cairo and two Springfields.")
	case len(found) > 1:
		return nil, t.Ask("Which one: " + strings.Join(found, " or ") + "?")
	}
	out := &agent.GetForecastOutput{Location: found[0]}
	w := t.Stream("forecast")
	for n := range in.Days {
		day := a.now().UTC().Truncate(24*time.Hour).AddDate(0, 0, int(n))
		s := skyOver(found[0], day)
		f := agent.Day{Date: day, High: s.mean + s.spread, Low: s.mean - s.spread, Conditions: s.conditions}
		if _, err := fmt.Fprintf(w, "%s: %s, %.0f to %.0f °C\n", day.Format("Monday"), f.Conditions, f.Low, f.High); err != nil {
			return nil, err
		}
		out.Days = append(out.Days, f)
	}
	return out, w.Close()
}
