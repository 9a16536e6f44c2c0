package skills

import (
	"errors"
	"testing"

	rpc "github.com/a2agen/a2agen/runtime/client"

	"example.com/routes/a2a"
	"example.com/routes/client"
)

var (
	office  = client.PlaceString("1600 Amphitheatre Parkway, Mountain View, CA")
	airport = &client.Coordinates{Lat: 37.6213, Lng: -122.379}
)

func TestRouteOptimizerTraffic_avoidingTollsIsLonger(t *testing.T) {
	c := newClient(t)
	fast, err := c.RouteOptimizerTraffic(t.Context(), &client.RouteOptimizerTrafficInput{Origin: office, Destination: airport, Alternatives: 1})
	if err != nil {
		t.Fatal(err)
	}
	free, err := c.RouteOptimizerTraffic(t.Context(), &client.RouteOptimizerTrafficInput{
		Origin: office, Destination: airport, Alternatives: 1,
		Preferences: []client.RouteOptimizerTrafficInputPreferencesItem{client.RouteOptimizerTrafficInputPreferencesItemAvoidTolls},
	})
	if err != nil {
		t.Fatal(err)
	}
	if !fast.Tolls || free.Tolls || free.DistanceMeters <= fast.DistanceMeters {
		t.Errorf("with tolls %+v, without %+v", fast, free)
	}
}

func TestRouteOptimizerTraffic_legsJoinAllStops(t *testing.T) {
	out, err := newClient(t).RouteOptimizerTraffic(t.Context(), &client.RouteOptimizerTrafficInput{
		Origin: office, Via: []client.Place{client.PlaceString("San Francisco")}, Destination: airport, Alternatives: 1,
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(out.Legs) != 2 || out.Legs[0].To != out.Legs[1].From || out.Legs[0].DistanceMeters+out.Legs[1].DistanceMeters != out.DistanceMeters {
		t.Errorf("got %+v", out)
	}
}

func TestRouteOptimizerTraffic_stopsWhenCanceled(t *testing.T) {
	c := newClient(t)
	_, err := c.RouteOptimizerTraffic(t.Context(), &client.RouteOptimizerTrafficInput{Origin: office, Destination: airport, Alternatives: 1000}, rpc.ReturnImmediately())
	var pending *rpc.PendingError
	if !errors.As(err, &pending) {
		t.Fatalf("got %v, want a task at work", err)
	}
	task, err := c.CancelTask(t.Context(), &a2a.CancelTaskRequest{ID: pending.TaskID})
	if err != nil || task.Status.State != a2a.TaskStateCanceled {
		t.Fatalf("got %+v, %v", task, err)
	}
}
