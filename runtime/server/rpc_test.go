package server_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/server"
)

// T54, Q32: an id comes back byte for byte.
func TestIDsAreEchoedExactly(t *testing.T) {
	a := start(t, testCard, []server.Skill{echo()})
	for _, id := range []string{`1`, `"1"`, `0`, `-7`, `null`, `""`, `"a\u0041\n"`, `12345678901234567890123`, `1.50`, `1e3`, `"  "`} {
		t.Run(id, func(t *testing.T) {
			for name, body := range map[string]string{
				"result":            `{"jsonrpc":"2.0","id":` + id + `,"method":"ListTasks","params":{}}`,
				"error":             `{"jsonrpc":"2.0","id":` + id + `,"method":"GetTask","params":{"id":"none"}}`,
				"unknown method":    `{"id": ` + id + ` ,"jsonrpc":"2.0","method":"Nope"}`,
				"id after the rest": `{"jsonrpc":"2.0","method":"ListTasks","params":{"x":[{"id":5}]},"id":` + id + `}`,
			} {
				_, got := a.post(body)
				if want := `{"jsonrpc":"2.0","id":` + id + `,`; !strings.HasPrefix(got, want) {
					t.Errorf("%s: answer is %.80s, want prefix %s", name, got, want)
				}
			}
		})
	}
}

// R153, R154: what is no proper request gets the error of JSON-RPC for it, with HTTP status 200 and an ErrorInfo.
func TestEnvelopeErrors(t *testing.T) {
	a := start(t, testCard, []server.Skill{echo()})
	for _, c := range []struct {
		name, body, id string
		want           *runtime.Error
	}{
		{"empty body", ``, "null", runtime.ErrParse},
		{"no JSON", `hello`, "null", runtime.ErrParse},
		{"cut short", `{"jsonrpc":"2.0","id":1,"method":"GetTask"`, "null", runtime.ErrParse},
		{"cut inside params", `{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"x"`, "null", runtime.ErrParse},
		{"bad token inside params", `{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":nope}}`, "null", runtime.ErrParse},
		{"data after the request", `{"jsonrpc":"2.0","id":1,"method":"ListTasks"} {}`, "null", runtime.ErrParse},
		{"bad id token", `{"jsonrpc":"2.0","id":01,"method":"ListTasks"}`, "null", runtime.ErrParse},
		{"a batch", `[{"jsonrpc":"2.0","id":1,"method":"ListTasks"}]`, "null", runtime.ErrInvalidRequest},
		{"an empty batch", `[]`, "null", runtime.ErrInvalidRequest},
		{"a string", `"x"`, "null", runtime.ErrInvalidRequest},
		{"a number", `1`, "null", runtime.ErrInvalidRequest},
		{"no version", `{"id":1,"method":"ListTasks"}`, "1", runtime.ErrInvalidRequest},
		{"other version", `{"jsonrpc":"1.0","id":1,"method":"ListTasks"}`, "1", runtime.ErrInvalidRequest},
		{"version as a number", `{"jsonrpc":2.0,"id":1,"method":"ListTasks"}`, "1", runtime.ErrInvalidRequest},
		{"no method", `{"jsonrpc":"2.0","id":1}`, "1", runtime.ErrInvalidRequest},
		{"method not a string", `{"jsonrpc":"2.0","id":1,"method":5}`, "1", runtime.ErrInvalidRequest},
		{"id an object", `{"jsonrpc":"2.0","id":{},"method":"ListTasks"}`, "null", runtime.ErrInvalidRequest},
		{"id a boolean", `{"jsonrpc":"2.0","id":true,"method":"ListTasks"}`, "null", runtime.ErrInvalidRequest},
		{"member that is no JSON", `{"jsonrpc":"2.0","id":1,"method":"ListTasks","x":tru}`, "null", runtime.ErrParse},
		{"member that is no number", `{"x":[01],"jsonrpc":"2.0","id":1,"method":"ListTasks"}`, "null", runtime.ErrParse},
		{"member name that is no text", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ListTasks\",\"\xff\":1}", "null", runtime.ErrParse},
		{"id that is no text", "{\"jsonrpc\":\"2.0\",\"id\":\"\xff\",\"method\":\"ListTasks\"}", "null", runtime.ErrParse},
		{"id with half a character", `{"jsonrpc":"2.0","id":"\ud800","method":"ListTasks"}`, "null", runtime.ErrInvalidRequest},
		{"two ids", `{"jsonrpc":"2.0","id":1,"id":2,"method":"ListTasks"}`, "null", runtime.ErrInvalidRequest},
		{"method twice, once in other letters", `{"jsonrpc":"2.0","id":1,"method":"ListTasks","\u006dethod":"GetTask"}`, "1", runtime.ErrInvalidRequest},
		{"unknown member twice", `{"jsonrpc":"2.0","id":1,"method":"ListTasks","x":1,"x":1}`, "1", runtime.ErrInvalidRequest},
		{"params that are no JSON", `{"jsonrpc":"2.0","id":1,"method":"ListTasks","params":nope}`, "null", runtime.ErrParse},
		{"unknown method with what is no JSON", `{"jsonrpc":"2.0","id":1,"method":"Nope","params":{"x":nope}}`, "null", runtime.ErrParse},
		{"method twice", `{"jsonrpc":"2.0","id":1,"method":"ListTasks","method":"GetTask"}`, "1", runtime.ErrInvalidRequest},
		{"unknown method", `{"jsonrpc":"2.0","id":1,"method":"DropTables"}`, "1", runtime.ErrMethodNotFound},
		{"method of 0.3 on a 1.0 agent", `{"jsonrpc":"2.0","id":1,"method":"message/send","params":{}}`, "1", runtime.ErrMethodNotFound},
		{"params a list", `{"jsonrpc":"2.0","id":1,"method":"GetTask","params":["x"]}`, "1", runtime.ErrInvalidParams},
		{"params missing", `{"jsonrpc":"2.0","id":1,"method":"GetTask"}`, "1", runtime.ErrInvalidParams},
		{"params null", `{"jsonrpc":"2.0","id":1,"method":"GetTask","params":null}`, "1", runtime.ErrInvalidParams},
		{"member twice in params", `{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"x","id":"y"}}`, "1", runtime.ErrInvalidParams},
		{"nested too deeply", `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":` + data(strings.Repeat("[", 200)+strings.Repeat("]", 200)) + `}`, "1", runtime.ErrInvalidParams},
	} {
		t.Run(c.name, func(t *testing.T) {
			resp, body := a.post(c.body)
			var r response
			if err := json.Unmarshal([]byte(body), &r); err != nil || resp.StatusCode != http.StatusOK {
				t.Fatalf("status %d, body %s", resp.StatusCode, body)
			}
			e, err := runtime.ReadError(r.Error)
			if err != nil || !errors.Is(e, c.want) || string(r.ID) != c.id {
				t.Errorf("got %s, want %v with id %s", body, c.want, c.id)
			}
			if !strings.Contains(body, `"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"`+c.want.Reason+`","domain":"a2a-protocol.org"`) {
				t.Errorf("no ErrorInfo in %s", body)
			}
		})
	}
}

