package skills

import (
	"hash/fnv"
	"strings"
	"time"

	"example.com/weather/agent"
)

// cities are the places the bot knows, with their yearly mean in degrees Celsius.
var cities = map[string]float64{
	"Paris": 12, "Tokyo": 16, "New York": 13, "London": 11, "Springfield, Illinois": 12, "Springfield, Oregon": 11, "Oslo": 6, "Cairo": 22,
}

// find returns the cities that a sentence names, in whole or by the part before a comma.
func find(sentence string) []string {
	var exact, loose []string
	for city := range cities {
		short, _, _ := strings.Cut(city, ",")
		switch {
		case strings.Contains(strings.ToLower(sentence), strings.ToLower(city)):
			exact = append(exact, city)
		case strings.Contains(strings.ToLower(sentence), strings.ToLower(short)):
			loose = append(loose, city)
		}
	}
	if len(exact) > 0 {
		return exact
	}
	return loose
}

// sky is the weather of a city on a day.
type sky struct {
	mean, spread float64 // degrees Celsius
	conditions   agent.Conditions
	humidity     int64
}

func skyOver(city string, day time.Time) sky {
	h := fnv.New32a()
	h.Write([]byte(city + day.Format(time.DateOnly)))
	n := h.Sum32()
	s := sky{mean: cities[city] + float64(n%11) - 5, spread: 3 + float64(n/11%4), humidity: int64(30 + n/44%60)}
	s.conditions = []agent.Conditions{agent.ConditionsSunny, agent.ConditionsCloudy, agent.ConditionsRain}[n/7%3]
	if s.conditions == agent.ConditionsRain && s.mean < 0 {
		s.conditions = agent.ConditionsSnow
	}
	return s
}
