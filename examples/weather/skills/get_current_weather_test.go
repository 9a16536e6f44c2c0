package skills

import (
	"errors"
	"testing"

	"github.com/a2agen/a2agen/runtime"
	rpc "github.com/a2agen/a2agen/runtime/client"

	"example.com/weather/a2a"
	"example.com/weather/client"
)

func TestGetCurrentWeather_convertsToFahrenheit(t *testing.T) {
	c := newClient(t)
	celsius, err := c.GetCurrentWeather(t.Context(), &client.GetCurrentWeatherInput{Location: "Paris", Units: client.UnitsCelsius})
	if err != nil {
		t.Fatal(err)
	}
	fahrenheit, err := c.GetCurrentWeather(t.Context(), &client.GetCurrentWeatherInput{Location: "paris", Units: client.UnitsFahrenheit})
	if err != nil {
		t.Fatal(err)
	}
	if want := celsius.Temperature*9/5 + 32; fahrenheit.Temperature != want || fahrenheit.Conditions != celsius.Conditions {
		t.Errorf("got %+v, want %v °F and conditions %v", fahrenheit, want, celsius.Conditions)
	}
}

func TestGetCurrentWeather_rejectsUnknownPlaces(t *testing.T) {
	c := newClient(t)
	_, err := c.GetCurrentWeather(t.Context(), &client.GetCurrentWeatherInput{Location: "Atlantis", Units: client.UnitsCelsius})
	var ended *rpc.TaskError
	if !errors.As(err, &ended) || ended.State != runtime.StateRejected {
		t.Errorf("got %v, want a rejected task", err)
	}
}

// A chat client knows no schemas: it sends a sentence and gets an answer it can show.
func TestGetCurrentWeather_answersASentence(t *testing.T) {
	c := newClient(t)
	answer, err := c.SendMessage(t.Context(), &a2a.SendMessageRequest{Message: a2a.NewMessage(a2a.RoleUser, a2a.Text("What are the current conditions in Tokyo?"))})
	if err != nil {
		t.Fatal(err)
	}
	task, ok := answer.(*a2a.Task)
	if !ok || task.Status.State != a2a.TaskStateCompleted || len(task.Artifacts) == 0 {
		t.Fatalf("got %T %+v, want a completed task with an artifact", answer, answer)
	}
}
