package server_test

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/a2agen/a2agen/internal/sse"
	"github.com/a2agen/a2agen/internal/test/official"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/server"
)

// TestTheVersionOfARequest: header, else query, else the method's name, else 0.3 (R70, R72, R73, T27). What answers is told by
// the shape of the answer.
func TestTheVersionOfARequest(t *testing.T) {
	const (
		none    = `"code":-32601,"message":"Method not found`
		plain   = `"code":-32001,"message":"Task not found"}`
		details = `"code":-32001,"message":"Task not found","data":[`
		v03     = `"kind":"task"`
		v01     = `"sessionId":`
		v10     = `"result":{"task":`
	)
	send := map[string]string{
		"1.0": `SendMessage {"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"book"}]}}`,
		"0.3": `message/send {"message":{"messageId":"m","role":"user","parts":[{"kind":"text","text":"book"}]}}`,
		"0.1": `tasks/send {"id":"t1","message":{"role":"user","parts":[{"type":"text","text":"book"}]}}`,
	}
	strict := []server.Option{server.WithCompat(server.Compat{StrictVersion: true})}
	tests := []struct {
		name     string
		versions []string
		opts     []server.Option
		request  string
		want     string
	}{
		{"no name: a method of 1.0", all, nil, send["1.0"], v10},
		{"no name: a method of 0.3 and 0.2 means 0.3", all, nil, send["0.3"], v03},
		{"no name: a method of 0.3 and 0.2 where 0.3 is not spoken", []string{"1.0", "0.2"}, nil, send["0.3"], v03},
		{"no name: a method of 0.1", all, nil, send["0.1"], v01},
		{"no name: a method of three versions means 0.3", all, nil, `tasks/get {"id":"x"}`, plain},
		{"no name: an unknown method means 0.3", all, nil, `nothing {}`, none + `: there is no \"nothing\" in A2A 0.3"}`},
		{"no name: an unknown method where 0.3 is not spoken means the newest", []string{"1.0", "0.1"}, nil, `nothing {}`, none + `","data":[`},
		{"header", all, nil, `1.0 GetTask {"id":"x"}`, details},
		{"header with a patch number", all, nil, `0.3.0 tasks/get {"id":"x"}`, plain},
		{"header against the method", all, nil, `0.3 ` + send["1.0"], none},
		{"query", all, nil, `?0.1 tasks/get {"id":"x"}`, plain},
		{"a version that is not spoken", all, nil, `99.0 ` + send["1.0"], `"code":-32009`},
		{"an older version that is not spoken", []string{"1.0", "0.3"}, nil, `0.1 ` + send["0.1"], `"code":-32009`},
		{"strict: no name means 0.3", all, strict, send["1.0"], none},
		{"strict: 0.3 has no name", all, strict, send["0.3"], v03},
		{"strict: 0.1 has no name", all, strict, send["0.1"], v01},
		{"strict: no name where 0.3 is not spoken", []string{"1.0", "0.1"}, strict, send["1.0"], `"code":-32009`},
		{"strict: the header", all, strict, `1.0 ` + send["1.0"], v10},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := (masker{}).ask(polyglot(t, tt.versions, tt.opts...), tt.request); !strings.Contains(got, tt.want) {
				t.Errorf("got %s\nwant %s in it", got, tt.want)
			}
		})
	}
}

// A client of another age is told which versions its method is of, and which are spoken.
func TestAMethodOfAnotherAgeSaysWhichItIs(t *testing.T) {
	for _, c := range []struct {
		spoken        []string
		request, want string
	}{
		{[]string{"1.0"}, `message/send {}`, `-32009.*message/send is a method of A2A 0\.2 (and|to) 0\.\d, and the request names no version; this agent speaks 1.0"`},
		{[]string{"1.0"}, `tasks/send {}`, `-32009.*tasks/send is a method of A2A 0.1, `},
		{[]string{"1.0"}, `1.0 message/send {}`, `-32601.*message/send is a method of A2A 0\.2 (and|to) 0\.\d, the request is one of 1.0; this agent speaks 1.0"`},
		{[]string{"0.3"}, `SendMessage {}`, `-32601.*SendMessage is a method of A2A 1\.0( (and|to) \d\.\d)?, the request is one of 0.3; this agent speaks 0.3"`},
		{all, `1.0 tasks/get {"id":"x"}`, `-32601.*tasks/get is a method of A2A 0\.1 to 0\.\d, the request is one of 1.0; this agent speaks 1.0, 0.3, 0.2, 0.1"`},
		{all, `0.2 agent/getAuthenticatedExtendedCard`, `-32601.*Card is a method of A2A 0\.3( and 0\.\d)?, the request is one of 0.2; this agent speaks 1.0, 0.3, 0.2, 0.1"`},
	} {
		got := (masker{}).ask(polyglot(t, c.spoken), c.request)
		if !regexp.MustCompile(c.want).MatchString(got) {
			t.Errorf("%s: %s\nwant %s in it", c.request, got, c.want)
		}
	}
}

