package a2atest_test

import (
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"

	"github.com/a2agen/a2agen/testkit/a2atest"
	"github.com/a2agen/a2agen/testkit/conform"
	recording "github.com/a2agen/a2agen/testkit/record"
)

// says answers every request with the same.
func says(mediaType, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", mediaType)
		fmt.Fprint(w, body)
	}
}

// TestWhatIsNoAgentFailsConformAtItsLine is inside a bubble, where only the agent of the test is reached.
func TestWhatIsNoAgentFailsConformAtItsLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := a2atest.Serve(t, says("text/html", "<html>"))
		at := here(1)
		got := record(t, func(t testing.TB) { conform.Test(t, a.URL(), conform.WithDial(a.Dial)) })
		wantReports(t, got, []string{at, "is a web page and no agent card"})
	})
}

// TestAFindingFailsTheTestWithWhatWasSentAndCame has an agent that answers everything with its card.
func TestAFindingFailsTheTestWithWhatWasSentAndCame(t *testing.T) {
	a := a2atest.Serve(t, says("application/json", `{"name":"x","description":"d","version":"1","capabilities":{},"defaultInputModes":[],
		"defaultOutputModes":[],"skills":[],"supportedInterfaces":[{"url":"https://agent.test/","protocolBinding":"JSONRPC","protocolVersion":"1.0"}]}`))
	at := here(2)
	got := record(t, func(t testing.TB) {
		conform.Test(t, a.URL(), conform.WithDial(a.Dial), conform.WithOnly("jsonrpc.unknown-method"))
	})
	wantReports(t, got, []string{at, "MUST jsonrpc.unknown-method, 1.0 JSONRPC", "1.0 §9.5", "sent POST", "conform/unknown", "came 200"})
}

// TestAMissingRecordingIsReportedForTheLineThatNamesIt.
func TestAMissingRecordingIsReportedForTheLineThatNamesIt(t *testing.T) {
	line := here(1)
	wantReports(t, record(t, func(t testing.TB) { recording.Replay(t, "testdata/none.jsonl") }), []string{line + ": record: there is no recording testdata/none.jsonl yet"})
}
