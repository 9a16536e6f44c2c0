package main

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/a2agen/a2agen/runtime/store/admin"
)

// TestEventsAreToldInWords: what was said and made, by whom, on one line that cannot control a terminal.
func TestEventsAreToldInWords(t *testing.T) {
	const at = `"timestamp":"2030-01-02T03:04:05Z"`
	for name, tt := range map[string]struct {
		version, event, messages, want string
		untimed                        bool
	}{
		"a task": {"1.0", `{"task":{"id":"t","status":{"state":"TASK_STATE_SUBMITTED",` + at + `},"history":[{"messageId":"m","role":"ROLE_USER","parts":[{"text":"hello\u001b[2J\nyou"}]}]}}`, "",
			`user: hello\x1b[2J\nyou`, false},
		"a status": {"1.0", `{"statusUpdate":{"taskId":"t","contextId":"c","status":{"state":"TASK_STATE_WORKING",` + at + `,"message":{"messageId":"m","role":"ROLE_AGENT","parts":[{"text":"half way"},{"data":{"done": 50}}]}}}}`, "",
			`agent: half way {"done":50}`, false},
		"what came with it": {"1.0", `{"statusUpdate":{"taskId":"t","contextId":"c","status":{"state":"TASK_STATE_SUBMITTED",` + at + `}}}`,
			`[{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"Friday"}]}}]`, "user: Friday", false},
		"an artifact": {"1.0", `{"artifactUpdate":{"taskId":"t","contextId":"c","artifact":{"artifactId":"a1","name":"map","parts":[{"raw":"aGVsbG8=","filename":"map.png"},{"url":"https://x.example/y"}]}}}`, "",
			"artifact map: file map.png (5 B) https://x.example/y", true},
		"an older protocol":   {"0.3", `{"kind":"status-update","taskId":"t","contextId":"c","final":false,"status":{"state":"working",` + at + `,"message":{"kind":"message","messageId":"m","role":"agent","parts":[{"kind":"text","text":"half way"}]}}}`, "", "agent: half way", false},
		"an unknown protocol": {"9.1", `{"news":1}`, "", `{"news":1}`, true},
		"a broken event":      {"1.0", `{"task":7}`, `{}`, `{}; {"task":7}`, true},
		"a long text":         {"1.0", `{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"` + strings.Repeat("x", 1000) + `"}]}}`, "", "user: " + strings.Repeat("x", longestDoc-6) + "…", true},
	} {
		when, words := told(admin.EventRow{Protocol: tt.version, Event: json.RawMessage(tt.event), Messages: json.RawMessage(tt.messages)})
		if words != tt.want || when.IsZero() != tt.untimed {
			t.Errorf("%s: %q at %v, want %q", name, words, when, tt.want)
		}
	}
}

func TestTimesAndSizesAreForPeople(t *testing.T) {
	for d, want := range map[time.Duration]string{-time.Hour: "", 0: "", time.Second: ", 1 second ago", 119 * time.Minute: ", 1 hour ago", 72 * time.Hour: ", 3 days ago"} {
		if got := ago(d); got != want {
			t.Errorf("%v is %q, want %q", d, got, want)
		}
	}
	for n, want := range map[int64]string{0: "0 B", 999: "999 B", 1234: "1.2 kB", 123_456: "123 kB", 5_000_000: "5.0 MB", 7e12: "7000 GB"} {
		if got := size(n); got != want {
			t.Errorf("%d is %q, want %q", n, got, want)
		}
	}
}