func TestTheHeaderWinsOverTheQuery(t *testing.T) {
	a := polyglot(t, all)
	a.url += "?A2A-Version=0.1"
	if _, body := a.post(rpcBody("GetTask", `{"id":"x"}`)); !strings.Contains(body, "-32001") {
		t.Error(body)
	}
}

// TestEnvelopesOf01 leave out jsonrpc and id, and want an answer all the same.
func TestEnvelopesOf01(t *testing.T) {
	a := polyglot(t, all)
	_, body := a.post(`{"method":"tasks/get","params":{"id":"x"}}`, "A2A-Version: 0.1")
	if want := `{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"Task not found"}}`; body != want {
		t.Errorf("got %s", body)
	}
	for _, version := range []string{"0.3", "1.0"} {
		if _, body := a.post(`{"id":1,"method":"tasks/get","params":{"id":"x"}}`, "A2A-Version: "+version); !strings.Contains(body, `"id":1,"error":{"code":-32600`) {
			t.Errorf("%s: got %s", version, body)
		}
	}
	if resp, body := a.post(`{"jsonrpc":"2.0","method":"tasks/get","params":{"id":"x"}}`, "A2A-Version: 0.3"); resp.StatusCode != http.StatusNoContent {
		t.Errorf("a notification of 0.3 is answered by %s", body)
	}
}

// Q4, Q33: a call is answered by a response, or by a stream of them where the client takes one.
func TestErrorsBeforeAStreamFollowWhatTheClientTakes(t *testing.T) { // peers of 0.3 need the event, others read only JSON
	a := polyglot(t, all)
	body := rpcBody("tasks/resubscribe", `{"id":"x"}`)
	want := `{"jsonrpc":"2.0","id":1,"error":{"code":-32001,"message":"Task not found"}}`
	if resp, got := a.post(body, "A2A-Version: 0.3", "Accept: text/event-stream"); got != "data: "+want+"\n\n" || resp.Header.Get("Content-Type") != sse.ContentType {
		t.Errorf("event: %s", got)
	}
	if resp, got := a.post(body, "A2A-Version: 0.3"); got != want || resp.Header.Get("Content-Type") != "application/json" {
		t.Errorf("JSON: %s", got)
	}
}

// TestCodesThatOldVersionsDoNotHave become an internal error (Q35).
func TestCodesThatOldVersionsDoNotHave(t *testing.T) {
	const uri = "https://example.com/ext"
	card := strings.Replace(testCard, `"streaming":true`, `"extensions":[{"uri":"`+uri+`","required":true}]`, 1)
	a := polyglotCard(t, all, card)
	params := `{"message":{"messageId":"m","role":"user","parts":[{"kind":"text","text":"book"}]}}`
	if _, body := a.post(rpcBody("message/send", params), "A2A-Version: "); !strings.Contains(body, `"error":{"code":-32603,"message":"Extension support required: the extension `+uri+` is required: name it in A2A-Extensions"}`) {
		t.Error(body)
	}
	resp, body := a.post(rpcBody("message/send", params), "A2A-Version: ", "X-A2A-Extensions: "+uri)
	if !strings.Contains(body, `"kind":"task"`) || resp.Header.Get("X-A2A-Extensions") != uri || resp.Header.Get("A2A-Extensions") != uri {
		t.Errorf("%s %v", body, resp.Header)
	}
}

