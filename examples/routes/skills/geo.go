package skills

import (
	"hash/fnv"
	"math"

	"example.com/routes/agent"
)

const earthRadius = 6_371_000 // meters

// gazetteer knows the places of the examples.
var gazetteer = map[agent.PlaceString]agent.Coordinates{
	"1600 Amphitheatre Parkway, Mountain View, CA": {Lat: 37.422, Lng: -122.084},
	"San Francisco International Airport":          {Lat: 37.6213, Lng: -122.379},
	"San Francisco":                                {Lat: 37.7749, Lng: -122.4194},
}

// locate finds a place on the map. An address it does not know gets a point of its own in the Bay Area, always the same.
func locate(p agent.Place) agent.Coordinates {
	switch p := p.(type) {
	case *agent.Coordinates:
		return *p
	case agent.PlaceString:
		if c, ok := gazetteer[p]; ok {
			return c
		}
		h := fnv.New32a()
		h.Write([]byte(p))
		n := h.Sum32()
		return agent.Coordinates{Lat: 37 + float64(n%1000)/1000, Lng: -122.5 + float64(n/1000%1000)/1000}
	}
	return agent.Coordinates{}
}

// distance is the length of the great circle between two points, in meters.
func distance(a, b agent.Coordinates) float64 {
	rad := math.Pi / 180
	dLat, dLng := (b.Lat-a.Lat)*rad, (b.Lng-a.Lng)*rad
	h := math.Pow(math.Sin(dLat/2), 2) + math.Cos(a.Lat*rad)*math.Cos(b.Lat*rad)*math.Pow(math.Sin(dLng/2), 2)
	return 2 * earthRadius * math.Asin(math.Sqrt(h))
}