// Q31: a notification is carried out and answered with 204 and nothing, also when what it does fails.
func TestNotificationsAreCarriedOutWithoutAnAnswer(t *testing.T) {
	a := start(t, testCard, []server.Skill{echo()})
	for _, body := range []string{
		`{"jsonrpc":"2.0","method":"SendMessage","params":` + message("hi", `"contextId":"quiet"`) + `}`,
		`{"jsonrpc":"2.0","method":"GetTask","params":{"id":"none"}}`,
		`{"jsonrpc":"2.0","method":"SubscribeToTask","params":{"id":"none"}}`,
		`{"jsonrpc":"2.0","method":"SendStreamingMessage","params":` + message("hi") + `}`,
	} {
		resp, got := a.post(body)
		if resp.StatusCode != http.StatusNoContent || got != "" {
			t.Errorf("%s: status %d, body %q", body, resp.StatusCode, got)
		}
	}
	end := time.Now().Add(time.Minute)
	for at(a.ok("ListTasks", `{"contextId":"quiet","status":"TASK_STATE_COMPLETED"}`), "totalSize") != 1.0 {
		if time.Now().After(end) {
			t.Fatal("the notified message was not handled")
		}
		time.Sleep(time.Millisecond)
	}
}

// Q32: what is wrong before an operation begins is answered without an id, too: as a notification nobody would send it.
func TestWhatIsNoRequestIsAnsweredWithoutAnID(t *testing.T) {
	a := start(t, testCard, []server.Skill{echo()})
	for body, want := range map[string]*runtime.Error{
		`{"jsonrpc":"2.0","method":"Nope"}`:                                                     runtime.ErrMethodNotFound,
		`{"jsonrpc":"2.0","method":"GetTask","params":["x"]}`:                                   runtime.ErrInvalidParams,
		`{"jsonrpc":"2.0","method":"GetTask","params":{"id":5}}`:                                runtime.ErrInvalidParams,
		`{"jsonrpc":"2.0","method":"GetTask","params":{"id":nope}}`:                             runtime.ErrParse,
		`{"jsonrpc":"2.0","method":"Nope","params":{"id":nope}}`:                                runtime.ErrParse,
		`{"jsonrpc":"2.0","method":"GetExtendedAgentCard","params":{"x":tru}}`:                  runtime.ErrParse,
		`{"jsonrpc":"2.0","method":"CreateTaskPushNotificationConfig","params":{"taskId":"x"}}`: runtime.ErrPushNotificationNotSupported,
		`{"jsonrpc":"2.0"}`:                              runtime.ErrInvalidRequest,
		`{"jsonrpc":"1.0","method":"ListTasks"}`:         runtime.ErrInvalidRequest,
		`{"method":"ListTasks"}`:                         runtime.ErrInvalidRequest,
		`{"jsonrpc":"2.0","method":"ListTasks","x":tru}`: runtime.ErrParse,
	} {
		resp, got := a.post(body)
		if want := `{"jsonrpc":"2.0","id":null,"error":{"code":` + strconv.Itoa(want.Code) + `,`; resp.StatusCode != http.StatusOK || !strings.HasPrefix(got, want) {
			t.Errorf("%s: status %d, body %s, want %s", body, resp.StatusCode, got, want)
		}
	}
}

