package main

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"example.com/routes/client"
	"example.com/routes/client/routestest"
)

var found = &client.RouteOptimizerTrafficOutput{
	DistanceMeters: 40_000, Duration: "PT1H", Legs: []client.Leg{{From: googleplex, To: airport, DistanceMeters: 40_000, Traffic: new(client.LegTrafficFree)}},
}

func TestMapWithQuestion_answersWithStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // where an agent that thinks for hours answers at once
		f := routestest.NewFake(t)
		f.CustomMapGenerator.After(3 * time.Hour).Asks("Which stops?").Returns(&client.CustomMapGeneratorOutput{Title: "Road trip", Stops: 2})
		if err := mapWithQuestion(t.Context(), f.Client(t)); err != nil {
			t.Fatal(err)
		}
		if got := f.CustomMapGenerator.Calls(); len(got) != 1 || len(got[0].Stops) != 0 {
			t.Errorf("it was called with %+v", got)
		}
	})
}

func TestRouteStreamed_failsWithoutProgress(t *testing.T) {
	f := routestest.NewFake(t)
	f.RouteOptimizerTraffic.Returns(found)
	if err := routeStreamed(t.Context(), f.Client(t)); err == nil {
		t.Error("a stream without progress is taken")
	}
	f.RouteOptimizerTraffic.Progress("1 of 3").Returns(found)
	if err := routeStreamed(t.Context(), f.Client(t)); err != nil {
		t.Error(err)
	}
}

func TestRoute_endsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := routestest.NewFake(t)
		f.RouteOptimizerTraffic.After(time.Hour).Returns(found)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := route(ctx, f.Client(t)); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("it ended with %v", err)
		}
	})
}
