package skills

import (
	"bytes"
	"errors"
	"testing"

	"github.com/a2agen/a2agen/runtime"
	rpc "github.com/a2agen/a2agen/runtime/client"

	"example.com/routes/client"
)

func TestCustomMapGenerator_asksForStopsAndGoesOn(t *testing.T) {
	c := newClient(t)
	_, err := c.CustomMapGenerator(t.Context(), &client.CustomMapGeneratorInput{Title: "Trip", Style: client.CustomMapGeneratorInputStyleNight})
	var ask *rpc.InputRequiredError
	if !errors.As(err, &ask) || ask.Data == nil {
		t.Fatalf("got %v, want a question with an example", err)
	}
	out, err := c.CustomMapGeneratorAnswer(t.Context(), ask, runtime.Data(map[string]any{"stops": []client.Coordinates{*airport, {Lat: 37.5, Lng: -122}}}))
	if err != nil {
		t.Fatal(err)
	}
	want := client.CustomMapGeneratorOutputBounds{SouthWest: client.Coordinates{Lat: 37.5, Lng: -122.379}, NorthEast: client.Coordinates{Lat: 37.6213, Lng: -122}}
	if out.Title != "Trip" || out.Stops != 2 || out.Bounds != want {
		t.Errorf("got %+v, want bounds %+v", out, want)
	}
}

func TestCustomMapGenerator_drawsEveryStop(t *testing.T) {
	in := &client.CustomMapGeneratorInput{Title: "Trip", Style: client.CustomMapGeneratorInputStyleStreets, Stops: []client.Coordinates{*airport, {Lat: 37.5, Lng: -122}}}
	for e, err := range newClient(t).CustomMapGeneratorStream(t.Context(), in) {
		if err != nil {
			t.Fatal(err)
		}
		if !e.Done {
			continue
		}
		files := e.Result.Files()
		if len(files) != 1 || files[0].MediaType != "image/svg+xml" || bytes.Count(files[0].Content, []byte("<circle")) != 2 {
			t.Errorf("got %+v, want one drawing with two stops", files)
		}
	}
}