// Q4, Q33: a call is a POST of JSON.
func TestWhatIsNoJSONRPCGetsAnHTTPStatus(t *testing.T) {
	a := start(t, testCard, []server.Skill{echo()}, server.WithLimits(server.Limits{Body: 500}))
	long := rpcBody("SendMessage", message(strings.Repeat("x", 600)))
	for _, c := range []struct {
		name, body string
		header     []string
		want       int
	}{
		{"text", rpcBody("ListTasks", "{}"), []string{"Content-Type: text/plain"}, http.StatusUnsupportedMediaType},
		{"form", rpcBody("ListTasks", "{}"), []string{"Content-Type: application/x-www-form-urlencoded"}, http.StatusUnsupportedMediaType},
		{"JSON with a charset", rpcBody("ListTasks", "{}"), []string{"Content-Type: application/json; charset=utf-8"}, http.StatusOK},
		{"A2A's own type", rpcBody("ListTasks", "{}"), []string{"Content-Type: application/a2a+json"}, http.StatusOK},
		{"no type", rpcBody("ListTasks", "{}"), []string{"Content-Type: "}, http.StatusOK},
		{"too large (R219)", long, nil, http.StatusRequestEntityTooLarge},
		{"page of another origin", rpcBody("ListTasks", "{}"), []string{"Sec-Fetch-Site: cross-site", "Origin: https://evil.example"}, http.StatusForbidden},
	} {
		t.Run(c.name, func(t *testing.T) {
			resp, body := a.post(c.body, c.header...)
			if resp.StatusCode != c.want {
				t.Errorf("status %d, want %d: %s", resp.StatusCode, c.want, body)
			}
			if c.want == http.StatusUnsupportedMediaType && !strings.Contains(body, `"code":-32005,"message":"Incompatible content types"`) {
				t.Errorf("body is %s", body)
			}
		})
	}
	t.Run("too large without a length", func(t *testing.T) {
		req, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, a.url, io.MultiReader(strings.NewReader(long)))
		req.Header.Set("Content-Type", "application/json")
		resp, err := a.web.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = resp.Body.Close() }()
		if resp.StatusCode != http.StatusRequestEntityTooLarge {
			t.Errorf("status %d", resp.StatusCode)
		}
	})
	t.Run("GET", func(t *testing.T) {
		resp, err := a.web.Get(a.url)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = resp.Body.Close() }()
		if resp.StatusCode != http.StatusMethodNotAllowed || !strings.Contains(resp.Header.Get("Allow"), "POST") {
			t.Errorf("status %d, Allow %q", resp.StatusCode, resp.Header.Get("Allow"))
		}
	})
	t.Run("elsewhere", func(t *testing.T) {
		elsewhere := *a
		elsewhere.url += "/other"
		if resp, _ := elsewhere.post(rpcBody("ListTasks", "{}")); resp.StatusCode != http.StatusNotFound {
			t.Errorf("status %d", resp.StatusCode)
		}
	})
}

