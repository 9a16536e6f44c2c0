package project_test

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/a2agen/a2agen/internal/test/bundletest"
	"github.com/a2agen/a2agen/internal/test/gotool"
	"github.com/a2agen/a2agen/spec"
)

// unseenBundle is the schema that is made of the unseen proto. A schema cannot say that a field was renamed, so that
// another one is renamed than in the proto: user code that names it would not build.
func unseenBundle(t *testing.T, form bundletest.Form) string {
	t.Helper()
	doc, list := spec.ReadIn("a2a.proto", []byte(unseenDefinition(t)), fstest.MapFS{"parts/budget.proto": {Data: []byte(unseenBudget)}})
	if list.HasErrors() {
		t.Fatal(list)
	}
	rename := func(message, from, json, name string) {
		at := slices.IndexFunc(doc.Messages, func(m *spec.Message) bool { return m.Name == message })
		for _, f := range doc.Messages[at].Fields {
			if f.JSON == from {
				f.JSON, f.Name = json, name
			}
		}
	}
	rename("Message", "relatedTasks", "referenceTaskIds", "reference_task_ids")
	rename("AgentCard", "iconUrl", "logoUrl", "logo_url")
	src, err := bundletest.Make(doc, form)
	if err != nil {
		t.Fatal(err)
	}
	return string(src)
}

// unseenBundleAnswers are the answers to [unseenAsk]: what is new comes last, in the order of the schema.
var unseenBundleAnswers = []string{
	`NEW 200 .*"role":"ROLE_USER","parts":\[\{"text":"talk"\},\{"formula":"E=mc2"\}\],"budget":\{"tokens":"3"\},"language":"nl","tones":\["kind"\]`,
	`RENAMED 200 .*"TASK_STATE_COMPLETED"`,
	`UNSUPPORTED 200 .*"code":-32004`,
	`PAUSED 200 .*"task":\{"id":"t","status":\{"state":"TASK_STATE_PAUSED"\},"budget":\{"tokens":"9"\},"priority":"lunch","watchers":\["w"\]\}`,
	`ELSEWHERE 200 .*"code":-32601`,
	`CARD 200 .*"protocolVersion":"1.1-preview"\}.*"protocolVersion":"1.0"\}.*"protocolVersion":"0.3"\}`,
	`CLIENT 1.1-preview`,
	`TYPED tea TASK_STATE_PAUSED 9 \[w\] 7`,
	`FORECAST 20`,
	`MOTTO more \S+ \[eu\] <nil>`,
	`WRITTEN .*"budget":\{"tokens":"1"\},"motto":"more","regions":\["eu"\]`,
	`VERSION 1.1-preview 12`, `VERSION 1.0 11`, `VERSION 0.3 10`,
}

// TestABundleIsServedAndLeavesTheOlderVersionsAlone takes the JSON Schema of the unseen proto, in both forms.
func TestABundleIsServedAndLeavesTheOlderVersionsAlone(t *testing.T) {
	gotool.Long(t)
	for name, form := range map[string]bundletest.Form{"by name": bundletest.ByName, "by title": bundletest.ByTitle} {
		t.Run(name, func(t *testing.T) {
			unseen{
				version: "1.1-preview", file: "protocol/a2a.json", ask: strings.Replace(unseenAsk, "\taskHooked()\n", "", 1), answers: unseenBundleAnswers,
				files: map[string]string{"protocol/a2a.json": unseenBundle(t, form)},
			}.run(t)
		})
	}
}
