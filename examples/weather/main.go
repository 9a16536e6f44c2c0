// Command weather-bot runs the agent: it answers A2A requests on -addr and serves its card at /.well-known/agent-card.json.
package main

import (
	"log/slog"
	"os"

	"github.com/a2agen/a2agen/runtime/server"

	"example.com/weather/agent"
	"example.com/weather/skills"
)

func main() {
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	slog.SetDefault(log)

	// Further options of package server belong here: a store, a router, limits, who the caller is.
	srv, err := agent.NewServer(skills.New(), server.WithLogger(log))

	// Main reads the flag -addr, serves until SIGTERM or SIGINT, and lets running work finish.
	os.Exit(server.Main(srv, err))
}
