// Command assistant runs the agent: it answers A2A requests on -addr and serves its card at /.well-known/agent-card.json.
package main

import (
	"log/slog"
	"os"

	"github.com/a2agen/a2agen/runtime/server"

	"example.com/assistant/agent"
	"example.com/assistant/skills"
)

func main() {
	// With -health the program asks the running agent whether it is well: for the health check of an image.
	if code, asked := server.HealthCheck(os.Args[1:]); asked {
		os.Exit(code)
	}

	log := server.Logger() // to standard error: A2A_LOG=debug, or json, says more or otherwise
	slog.SetDefault(log)

	model := skills.NewModel()
	if model.URL == "" {
		log.Warn("MODEL_URL is not set: the skill ask can only say so. README.md says which endpoints there are")
	}
	assistant := skills.New(model)
	srv, err := agent.NewServer(assistant, server.WithLogger(log))
	if err == nil {
		err = assistant.UseOwn(srv)
	}

	// Main reads the flag -addr, serves until SIGTERM or SIGINT, and lets running work finish.
	os.Exit(server.Main(srv, err))
}
