// Package tenskills holds the agents that generation is measured with: ten skills or a multiple of them, each with six
// properties in and nine out, nested and constrained.
package tenskills

import (
	"fmt"
	"strings"
)

const head = `name: Alpine Route Desk
description: Plans journeys over the Alps, watches weather and traffic, and books what is needed.
version: 1.4.0
provider:
  organization: Example Routes
  url: https://routes.example.com
capabilities:
  streaming: true
defaultInputModes: [application/json, text/plain]
defaultOutputModes: [application/json, text/plain]
skills:
`

// skill has the places: id, name, description, tag.
const skill = `  - id: %[1]s
    name: %[2]s
    description: %[3]s
    tags: [%[4]s, route, alps]
    examples:
      - %[2]s from Basel to Lugano tomorrow at seven
    timeout: 30s
    input:
      type: object
      required: [from, to, departure]
      additionalProperties: false
      properties:
        from: {type: string, minLength: 2, maxLength: 80, description: where the journey starts}
        to: {type: string, minLength: 2, maxLength: 80, description: where it ends}
        departure: {type: string, format: date-time}
        vehicle: {type: string, enum: [car, van, lorry, coach]}
        passengers: {type: integer, minimum: 1, maximum: 60, default: 1}
        avoid: {type: array, maxItems: 20, items: {type: string}}
    output:
      type: object
      required: [summary, legs]
      properties:
        summary: {type: string}
        arrival: {type: string, format: date-time}
        legs:
          type: array
          minItems: 1
          items:
            type: object
            required: [road, kilometres]
            properties:
              road: {type: string}
              kilometres: {type: number, minimum: 0}
              minutes: {type: integer, minimum: 0}
              closed: {type: boolean}
        warnings: {type: array, items: {type: string}}
`

var skills = []struct{ id, name, description, tag string }{
	{"plan-route", "Plan a route", "Finds the best way between two places and says why it is the best.", "planning"},
	{"watch-weather", "Watch the weather", "Tells the weather along a route for the time of the journey.", "weather"},
	{"traffic-report", "Report traffic", "Tells delays, closures and road works along a route.", "traffic"},
	{"estimate-cost", "Estimate the cost", "Adds up fuel, tolls and tickets of a journey.", "money"},
	{"find-parking", "Find parking", "Finds a place to leave the vehicle near the end of a journey.", "parking"},
	{"book-shuttle", "Book a car shuttle", "Books a place on a car train through one of the tunnels.", "booking"},
	{"plan-breaks", "Plan breaks", "Places the breaks that drivers of heavy vehicles have to take.", "driving"},
	{"charge-stops", "Plan charging stops", "Places the stops to charge an electric vehicle.", "charging"},
	{"compare-modes", "Compare with rail", "Compares a journey by road with the same by train.", "rail"},
	{"share-journey", "Share a journey", "Writes a journey down so that others can follow it.", "sharing"},
}

// Count is the number of skills.
var Count = len(skills)

// YAML returns agent.yaml.
func YAML() string { return Times(1) }

// Times returns the agent.yaml of an agent that has each skill n times under different names.
func Times(n int) string {
	var b strings.Builder
	b.WriteString(head)
	for i := range n {
		for _, s := range skills {
			if i > 0 {
				s.id, s.name = fmt.Sprintf("%s-%d", s.id, i+1), fmt.Sprintf("%s %d", s.name, i+1)
			}
			fmt.Fprintf(&b, skill, s.id, s.name, s.description, s.tag)
		}
	}
	return b.String()
}