// TestSamplesOfTheSpecificationAreTaken posts the requests among the published samples. What is wrong with an answer is at most that
// there is no such task, no push and no extended card (T38).
func TestSamplesOfTheSpecificationAreTaken(t *testing.T) {
	root := official.Folder(t, "samples")
	taken := 0
	for _, folder := range []struct{ name, version string }{{"v0.1.0", "0.1"}, {"v0.2.0", "0.2"}, {"v0.2.6", "0.2"}, {"v0.3.0", "0.3"}} {
		files, _ := filepath.Glob(filepath.Join(root, folder.name, "*.json"))
		for _, file := range files {
			var sample struct{ Body map[string]any }
			src, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if json.Unmarshal(src, &sample) != nil || sample.Body["method"] == nil {
				continue
			}
			if sample.Body["jsonrpc"] == nil { // some show no more than method and params
				sample.Body["jsonrpc"], sample.Body["id"] = "2.0", 1
			}
			request, err := json.Marshal(sample.Body)
			if err != nil {
				t.Fatal(err)
			}
			t.Run(folder.name+" "+filepath.Base(file), func(t *testing.T) {
				a := polyglot(t, all)
				resp, body := a.post(string(request), "A2A-Version: "+folder.version)
				if resp.Header.Get("Content-Type") == sse.ContentType && strings.Contains(body, `"result"`) {
					return
				}
				var r struct{ Error *runtime.Error }
				if err := json.Unmarshal([]byte(body), &r); err != nil {
					t.Fatalf("%v in %s", err, body)
				}
				if r.Error == nil || strings.Contains(body, "invalid base64") { // the samples shorten files with dots
					return
				}
				switch r.Error.Code {
				case runtime.ErrTaskNotFound.Code, runtime.ErrPushNotificationNotSupported.Code, runtime.ErrExtendedAgentCardNotConfigured.Code:
				default:
					t.Errorf("%s\nis answered by %s", request, body)
				}
			})
			taken++
		}
	}
	if taken == 0 {
		t.Skip("reference documents not present")
	}
}

// cardOf fetches a card.
func cardOf(t *testing.T, a *agent, path, version string) (status int, header http.Header, body string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, strings.TrimSuffix(a.url, "/rpc")+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if version != "" {
		req.Header.Set("A2A-Version", version)
	}
	resp, err := a.web.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, resp.Header, string(b)
}

// TestTheShapeOfTheCard: one card for readers of 1.0 and 0.3 where both look (T68), older ones at the old path (T52), and exactly one
// version's for a client that says what it speaks.
func TestTheShapeOfTheCard(t *testing.T) {
	members := map[string]string{"1.0": "supportedInterfaces", "0.3": `"protocolVersion":"0.3.0"`, "0.2": `"protocolVersion":"0.2.6"`, "0.1": "authentication"}
	tests := []struct {
		name          string
		versions      []string
		path, version string
		want          string // the versions whose members are in it
	}{
		{"one for 1.0 and 0.3", all, server.CardPath, "", "1.0 0.3"},
		{"for 1.0", all, server.CardPath, "1.0", "1.0"},
		{"for 0.3", all, server.CardPath, "0.3", "0.3"},
		{"for 0.1 at the new path", all, server.CardPath, "0.1", "0.1"},
		{"one for 0.2 and 0.1 at the old path", all, server.OldCardPath, "", "0.2 0.1"},
		{"for 0.3 at the old path", all, server.OldCardPath, "0.3", "0.3"},
		{"a version that is not spoken gets what everybody gets", []string{"1.0", "0.3"}, server.CardPath, "0.1", "1.0 0.3"},
		{"0.3 at the old path too", []string{"1.0", "0.3"}, server.OldCardPath, "", "1.0 0.3"},
		{"only 1.0 and 0.1", []string{"1.0", "0.1"}, server.OldCardPath, "", "0.1"},
		{"only 1.0 and 0.1, at the new path", []string{"1.0", "0.1"}, server.CardPath, "", "1.0"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			status, header, body := cardOf(t, polyglot(t, tt.versions), tt.path, tt.version)
			var got []string
			for _, v := range all {
				if strings.Contains(body, members[v]) {
					got = append(got, v)
				}
			}
			if status != http.StatusOK || strings.Join(got, " ") != tt.want || header.Get("Vary") != "A2A-Version" {
				t.Errorf("status %d, vary %q, members of %v in %s", status, header.Get("Vary"), got, body)
			}
		})
	}
	if status, _, _ := cardOf(t, polyglot(t, all[:1]), server.OldCardPath, ""); status != http.StatusNotFound {
		t.Errorf("an agent of 1.0 alone has status %d at the old path", status)
	}
}

