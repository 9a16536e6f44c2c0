package a2awires

import (
	"testing"

	"github.com/a2agen/a2agen/runtime"
)

// TestAPushNotificationHasTheShapeOfItsVersion: a stream item in 1.0, the bare task before.
func TestAPushNotificationHasTheShapeOfItsVersion(t *testing.T) {
	p := Protocol()
	task := p.NewTask("t", "c", at)
	event := p.NewStatus("t", "c", runtime.StateCompleted, nil, at)
	for _, e := range []runtime.Event{p.NewArtifact("t", "c", runtime.ArtifactData{ID: "map", Parts: []runtime.Part{runtime.Text("x")}}), event} {
		if err := task.Apply(e); err != nil {
			t.Fatal(err)
		}
	}
	want := map[string]string{
		"1.0": `{"statusUpdate":{"taskId":"t","contextId":"c","status":{"state":"TASK_STATE_COMPLETED","timestamp":"2026-01-02T03:04:05Z"}}}`,
		"0.3": `{"kind":"task","id":"t","contextId":"c","status":{"state":"completed","timestamp":"2026-01-02T03:04:05Z"},"artifacts":[{"artifactId":"map","parts":[{"kind":"text","text":"x"}]}]}`,
		"0.2": `{"kind":"task","id":"t","contextId":"c","status":{"state":"completed","timestamp":"2026-01-02T03:04:05Z"},"artifacts":[{"artifactId":"map","parts":[{"kind":"text","text":"x"}]}]}`,
		"0.1": `{"id":"t","sessionId":"c","status":{"state":"completed","timestamp":"2026-01-02T03:04:05Z"},"artifacts":[{"parts":[{"type":"text","text":"x"}],"index":0}]}`,
	}
	for version, want := range want {
		got, err := p.AppendPush(nil, versionOf(version), task, event)
		if err != nil || string(got) != want {
			t.Errorf("%s: %s, %v\nwant %s", version, got, err, want)
		}
	}
	if _, err := p.AppendPush(nil, &runtime.Version{Name: "0.0", Rules: runtime.Rules{PushTask: true}}, task, event); err == nil {
		t.Error("a version that cannot write a task wrote one")
	}
}