func TestAnswersAtTheInterfaceURLWithAndWithoutASlash(t *testing.T) {
	a := start(t, testCard, []server.Skill{echo()})
	for _, suffix := range []string{"", "/"} {
		b := *a
		b.url += suffix
		b.ok("ListTasks", `{}`)
	}
}

func TestTrustedOriginsMayCallFromABrowser(t *testing.T) {
	a := start(t, testCard, []server.Skill{echo()}, server.WithOrigins("https://inspector.example"))
	resp, body := a.post(rpcBody("ListTasks", "{}"), "Sec-Fetch-Site: cross-site", "Origin: https://inspector.example")
	if resp.StatusCode != http.StatusOK || resp.Header.Get("Access-Control-Allow-Origin") != "https://inspector.example" {
		t.Errorf("status %d: %s", resp.StatusCode, body)
	}
	req, _ := http.NewRequestWithContext(t.Context(), http.MethodOptions, a.url, nil)
	req.Header.Set("Origin", "https://inspector.example")
	req.Header.Set("Access-Control-Request-Method", "POST")
	pre, err := a.web.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = pre.Body.Close() }()
	if pre.StatusCode != http.StatusNoContent || !strings.Contains(pre.Header.Get("Access-Control-Allow-Headers"), "A2A-Version") {
		t.Errorf("preflight: status %d, header %v", pre.StatusCode, pre.Header)
	}
}

// R70, R72, R73, T27, T62: version negotiation comes before anything else.
func TestVersionNegotiation(t *testing.T) {
	lenient := start(t, testCard, []server.Skill{echo()})
	strict := start(t, testCard, []server.Skill{echo()}, server.WithCompat(server.Compat{StrictVersion: true}))
	for _, c := range []struct {
		name, header, query, method string
		agent                       *agent
		want                        *runtime.Error
	}{
		{"1.0", "1.0", "", "ListTasks", lenient, nil},
		{"1.0 with a patch", "1.0.1", "", "ListTasks", lenient, nil},
		{"blanks around", " 1.0 ", "", "ListTasks", lenient, nil},
		{"in the query", "", "1.0", "ListTasks", strict, nil},
		{"header before query", "1.0", "9.9", "ListTasks", strict, nil},
		{"absent and lenient", "", "", "ListTasks", lenient, nil},
		{"absent and strict", "", "", "ListTasks", strict, runtime.ErrVersionNotSupported},
		{"absent and lenient, a method of 0.3", "", "", "tasks/get", lenient, runtime.ErrVersionNotSupported},
		{"absent and lenient, the message of 0.3", "", "", "message/send", lenient, runtime.ErrVersionNotSupported},
		{"absent and lenient, unknown method", "", "", "nothing", lenient, runtime.ErrMethodNotFound},
		{"1.0, a method of 0.3", "1.0", "", "message/send", lenient, runtime.ErrMethodNotFound},
		{"too new", "99.0", "", "ListTasks", lenient, runtime.ErrVersionNotSupported},
		{"too old", "0.3", "", "ListTasks", lenient, runtime.ErrVersionNotSupported},
		{"not a version", "1.0-rc", "", "ListTasks", lenient, runtime.ErrVersionNotSupported},
		{"only a major", "1", "", "ListTasks", lenient, runtime.ErrVersionNotSupported},
		{"version before method", "99.0", "", "Nope", lenient, runtime.ErrVersionNotSupported},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := *c.agent
			if c.query != "" {
				a.url += "?A2A-Version=" + c.query
			}
			_, e := a.call(c.method, `{}`, "A2A-Version: "+c.header)
			if c.want == nil && e != nil || c.want != nil && !errors.Is(e, c.want) {
				t.Fatalf("got %v, want %v", e, c.want)
			}
			if e != nil && errors.Is(e, runtime.ErrVersionNotSupported) && e.Metadata("supportedVersions") != "1.0" {
				t.Errorf("details are %v", e.Details)
			}
		})
	}
}

const extensionCard = `{"name":"Test","description":"d","version":"1","supportedInterfaces":[{"url":"http://localhost/rpc","protocolBinding":"JSONRPC","protocolVersion":"1.0"}],
	"capabilities":{"extensions":[{"uri":"https://x/a"},{"uri":"https://x/must","required":true}]},"defaultInputModes":[],"defaultOutputModes":[],"skills":[]}`

