package lower

import (
	"bytes"
	"encoding/json"
	"os"
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

func TestAProtoBefore1_0IsToBeListedByItsVersion(t *testing.T) {
	proto := func(version string) string {
		doc, err := os.ReadFile("../../spec/v" + version + "/a2a.proto")
		if err != nil {
			t.Fatal(err)
		}
		return string(doc)
	}
	candidate := strings.NewReplacer("package lf.a2a.v1;", "package a2a.v1;", "string context_id = 2 ", "bool context_id = 2 ").Replace(proto("1.0"))
	own := strings.Replace(candidate, "package a2a.v1;", "package lf.a2a.v1;", 1)
	for name, tt := range map[string]struct{ src, want string }{
		"0.2":         {proto("0.2"), `list "0.2" instead`},
		"0.3":         {proto("0.3"), `list "0.3" instead`},
		"a candidate": {candidate, `list "1.0" instead`},
		"a draft":     {own, ""},
	} {
		t.Run(name, func(t *testing.T) {
			doc, list := spec.Read("protocol/a2a.proto", []byte(tt.src))
			if list.HasErrors() {
				t.Fatal(list)
			}
			doc.Version = "1.0-mine"
			_, list = Protocol([]*spec.Document{doc})
			first := list[0].String()
			if !list.HasErrors() || strings.Contains(first, "instead") != (tt.want != "") || !strings.Contains(first, tt.want) {
				t.Errorf("%v", list)
			}
		})
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
