// Command trip-planner runs the agent: it answers A2A requests on -addr and serves its card at /.well-known/agent-card.json.
package main

import (
	"log/slog"
	"os"

	"github.com/a2agen/a2agen/runtime/server"

	"example.com/planner/agent"
	"example.com/planner/skills"
)

func main() {
	// With -health the program asks the running agent whether it is well: for the health check of the image.
	if code, asked := server.HealthCheck(os.Args[1:]); asked {
		os.Exit(code)
	}

	log := server.Logger() // to standard error: A2A_LOG=debug, or json, says more or otherwise
	slog.SetDefault(log)

	srv, err := agent.NewServer(skills.New(),
		server.WithLogger(log),
		// Further options of package server belong here: a store, limits, who the caller is.
		//
		// Plain text that fits none of several skills is answered with a list of them, unless one says "default: true" in
		// agent.yaml, or a router, which may ask a model, places it:
		//
		// server.WithRouter(func(ctx context.Context, m runtime.Message) (string, error) {
		// 	return "plan-trip", nil // the id of a skill, or "" when it does not know either
		// }),
	)

	// Main reads the flag -addr, serves until SIGTERM or SIGINT, and lets running work finish.
	os.Exit(server.Main(srv, err))
}