// R49, R87: required extensions must be declared, known ones are echoed, unknown ones ignored.
func TestExtensions(t *testing.T) {
	a := start(t, extensionCard, []server.Skill{echo()})
	if _, e := a.call("ListTasks", `{}`); !errors.Is(e, runtime.ErrExtensionSupportRequired) || e.Metadata("extension") != "https://x/must" {
		t.Errorf("without the required extension: %v", e)
	}
	resp, body := a.post(rpcBody("ListTasks", `{}`), "A2A-Extensions: https://x/must,https://unknown , https://x/a,https://x/a")
	if got := resp.Header.Get("A2A-Extensions"); got != "https://x/must, https://x/a" {
		t.Errorf("echo is %q: %s", got, body)
	}
}

// The extension that is ours has two URIs: each is as good as the other, whichever the card declares.
func TestTheSkillsExtensionIsKnownByBothItsURIs(t *testing.T) {
	for _, declared := range []string{runtime.SkillsExtension, runtime.FormerSkillsExtension} {
		a := start(t, strings.Replace(extensionCard, "https://x/must", declared, 1), []server.Skill{echo()})
		for _, named := range []string{runtime.SkillsExtension, runtime.FormerSkillsExtension} {
			resp, body := a.post(rpcBody("ListTasks", `{}`), "A2A-Extensions: "+named)
			if got := resp.Header.Get("A2A-Extensions"); got != named || strings.Contains(body, `"error"`) {
				t.Errorf("the card has %s, the request %s, the echo %q: %s", declared, named, got, body)
			}
		}
	}
}

func TestAPanicOfTheRouterIsAnInternalError(t *testing.T) {
	a := start(t, testCard, agency(), server.WithRouter(func(context.Context, runtime.Message) (string, error) { panic("secret") }))
	if _, e := a.call("SendMessage", message("xyzzy")); !errors.Is(e, runtime.ErrInternal) || strings.Contains(e.Error(), "secret") {
		t.Errorf("got %v", e)
	}
}

// R183: callers see their own tasks and learn nothing of those of others.
func TestIdentityKeepsCallersApart(t *testing.T) {
	a := start(t, testCard, []server.Skill{echo()}, server.WithProxyIdentity(func(r *http.Request) (string, error) {
		if who := r.Header.Get("X-User"); who != "" {
			return who, nil
		}
		return "", errors.New("no user")
	}))
	if resp, body := a.post(rpcBody("ListTasks", `{}`)); resp.StatusCode != http.StatusUnauthorized || strings.Contains(body, "no user") {
		t.Errorf("status %d: %s", resp.StatusCode, body)
	}
	id := str(a.ok("SendMessage", message("hi"), "X-User: ann"), "task", "id")
	a.ok("GetTask", `{"id":"`+id+`"}`, "X-User: ann")
	for _, method := range []string{"GetTask", "CancelTask", "SubscribeToTask"} { // R34, R39, R186, R187
		if _, e := a.call(method, `{"id":"`+id+`"}`, "X-User: bob"); !errors.Is(e, runtime.ErrTaskNotFound) {
			t.Errorf("%s of a foreign task: %v", method, e)
		}
	}
	if _, e := a.call("SendMessage", message("x", `"taskId":"`+id+`"`), "X-User: bob"); !errors.Is(e, runtime.ErrTaskNotFound) {
		t.Errorf("message to a foreign task: %v", e)
	}
	if n := at(a.ok("ListTasks", `{}`, "X-User: bob"), "totalSize"); n != 0.0 { // R14, R184, R185
		t.Errorf("bob sees %v tasks", n)
	}
	if _, e := a.call("GetTask", `{"id":"`+id+`","tenant":"other"}`, "X-User: ann"); !errors.Is(e, runtime.ErrTaskNotFound) {
		t.Errorf("a task seen through another tenant: %v", e)
	}
}

func TestUndeclaredTenantsAreRefusedWhenTheCardDeclaresSome(t *testing.T) {
	card := strings.Replace(testCard, `"protocolBinding"`, `"tenant":"blue","protocolBinding"`, 1)
	a := start(t, card, []server.Skill{echo()})
	a.ok("ListTasks", `{"tenant":"blue"}`)
	for _, tenant := range []string{"", "red"} {
		if _, e := a.call("ListTasks", `{"tenant":"`+tenant+`"}`); !errors.Is(e, runtime.ErrInvalidParams) {
			t.Errorf("tenant %q: %v", tenant, e)
		}
	}
}
