package conform

import (
	"fmt"
	"strings"
	"testing"

	"github.com/a2agen/a2agen/internal/test/growth"
)

const goodTask = `{"id":"t","contextId":"c","status":{"state":"TASK_STATE_COMPLETED","timestamp":"2025-10-28T10:30:00.000Z"},
	"artifacts":[{"artifactId":"a","parts":[{"text":""},{"data":null},{"raw":"AAE="}]}],"metadata":{"any":[1,{"x":null}]}}`

// TestValuesAreComparedWithTheirDefinition: a change of something good, and what is said of it.
func TestValuesAreComparedWithTheirDefinition(t *testing.T) {
	const old = `{"kind":"task","id":"t","contextId":"c","status":{"state":"input-required"},"artifacts":[{"artifactId":"a","parts":[{"kind":"text","text":"x"}]}]}`
	for _, tt := range []struct {
		version   string
		proto     bool
		good      string
		from, to  string
		kind      problemKind
		path, say string
	}{
		{"1.0", true, goodTask, "", "", "", "", ""},
		{"1.0", true, goodTask, `"id":"t",`, ``, missing, "id", "is missing"},
		{"1.0", true, goodTask, `"id":"t"`, `"id":""`, missing, "id", "is empty"},
		{"1.0", true, goodTask, `"id":"t"`, `"id":7`, badType, "id", "must be a string, not the number 7"},
		{"1.0", true, goodTask, `"contextId"`, `"context_id"`, badName, "context_id", "must be written contextId"},
		{"1.0", true, goodTask, `"id":"t"`, `"id":"t","kind":"task"`, unknown, "kind", "is no member of Task in A2A 1.0"},
		{"1.0", true, goodTask, `TASK_STATE_COMPLETED`, `completed`, badEnum, "status.state", "TaskState has TASK_STATE_SUBMITTED"},
		{"1.0", true, goodTask, `TASK_STATE_COMPLETED`, `TASK_STATE_UNSPECIFIED`, badEnum, "status.state", "TaskState has"},
		{"1.0", true, goodTask, `10:30:00.000Z`, `10:30:00.000+02:00`, badTime, "status.timestamp", "has the offset Z"},
		{"1.0", true, goodTask, `10:30:00.000Z`, `10:30:00.123456Z`, badDigits, "status.timestamp", "has milliseconds"},
		{"1.0", true, goodTask, `2025-10-28T10`, `2025-10-28 10`, badTime, "status.timestamp", "write a time as"},
		{"1.0", true, goodTask, `{"text":""}`, `{"text":"","url":"x"}`, badUnion, "artifacts[0].parts[0]", "one of them may be set"},
		{"1.0", true, goodTask, `{"text":""}`, `{}`, badUnion, "artifacts[0].parts[0]", "exactly one"},
		{"1.0", true, goodTask, `{"text":""},{"data":null},{"raw":"AAE="}`, ``, missing, "artifacts[0].parts", "is empty"},
		{"1.0", true, goodTask, `AAE=`, `*`, badType, "artifacts[0].parts[2].raw", "is not base64"},
		{"1.0", true, goodTask, `"metadata":{"any":[1,{"x":null}]}`, `"metadata":null`, badType, "metadata", "is null: leave it out"},
		{"1.0", true, goodTask, `"metadata":{"any":[1,{"x":null}]}`, `"metadata":[]`, badType, "metadata", "must be an object"},
		{"0.3", false, old, "", "", "", "", ""},
		{"0.3", false, old, `"kind":"task"`, `"kind":"tusk"`, badEnum, "kind", `must be "task"`},
		{"0.3", false, old, `"kind":"task",`, ``, missing, "kind", "is missing"},
		{"0.3", false, old, `"kind":"text",`, ``, missing, "artifacts[0].parts[0].kind", "it tells what the object is"},
		{"0.3", false, old, `"text":"x"`, `"text":1`, badType, "artifacts[0].parts[0].text", "must be a string"},
		{"0.3", false, old, `input-required`, `INPUT_REQUIRED`, badEnum, "status.state", "has submitted"},
		{"0.3", true, goodTask, `TASK_STATE_COMPLETED`, `TASK_STATE_CANCELED`, "", "", ""}, // T43
	} {
		src := strings.Replace(tt.good, tt.from, tt.to, 1)
		if tt.version == "0.3" && tt.proto {
			src = strings.Replace(`{"id":"t","contextId":"c","status":{"state":"TASK_STATE_COMPLETED"}}`, tt.from, tt.to, 1)
		}
		v, err := decode([]byte(src))
		if err != nil {
			t.Fatal(err)
		}
		got := definitionOf(tt.version, tt.proto).validate("Task", v)
		switch {
		case tt.kind == "" && len(got) > 0:
			t.Errorf("%s: %v", src, got)
		case tt.kind == "":
		case len(got) != 1 || got[0].kind != tt.kind || got[0].path != tt.path || !strings.Contains(got[0].text, tt.say):
			t.Errorf("%s %s: got %v, want %s %s %s", tt.version, tt.to, got, tt.kind, tt.path, tt.say)
		}
	}
}

// TestDefinitionsHaveWhatChecksNeed: operations by their names, and requests that fit them.
func TestDefinitionsHaveWhatChecksNeed(t *testing.T) {
	for _, d := range definitions {
		one := dialect{def: d}
		for _, o := range []op{opSend, opStream, opGet, opCancel, opSubscribe, opPushCreate, opPushGet} {
			if one.operation(o) == nil {
				t.Errorf("A2A %s (proto: %v) has no operation %s", d.version, d.proto, o)
			}
		}
		n := 3
		step := &Step{Text: "x", Data: map[string]any{"a": "b"}, Metadata: map[string]any{"m": "n"}}
		requests := map[op]object{
			opSend: one.send(message{step: step, id: "m", task: "t", context: "c", history: &n, immediate: true}), opGet: one.ofTask("t"),
		}
		for o, params := range requests {
			v, err := decode(encode(params))
			if err != nil {
				t.Fatal(err)
			}
			if got := d.validate(one.operation(o).request, v); len(got) > 0 {
				t.Errorf("A2A %s (proto: %v), %s: %v in %s", d.version, d.proto, o, got, encode(params))
			}
		}
	}
}

// TestAnswersAreReadInLinearTime, whatever is in them.
func TestAnswersAreReadInLinearTime(t *testing.T) {
	def := definitionOf("1.0", true)
	for name, one := range map[string]func(n int) string{
		"parts":   func(n int) string { return `{"parts":[` + strings.Repeat(`{"text":1},`, n) + `{}]}` },
		"members": func(n int) string { return `{` + members(n) + `}` },
		"lists":   func(n int) string { return `{"metadata":{"a":[` + strings.Repeat(`[],`, n) + `1]}}` },
	} {
		t.Run(name, func(t *testing.T) {
			growth.Linear(t, 2000, func(n int) func() {
				src := []byte(one(n))
				return func() {
					v, err := decode(src)
					if err != nil {
						t.Fatal(err)
					}
					def.validate("Message", v)
				}
			})
		})
	}
	t.Run("events", func(t *testing.T) {
		growth.Linear(t, 20_000, func(n int) func() {
			src := strings.Repeat("data\nx:y\n", n) + "\n"
			return func() { (&exchange{}).readEvents(strings.NewReader(src), nil) }
		})
	})
}

func members(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `"a%d":1,`, i)
	}
	return b.String() + `"z":1`
}
