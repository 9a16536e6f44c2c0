package skills

import (
	"testing"

	"example.com/fleet/agent"
)

func TestWriteReport(t *testing.T) {
	t.Setenv("REPLICA", "one")
	out, err := newClient(t).WriteReport(t.Context(), &agent.WriteReportInput{Subject: "tides", Sections: 3, PauseMillis: 1})
	if err != nil {
		t.Fatal(err)
	}
	if out.Replica != "one" || out.Attempt != 1 || out.Sections != 3 {
		t.Errorf("%+v", out)
	}
}
