package lower

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/a2agen/a2agen/spec"
)

func TestAnEarlierReleaseIsToBeListedByItsVersion(t *testing.T) {
	refused := func(text []byte) string {
		doc, list := spec.Read("a2a.json", text)
		if list.HasErrors() {
			t.Fatal(list)
		}
		doc.Version = "0.2-mine"
		hub, err := spec.Shipped("1.0")
		if err != nil {
			t.Fatal(err)
		}
		_, list = Protocol([]*spec.Document{hub, doc})
		var b strings.Builder
		for _, d := range list {
			b.WriteString(d.String() + "\n")
		}
		return b.String()
	}
	odd := []byte(strings.Replace(string(earlier(t)), `"messageId":{`, `"messageId":{"format":"date-time",`, 1))
	const want = `a2a.json: the schema looks like an earlier release of 0.2 than the one that ships, which speaks with peers of all of them (list "0.2" instead)` + "\n"
	if got := refused(odd); !strings.HasPrefix(got, want) || !strings.Contains(got, "field messageId of Message is not of the type") {
		t.Errorf("%s", got)
	}
	// A draft of one's own is told what is wrong with it, and nothing else.
	own := strings.Replace(source(t, "0.2"), `"messageId": {`, `"messageId": {"format": "date-time",`, 1)
	if got := refused([]byte(own)); strings.Contains(got, "earlier release") || !strings.Contains(got, "messageId") {
		t.Errorf("%s", got)
	}
}

// earlier is the schema of 0.2 as its earlier releases had it: other names for push notifications, and fewer operations.
func earlier(t *testing.T) []byte {
	t.Helper()
	var root map[string]any
	if err := json.Unmarshal([]byte(source(t, "0.2")), &root); err != nil {
		t.Fatal(err)
	}
	defs := root["definitions"].(map[string]any)
	for name := range defs {
		if strings.HasPrefix(name, "ListTaskPushNotificationConfig") || strings.HasPrefix(name, "DeleteTaskPushNotificationConfig") || name == "GetTaskPushNotificationConfigParams" {
			delete(defs, name)
		}
	}
	params := defs["GetTaskPushNotificationConfigRequest"].(map[string]any)["properties"].(map[string]any)
	params["params"] = map[string]any{"$ref": "#/definitions/TaskIdParams"}
	text, err := json.Marshal(root)
	if err != nil {
		t.Fatal(err)
	}
	text = bytes.ReplaceAll(text, []byte(`tasks/pushNotificationConfig/`), []byte(`tasks/pushNotification/`))
	for _, gone := range []string{"ListTaskPushNotificationConfig", "DeleteTaskPushNotificationConfig"} {
		for _, kind := range []string{"Request", "SuccessResponse", "Response"} {
			ref := []byte(`{"$ref":"#/definitions/` + gone + kind + `"}`)
			text = bytes.ReplaceAll(bytes.ReplaceAll(text, append([]byte(","), ref...), nil), append(ref, ','), nil)
		}
	}
	return text
}
