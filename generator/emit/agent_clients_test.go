package emit

import (
	"strings"
	"testing"

	"github.com/a2agen/a2agen/generator/ir"
)

// TestClientsOfHandlersDoNotReportToTelemetryTwice: each has an observer for that of its own, so that the server's
// is given before the clients are, which get those that come after them.
func TestClientsOfHandlersDoNotReportToTelemetryTwice(t *testing.T) {
	m := agentModel()
	m.Agent.Telemetry = true
	m.Agent.Remotes = []*ir.Remote{{Client: "routes", Agent: "Routes", Import: "example.com/weather/client/routes"}}
	src := emitAgent(t, m)["agent/server.gen.go"]
	clients, telemetry := strings.Index(src, "WithClients(c.openClients)"), strings.Index(src, "WithObserver(")
	if clients < 0 || telemetry < 0 || clients > telemetry { // each is put before what is there
		t.Errorf("in which order are they? %s", src)
	}
}

// TestAnAgentThatCallsNobodyIsAsItWas: not a line of it is about clients.
func TestAnAgentThatCallsNobodyIsAsItWas(t *testing.T) {
	files := emitAgent(t, agentModel())
	if _, made := files["agent/clients.gen.go"]; made || strings.Contains(files["agent/server.gen.go"], "lients") {
		t.Error(files["agent/server.gen.go"])
	}
}

// TestFieldsOfClientsAvoidTheNamesOfHandlers, which would hide them in the type that embeds them.
func TestFieldsOfClientsAvoidTheNamesOfHandlers(t *testing.T) {
	m := agentModel()
	for _, name := range []string{"chat", "clients", "options", "weather"} {
		m.Agent.Remotes = append(m.Agent.Remotes, &ir.Remote{Client: name, Agent: name, Import: "example.com/weather/client/" + name})
	}
	src := emitAgent(t, m)["agent/clients.gen.go"]
	for _, want := range []string{"ChatClient *chat.Client", "ClientsClient *clients.Client", "OptionsClient *options.Client", "Weather *weather.Client"} {
		if !strings.Contains(src, want) {
			t.Errorf("no %s in\n%s", want, src)
		}
	}
}
