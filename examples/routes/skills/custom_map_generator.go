package skills

import (
	"context"
	"fmt"
	"strings"

	"github.com/a2agen/a2agen/runtime"

	"example.com/routes/agent"
)

// CustomMapGenerator draws a map of the stops. Without stops it asks for them, and the answer calls it again.
func (a *Agent) CustomMapGenerator(ctx context.Context, in *agent.CustomMapGeneratorInput, t *agent.Task) (*agent.CustomMapGeneratorOutput, error) {
	if len(in.Stops) == 0 {
		return nil, t.Ask("Which stops should the map show?", map[string]any{"stops": []agent.Coordinates{{Lat: 37.7749, Lng: -122.4194}}})
	}
	out := &agent.CustomMapGeneratorOutput{Title: in.Title, Stops: int64(len(in.Stops)), Bounds: bounds(in.Stops)}
	if err := legend(in, t.Stream("legend")); err != nil {
		return nil, err
	}
	if err := t.Artifact("map", runtime.File("map.svg", "image/svg+xml", draw(in, out.Bounds))); err != nil {
		return nil, err
	}
	return out, nil
}

// legend writes the list of stops line by line; each line is an event that the client sees at once.
func legend(in *agent.CustomMapGeneratorInput, w interface {
	Write([]byte) (int, error)
	Close() error
}) error {
	for i, s := range in.Stops {
		if _, err := fmt.Fprintf(w, "%d: %.4f, %.4f\n", i+1, s.Lat, s.Lng); err != nil {
			return err
		}
	}
	return w.Close()
}

func bounds(stops []agent.Coordinates) agent.CustomMapGeneratorOutputBounds {
	b := agent.CustomMapGeneratorOutputBounds{SouthWest: stops[0], NorthEast: stops[0]}
	for _, s := range stops {
		b.SouthWest = agent.Coordinates{Lat: min(b.SouthWest.Lat, s.Lat), Lng: min(b.SouthWest.Lng, s.Lng)}
		b.NorthEast = agent.Coordinates{Lat: max(b.NorthEast.Lat, s.Lat), Lng: max(b.NorthEast.Lng, s.Lng)}
	}
	return b
}

var background = map[agent.CustomMapGeneratorInputStyle]string{
	agent.CustomMapGeneratorInputStyleStreets: "#f4f1ea",
	agent.CustomMapGeneratorInputStyleTerrain: "#dfe8d5",
	agent.CustomMapGeneratorInputStyleNight:   "#1b2233",
}

// draw renders the stops as dots on a square of 400 pixels with a margin.
func draw(in *agent.CustomMapGeneratorInput, b agent.CustomMapGeneratorOutputBounds) []byte {
	const size, margin = 400, 20
	scale := func(v, low, high float64) float64 {
		if high == low {
			return size / 2
		}
		return margin + (v-low)/(high-low)*(size-2*margin)
	}
	var svg strings.Builder
	fmt.Fprintf(&svg, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d"><rect width="100%%" height="100%%" fill="%s"/>`, size, size, background[in.Style])
	for _, s := range in.Stops {
		x := scale(s.Lng, b.SouthWest.Lng, b.NorthEast.Lng)
		y := size - scale(s.Lat, b.SouthWest.Lat, b.NorthEast.Lat)
		fmt.Fprintf(&svg, `<circle cx="%.0f" cy="%.0f" r="6" fill="#d33"/>`, x, y)
	}
	svg.WriteString("</svg>")
	return []byte(svg.String())
}
