package skills

import (
	"errors"
	"strings"
	"testing"

	"github.com/a2agen/a2agen/runtime"
	rpc "github.com/a2agen/a2agen/runtime/client"

	"example.com/weather/client"
)

func TestGetForecast_streamsDayByDay(t *testing.T) {
	c := newClient(t)
	var told []string
	var out *client.GetForecastOutput
	for e, err := range c.GetForecastStream(t.Context(), &client.GetForecastInput{Location: "London", Days: 3}) {
		if err != nil {
			t.Fatal(err)
		}
		if s := e.Text(); e.Artifact != nil && s != "" {
			told = append(told, s)
		}
		if e.Done {
			out = e.Output
		}
	}
	if out == nil || len(out.Days) != 3 || len(told) != 3 {
		t.Fatalf("told %q, output %+v; want three days of each", told, out)
	}
	for i, d := range out.Days {
		if !strings.Contains(told[i], d.Date.Weekday().String()) {
			t.Errorf("chunk %d is %q, but day %d is a %s", i, told[i], i, d.Date.Weekday())
		}
	}
}

func TestGetForecast_asksWhichCityIsMeant(t *testing.T) {
	c := newClient(t)
	_, err := c.GetForecast(t.Context(), &client.GetForecastInput{Location: "Springfield", Days: 1})
	var ask *rpc.InputRequiredError
	if !errors.As(err, &ask) || !strings.Contains(ask.Prompt, "Illinois") {
		t.Fatalf("got %v, want a question that names both", err)
	}
	out, err := c.GetForecastAnswer(t.Context(), ask, runtime.Text("Springfield, Oregon"))
	if err != nil {
		t.Fatal(err)
	}
	if out.Location != "Springfield, Oregon" || len(out.Days) != 1 {
		t.Errorf("got %+v, want one day in Springfield, Oregon", out)
	}
}

func TestGetForecast_refusesMoreDaysThanTheContractAllows(t *testing.T) {
	_, err := newClient(t).GetForecast(t.Context(), &client.GetForecastInput{Location: "London", Days: 9})
	if err == nil || !strings.Contains(err.Error(), "/days") {
		t.Errorf("got %v, want an error at /days", err)
	}
}
