package a2atest_test

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestAnAgentOfThirtyMinutesTakesNoTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t)
		f.Forecast.After(30 * time.Minute).Returns(sunny(3))
		began := time.Now()
		out, err := forecast.Call(t.Context(), f.Client(t).RPC(), &forecastInput{City: "Rome"})
		if err != nil || *out != *sunny(3) || time.Since(began) < 30*time.Minute {
			t.Errorf("%+v, %v after %v", out, err, time.Since(began))
		}
		if calls := f.Forecast.Calls(); len(calls) != 1 || calls[0].City != "Rome" {
			t.Errorf("calls: %v", calls)
		}
	})
}