// TestOneCardIsTheSameAgentToReadersOfEveryVersion reads the one card as each version does (R89, R123, Q25). Security schemes have
// both forms under one name.
func TestOneCardIsTheSameAgentToReadersOfEveryVersion(t *testing.T) {
	a := polyglot(t, all)
	_, _, body := cardOf(t, a, server.CardPath, "")
	var whole struct {
		URL, PreferredTransport string
		SecuritySchemes         map[string]map[string]any
		Security                []map[string][]string
		SecurityRequirements    []any
		SupportedInterfaces     []struct{ URL, ProtocolVersion string }
		Skills                  []struct{ ID string }
	}
	if err := json.Unmarshal([]byte(body), &whole); err != nil {
		t.Fatal(err)
	}
	key := whole.SecuritySchemes["key"]
	if whole.URL != a.url || whole.PreferredTransport != "JSONRPC" || key["type"] != "apiKey" || key["in"] != "header" || key["apiKeySecurityScheme"] == nil ||
		len(whole.Security) != 1 || len(whole.SecurityRequirements) != 1 || len(whole.Skills) != 1 {
		t.Errorf("%s", body)
	}
	for i, v := range all {
		if got := whole.SupportedInterfaces[i]; got.URL != a.url || got.ProtocolVersion != v {
			t.Errorf("interface %d is %+v", i, got)
		}
	}
	card, e := a.call("agent/getCard", `{}`, "A2A-Version: 0.1")
	if e != nil || card["url"] != a.url || card["authentication"] == nil {
		t.Errorf("agent/getCard: %v %v", card, e)
	}
}

// TestClientsThatChooseTheSameID at the same time: one begins the task, the others continue it or hear that they cannot.
func TestClientsThatChooseTheSameID(t *testing.T) {
	a := polyglot(t, all)
	body := rpcBody("tasks/send", `{"id":"t1","message":{"role":"user","parts":[{"type":"text","text":"forecast"}]}}`)
	answers := make(chan string)
	for range 8 {
		go func() {
			resp, err := a.web.Post(a.url, "application/json", strings.NewReader(body))
			if err != nil {
				answers <- err.Error()
				return
			}
			defer func() { _ = resp.Body.Close() }()
			b, _ := io.ReadAll(resp.Body)
			answers <- string(b)
		}()
	}
	completed := 0
	for range 8 {
		switch got := <-answers; {
		case strings.Contains(got, `"state":"completed"`):
			completed++
		case strings.Contains(got, `"code":-32603`), strings.Contains(got, `"code":-32004`):
		default:
			t.Errorf("answer %s", got)
		}
	}
	if got := (masker{}).ask(a, `tasks/get {"id":"t1"}`); completed == 0 || !strings.Contains(got, `"state":"completed"`) {
		t.Errorf("%d completed, the task is %s", completed, got)
	}
}

// TestAnIDOfAnotherPrincipalIsFree: ids that clients choose are names in their own space (R34).
func TestAnIDOfAnotherPrincipalIsFree(t *testing.T) {
	a := polyglot(t, all, server.WithProxyIdentity(func(r *http.Request) (string, error) { return r.Header.Get("Who"), nil }))
	params := `{"id":"t1","message":{"role":"user","parts":[{"type":"text","text":"book"}]}}`
	for _, who := range []string{"ann", "bob"} {
		if task := a.ok("tasks/send", params, "A2A-Version: 0.1", "Who: "+who); len(at(task, "history").([]any)) != 1 {
			t.Errorf("%s sees %v", who, task)
		}
	}
	if _, body := a.post(rpcBody("tasks/get", `{"id":"t1"}`), "A2A-Version: ", "Who: eve"); !strings.Contains(body, "-32001") {
		t.Errorf("eve sees %s", body)
	}
}
