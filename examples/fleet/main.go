// Command reports runs one replica of the agent: it answers A2A requests on -addr and serves its card at /.well-known/agent-card.json.
package main

import (
	"log/slog"
	"os"

	"github.com/a2agen/a2agen/runtime/server"

	"example.com/fleet/agent"
	"example.com/fleet/skills"
)

func main() {
	// With -health the program asks the running agent whether it is well: for the health check of the image.
	if code, asked := server.HealthCheck(os.Args[1:]); asked {
		os.Exit(code)
	}

	log := server.Logger() // to standard error: A2A_LOG=debug, or json, says more or otherwise
	slog.SetDefault(log)
	stop := startTelemetry(log)

	srv, err := agent.NewServer(skills.New(), server.WithLogger(log))

	// Main reads the flag -addr, serves until SIGTERM or SIGINT, and lets running work finish.
	code := server.Main(srv, err)
	stop()
	os.Exit(code)
}
