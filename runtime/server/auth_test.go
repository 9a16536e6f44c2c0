package server_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/a2agen/a2agen/a2a"
	"github.com/a2agen/a2agen/internal/test/faultstore"
	"github.com/a2agen/a2agen/internal/test/observed"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/auth"
	"github.com/a2agen/a2agen/runtime/observe"
	"github.com/a2agen/a2agen/runtime/server"
	"github.com/a2agen/a2agen/runtime/server/webhooks"
	"github.com/a2agen/a2agen/runtime/store/memory"
)

// authCard demands a token or a key, and for the skill "run" a token with the scope "run".
var authCard = strings.NewReplacer(
	`"capabilities":{"streaming":true,`, `"capabilities":{"streaming":true,"pushNotifications":true,`,
	`"skills":[]`, `"securitySchemes":{
		"idp":{"httpAuthSecurityScheme":{"scheme":"Bearer"}},
		"key":{"apiKeySecurityScheme":{"location":"header","name":"x-api-key"}}},
	"securityRequirements":[{"schemes":{"idp":{"list":["use"]}}},{"schemes":{"key":{"list":[]}}}],
	"skills":[{"id":"ask","name":"ask","description":"","tags":["ask"]},
		{"id":"run","name":"run","description":"","tags":["run"],"securityRequirements":[{"schemes":{"idp":{"list":["run"]}}}]}]`,
).Replace(restCard)

// tokens are the callers of a test by their tokens.
type tokens map[string]auth.Caller

func (ts tokens) Verify(_ context.Context, c auth.Credential) (auth.Caller, error) {
	if c.Value == "down" {
		return auth.Caller{}, &auth.Unavailable{After: 7 * time.Second, Err: errors.New("no answer")}
	}
	caller, ok := ts[c.Value]
	if !ok {
		return auth.Caller{}, auth.ErrWrong
	}
	return caller, nil
}

var people = tokens{
	"ann":   {ID: "ann", Issuer: "https://a.example", Scopes: []string{"use", "run"}},
	"anna":  {ID: "ann", Issuer: "https://b.example", Scopes: []string{"use", "run"}},
	"robot": {ID: "ann", Issuer: "https://a.example", Scopes: []string{"use", "run"}, Machine: true},
	"bob":   {ID: "bob", Issuer: "https://a.example", Scopes: []string{"use", "run"}},
	"eve":   {ID: "ann", Issuer: "https://a.example", Scopes: []string{"use", "runner", "use:run"}}, // ann without the scope
	"zoe":   {ID: "zoe", Issuer: "https://a.example", Scopes: []string{"user"}},
	"acme":  {ID: "ann", Issuer: "https://a.example", Scopes: []string{"use", "run"}, Tenants: []string{"acme"}},
}

const aKey = "c29tZXRoaW5nIHJhbmRvbQ"

// guards are the verifiers of authCard.
func guards() server.Option {
	return server.WithAuth(auth.Verifiers{"idp": people, "key": auth.Keys(auth.Key{Caller: "ci", SHA256: auth.HashKey(aKey)})})
}

// waiting are the skills of authCard: each asks back, so that its tasks stay open.
func waiting() []server.Skill {
	skill := func(id string) server.Skill {
		sk := run(id, func(_ context.Context, t *server.Task) (string, error) { return "", t.Ask("what else?") })
		sk.Tags = []string{id}
		return sk
	}
	return []server.Skill{skill("ask"), skill("run")}
}

func as(who string) string { return "Authorization: Bearer " + who }

// verdict is how a request was answered, without ids.
type verdict struct {
	status    int
	challenge []string
	code      int // of JSON-RPC, or of HTTP's error; 0: a result
	body      string
}

// rpc makes a JSON-RPC call, whatever its answer.
func (a *agent) rpc(method, params string, header ...string) verdict {
	a.t.Helper()
	resp, body := a.post(rpcBody(method, params), header...)
	v := verdict{status: resp.StatusCode, challenge: resp.Header.Values("WWW-Authenticate"), body: body}
	var r struct{ Error struct{ Code int } }
	_ = json.Unmarshal([]byte(strings.TrimPrefix(body, "data: ")), &r)
	v.code = r.Error.Code
	return v
}

// each is an operation on a task as both bindings have it.
type each struct{ method, params, verb, path, body string }

func operations(task string) []each {
	config := `{"taskId":"` + task + `","id":"p","url":"https://hook.example/"}`
	named := `"metadata":{"skillId":"run"}`
	return []each{
		{"SendMessage", message("go", named), "POST", "/message:send", message("go", named)},
		{"SendStreamingMessage", message("go", named), "POST", "/message:stream", message("go", named)},
		{"SendMessage", message("more", `"taskId":"`+task+`"`), "POST", "/message:send", message("more", `"taskId":"`+task+`"`)},
		{"SubscribeToTask", `{"id":"` + task + `"}`, "GET", "/tasks/" + task + ":subscribe", ""},
		{"GetTask", `{"id":"` + task + `"}`, "GET", "/tasks/" + task, ""},
		{"CreateTaskPushNotificationConfig", config, "POST", "/tasks/" + task + "/pushNotificationConfigs", config},
		{"GetTaskPushNotificationConfig", `{"taskId":"` + task + `","id":"p"}`, "GET", "/tasks/" + task + "/pushNotificationConfigs/p", ""},
		{"ListTaskPushNotificationConfigs", `{"taskId":"` + task + `"}`, "GET", "/tasks/" + task + "/pushNotificationConfigs", ""},
		{"DeleteTaskPushNotificationConfig", `{"taskId":"` + task + `","id":"p"}`, "DELETE", "/tasks/" + task + "/pushNotificationConfigs/p", ""},
		{"CancelTask", `{"id":"` + task + `"}`, "POST", "/tasks/" + task + ":cancel", "{}"},
	}
}

// status sends an operation over a binding and returns the status, and the code of a JSON-RPC error.
func (a *agent) status(op each, rest bool, header ...string) (status, code int, body string) {
	a.t.Helper()
	var resp *http.Response
	if rest {
		resp = a.rest(op.verb, op.path, op.body, header...)
	} else {
		resp = a.open(rpcBody(op.method, op.params), header...)
	}
	defer func() { _ = resp.Body.Close() }()
	if strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") { // it may be open for long
		return resp.StatusCode, 0, ""
	}
	b, _ := io.ReadAll(resp.Body)
	var r struct{ Error struct{ Code int } }
	_ = json.Unmarshal(b, &r)
	return resp.StatusCode, r.Error.Code, string(b)
}

// TestEveryOperationWantsWhatTheCardDemands, the same over both bindings: of the agent, and of the
// task's skill (R29, R32, R107, R181, R182).
func TestEveryOperationWantsWhatTheCardDemands(t *testing.T) {
	a := start(t, authCard, waiting(), guards(), open)
	for _, rest := range []bool{false, true} {
		task := str(a.ok("SendMessage", message("go", `"metadata":{"skillId":"run"}`), as("ann")), "task", "id")
		ops := operations(task)
		for i, op := range ops {
			name := fmt.Sprint(op.method, " rest=", rest)
			for header, want := range map[string]int{
				"": 401, as("wrong"): 401, as("zoe"): 403, as("down"): 503, "X-API-Key: nonsense": 401, "X-API-Key: ": 401,
				"Authorization: Basic YTpi": 401, as("eve"): 403, "X-API-Key: " + aKey: 401,
			} {
				status, code, body := a.status(op, rest, header)
				switch i {
				case 0, 1: // a new task of the skill
				default:
					if header == "X-API-Key: "+aKey { // another principal: there is no such task
						if code != runtime.ErrTaskNotFound.Code && status != 404 {
							t.Errorf("%s with the key: %d %s", name, status, body)
						}
						continue
					}
				}
				if status != want {
					t.Errorf("%s with %q: %d, want %d: %s", name, header, status, want, body)
				}
				if told := map[int]int{401: -31401, 403: -31403, 503: -32603}[want]; !rest && code != told {
					t.Errorf("%s with %q: code %d, want %d", name, header, code, told)
				}
			}
			if status, _, body := a.status(op, rest, as("ann")); status != 200 || strings.Contains(body, `"error"`) {
				t.Errorf("%s by its owner: %d %s", name, status, body)
			}
		}
	}
}

// TestASkillsScopesHoldHoweverTheMessageFoundIt: by extension, by data, by words, by the router; the challenge names the
// scope (R33).
func TestASkillsScopesHoldHoweverTheMessageFoundIt(t *testing.T) {
	a := start(t, authCard, waiting(), guards(), server.WithRouter(func(context.Context, runtime.Message) (string, error) { return "run", nil }))
	for name, params := range map[string]string{
		"extension": message("go", `"metadata":{"`+runtime.SkillsExtension+`":{"skill":"run"}}`),
		"metadata":  message("go", `"metadata":{"skillId":"run"}`),
		"data":      data(`{"skill":"run","parameters":{}}`),
		"words":     message("please run"),
		"router":    message("xyzzy"),
		"text JSON": message(`{"skill":"run","input":{}}`),
	} {
		for _, method := range []string{"SendMessage", "SendStreamingMessage"} {
			v := a.rpc(method, params, as("eve"))
			if v.status != 403 || v.code != runtime.ErrPermissionDenied.Code || !strings.Contains(v.body, `"id":1`) {
				t.Errorf("%s by %s: %d %s", method, name, v.status, v.body)
			}
			if want := `Bearer realm="Test", error="insufficient_scope", scope="use run"`; len(v.challenge) != 1 || v.challenge[0] != want {
				t.Errorf("%s by %s: challenge %q", method, name, v.challenge)
			}
		}
		a.ok("SendMessage", params, as("ann"))
	}
	a.ok("SendMessage", message("ask"), as("eve"))
	if n := len(at(a.ok("ListTasks", `{}`, as("eve")), "tasks").([]any)); n != 1 { // ann and eve are one principal
		t.Errorf("who may not use the skill lists %d tasks", n)
	}
	if n := len(at(a.ok("ListTasks", `{}`, as("ann")), "tasks").([]any)); n != 7 {
		t.Errorf("who may, lists %d", n)
	}
}

// TestAMessageThatCameAgainIsNoWayAroundTheScope: who repeats another's message gets nothing of its task.
func TestAMessageThatCameAgainIsNoWayAroundTheScope(t *testing.T) {
	a := start(t, authCard, waiting(), guards())
	const again = "Idempotency-Key: k"
	id := str(a.ok("SendMessage", message("run"), as("ann"), again), "task", "id")
	if v := a.rpc("SendMessage", message("run"), as("eve"), again); v.status != 403 || strings.Contains(v.body, id) {
		t.Errorf("without the scope: %d %s", v.status, v.body)
	}
	if got := str(a.ok("SendMessage", message("run"), as("ann"), again), "task", "id"); got != id {
		t.Errorf("the caller himself gets %s", got)
	}
	if got := str(a.ok("SendMessage", message("run"), as("bob"), again), "task", "id"); got == id {
		t.Error("another principal gets the task by its key")
	}
}

// TestPrincipalsAreApart by issuer, by kind and by scheme (R34, R39): a task of somebody else is as one that is not
// there, byte for byte.
func TestPrincipalsAreApart(t *testing.T) {
	a := start(t, authCard, waiting(), guards(), open)
	task := a.ok("SendMessage", message("run"), as("ann"))["task"]
	id, contextID := str(task, "id"), str(task, "contextId")
	a.ok("SendMessage", message("run"), as("ann"))
	unknown := strings.Repeat("0", len(id))
	token := str(a.ok("ListTasks", `{"pageSize":1}`, as("ann")), "nextPageToken")
	if token == "" {
		t.Fatal("there is no second page")
	}
	for _, who := range []string{as("anna"), as("robot"), as("bob"), "X-API-Key: " + aKey} {
		for i, op := range operations(id) {
			if i < 2 {
				continue
			}
			for _, rest := range []bool{false, true} {
				s1, _, b1 := a.status(op, rest, who)
				s2, _, b2 := a.status(operations(unknown)[i], rest, who)
				if s1 != s2 || strings.ReplaceAll(b1, id, unknown) != b2 || len(b1) != len(b2) {
					t.Errorf("%s by %s: %d %s, of an unknown task %d %s", op.method, who, s1, b1, s2, b2)
				}
			}
		}
		if n := at(a.ok("ListTasks", `{}`, who), "totalSize"); n != 0.0 {
			t.Errorf("%s sees %v tasks", who, n)
		}
		if n := at(a.ok("ListTasks", `{"contextId":"`+contextID+`"}`, who), "totalSize"); n != 0.0 {
			t.Errorf("%s sees %v tasks of the context", who, n)
		}
		if got, e := a.call("ListTasks", `{"pageSize":1,"pageToken":"`+token+`"}`, who); e == nil && at(got, "totalSize") != 0.0 {
			t.Errorf("%s sees %v by the page token of another", who, got)
		}
		if who != "X-API-Key: "+aKey { // who may use none of the skills
			theirs := a.ok("SendMessage", message("ask", `"contextId":"`+contextID+`","referenceTaskIds":["`+id+`"]`), who)["task"]
			if text := fmt.Sprint(theirs); strings.Count(text, id) != 1 || str(theirs, "contextId") != contextID { // the reference that was sent
				t.Errorf("%s refers to a task and a context: %s", who, text)
			}
			a.ok("CancelTask", `{"id":"`+str(theirs, "id")+`"}`, who)
		}
	}
}

// TestATaskOfSomebodyElseIsAsMuchWork as one that is not there: the same calls of the store, in the same order.
func TestATaskOfSomebodyElseIsAsMuchWork(t *testing.T) {
	var mu sync.Mutex
	var calls []string
	a := start(t, authCard, waiting(), guards(), open, server.WithStore(faultstore.New(memory.New(memory.Limits{}), func(c faultstore.Call) faultstore.Fault {
		mu.Lock()
		defer mu.Unlock()
		if c.Key.Task != "" { // not what the server does by itself
			calls = append(calls, c.Op+" for "+c.Key.Owner.Principal)
		}
		return faultstore.Fault{}
	})))
	theirs := str(a.ok("SendMessage", message("run"), as("ann")), "task", "id")
	work := func(op each, rest bool) string {
		mu.Lock()
		calls = nil
		mu.Unlock()
		a.status(op, rest, as("bob"))
		mu.Lock()
		defer mu.Unlock()
		return strings.Join(calls, ", ")
	}
	none := strings.Repeat("0", len(theirs))
	for i, op := range operations(theirs) {
		if i < 2 {
			continue
		}
		for _, rest := range []bool{false, true} {
			got, want := work(op, rest), work(operations(none)[i], rest)
			if got != want || got == "" {
				t.Errorf("%s rest=%v: %s, of no task %s", op.method, rest, got, want)
			}
		}
	}
}

// TestTenants: a caller acts for those that he may act for, and what he has in one is not in another.
func TestTenants(t *testing.T) {
	a := start(t, authCard, waiting(), guards())
	id := str(a.ok("SendMessage", `{"tenant":"acme",`+message("run")[1:], as("acme")), "task", "id")
	a.ok("GetTask", `{"tenant":"acme","id":"`+id+`"}`, as("ann")) // the same principal
	for _, tenant := range []string{"", "other"} {
		v := a.rpc("GetTask", `{"tenant":"`+tenant+`","id":"`+id+`"}`, as("acme"))
		if v.status != 403 || v.code != runtime.ErrPermissionDenied.Code {
			t.Errorf("tenant %q: %d %s", tenant, v.status, v.body)
		}
		if v := a.rpc("GetTask", `{"tenant":"`+tenant+`","id":"`+id+`"}`, as("ann")); v.code != runtime.ErrTaskNotFound.Code {
			t.Errorf("tenant %q of a caller for all: %d %s", tenant, v.status, v.body)
		}
	}
	a.ok("GetTask", `{"id":"`+id+`"}`, as("acme"), "A2A-Tenant: acme")
	for _, twice := range [][]string{{"acme", "other"}, {"other", "acme"}, {"acme", "acme"}} {
		r := httptest.NewRequest("POST", "http://localhost/rpc", strings.NewReader(rpcBody("GetTask", `{"id":"`+id+`"}`)))
		r.Header = http.Header{"Authorization": {"Bearer acme"}, "A2a-Version": {"1.0"}, "A2a-Tenant": twice}
		w := httptest.NewRecorder()
		if a.ServeHTTP(w, r); w.Code != 403 {
			t.Errorf("%v: %d %s", twice, w.Code, w.Body)
		}
	}
}

// TestHooksKnowTheTenant that the caller acts for, and hear of no other.
func TestHooksKnowTheTenant(t *testing.T) {
	var seen []string
	a := start(t, authCard, waiting(), guards(), server.OnRequest(func(ctx context.Context, _ *a2a.GetTaskRequest) error {
		c := server.CallerFrom(ctx)
		seen = append(seen, c.ID+" for "+c.Tenant)
		return nil
	}))
	for _, call := range []struct{ params, header string }{
		{`{"tenant":"acme","id":"x"}`, as("acme")}, {`{"tenant":"other","id":"x"}`, as("acme")}, {`{"id":"x"}`, as("acme")},
		{`{"tenant":"other","id":"x"}`, as("ann")}, {`{"id":"x"}`, as("ann")},
	} {
		a.rpc("GetTask", call.params, call.header)
	}
	if want := "[ann for acme ann for other ann for ]"; fmt.Sprint(seen) != want {
		t.Errorf("the hook sees %v", seen)
	}
}

// TestChallengesSayAllThatWouldDo (RFC 6750 §3, RFC 9728 §5.1; R30, R31, R108, R109, R312): the public URL alone says
// where the metadata are.
func TestChallengesSayAllThatWouldDo(t *testing.T) {
	a := start(t, authCard, waiting(), guards(), server.WithURL("https://agent.example/x"))
	const where = `resource_metadata="https://agent.example/.well-known/oauth-protected-resource/x"`
	const key = `ApiKey realm="Test", in="header", name="X-Api-Key"`
	lying := []string{"X-Forwarded-Host: evil.example", "X-Forwarded-Proto: http", "Forwarded: host=evil.example"}
	for who, want := range map[string]string{
		"":                           `Bearer realm="Test", scope="use", ` + where,
		as("wrong"):                  `Bearer realm="Test", error="invalid_token", scope="use", ` + where,
		"Authorization: Bearer a,b":  `Bearer realm="Test", error="invalid_request", scope="use", ` + where,
		"Authorization: Bearer":      `Bearer realm="Test", error="invalid_request", scope="use", ` + where,
		"Authorization: Basic YTpi":  `Bearer realm="Test", scope="use", ` + where,
		"authorization: bEARER  ann": "",
	} {
		v := a.rpc("ListTasks", `{}`, append(lying, who)...)
		if want == "" {
			if v.status != 200 {
				t.Errorf("%q: %d %s", who, v.status, v.body)
			}
			continue
		}
		if len(v.challenge) != 2 || v.challenge[0] != want || v.challenge[1] != key || v.status != 401 {
			t.Errorf("%q: %d %q", who, v.status, v.challenge)
		}
	}
	for path, want := range map[string]int{"/.well-known/oauth-protected-resource": 200, "/.well-known/oauth-protected-resource/x": 200, "/.well-known/oauth-protected-resource/y": 404} {
		resp, err := a.web.Get(strings.TrimSuffix(a.url, "/rpc") + path)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		const doc = `{"resource":"https://agent.example/x","scopes_supported":["run","use"],"bearer_methods_supported":["header"],"resource_name":"Test"}`
		if resp.StatusCode != want || want == 200 && string(body) != doc {
			t.Errorf("%s: %d %s", path, resp.StatusCode, body)
		}
	}
	if v := a.rpc("ListTasks", `{}`, as("down")); v.status != 503 {
		t.Errorf("an issuer that does not answer: %d", v.status)
	}
	bare := start(t, authCard, waiting(), guards())
	if v := bare.rpc("ListTasks", `{}`); strings.Contains(fmt.Sprint(v.challenge), "resource_metadata") {
		t.Errorf("without a public URL: %q", v.challenge)
	}
}

// TestHandlersKnowTheirCaller, and what a hook is told, too.
func TestHandlersKnowTheirCaller(t *testing.T) {
	seen := make(chan runtime.Caller, 2)
	tell := run("ask", func(ctx context.Context, _ *server.Task) (string, error) {
		seen <- server.CallerFrom(ctx)
		return "done", nil
	})
	a := start(t, authCard, []server.Skill{tell, run("run", nil)}, guards())
	a.ok("SendMessage", `{"tenant":"acme",`+message("ask")[1:], as("acme"))
	got := <-seen
	if got.ID != "ann" || got.Issuer != "https://a.example" || got.Scheme != "idp" || got.Tenant != "acme" || !got.Has("use", "run") {
		t.Errorf("the handler sees %+v", got)
	}
	a.ok("SendMessage", message("ask"), "X-API-Key: "+aKey)
	if got := <-seen; got.ID != "ci" || got.Scheme != "key" || got.Principal() != "key|ci" {
		t.Errorf("the handler sees %+v", got)
	}
}

// TestAStreamEndsWithItsCredential, cleanly, a while after it has expired.
func TestAStreamEndsWithItsCredential(t *testing.T) {
	t.Parallel()
	short := tokens{"ann": {ID: "ann", Scopes: []string{"use"}, Expires: time.Now().Add(200 * time.Millisecond)}}
	hang := run("ask", func(ctx context.Context, task *server.Task) (string, error) {
		if err := task.Progress("on it"); err != nil {
			return "", err
		}
		select {
		case <-ctx.Done():
		case <-time.After(5 * time.Second):
		}
		return "", nil
	})
	var seen observed.Recorder
	a := start(t, authCard, []server.Skill{hang, run("run", nil)}, server.WithStreamGrace(100*time.Millisecond), server.WithObserver(&seen),
		server.WithAuth(auth.Verifiers{"idp": short, "key": people}))
	began := time.Now()
	s := a.stream("SendStreamingMessage", message("ask"), as("ann"))
	if events := s.rest(); len(events) != 2 || events[1].err != nil {
		t.Errorf("the stream ends with %v", events)
	}
	if took := time.Since(began); took < 250*time.Millisecond || took > 4*time.Second {
		t.Errorf("it ends after %v", took)
	}
	_ = a.Close() // the handler goes on
	for _, got := range seen.Wait(t, 2) {
		if got.Kind == observe.Serve && got.Reason != "UNAUTHENTICATED" {
			t.Errorf("it is observed as %+v", got)
		}
	}
}

// TestAStreamEndsWithTheCredentialOfItsSkill, also when another one names the caller: as it is begun, and as it is
// joined.
func TestAStreamEndsWithTheCredentialOfItsSkill(t *testing.T) {
	t.Parallel()
	expires := time.Now().Add(500 * time.Millisecond)
	short := tokens{"ann": {ID: "ann", Scopes: []string{"run"}, Expires: expires}}
	card := strings.Replace(authCard, `"securityRequirements":[{"schemes":{"idp":{"list":["use"]}}},`, `"securityRequirements":[`, 1)
	hang := run("run", func(ctx context.Context, task *server.Task) (string, error) {
		if err := task.Progress("on it"); err != nil {
			return "", err
		}
		select {
		case <-ctx.Done():
		case <-time.After(5 * time.Second):
		}
		return "", nil
	})
	a := start(t, card, []server.Skill{run("ask", nil), hang}, server.WithStreamGrace(100*time.Millisecond),
		server.WithAuth(auth.Verifiers{"idp": short, "key": auth.Keys(auth.Key{Caller: "ci", SHA256: auth.HashKey(aKey)})}))
	both := []string{as("ann"), "X-API-Key: " + aKey}
	s := a.stream("SendStreamingMessage", message("go", `"metadata":{"skillId":"run"}`), both...)
	id := str(s.next().result, "task", "id")
	for _, s := range []*events{s, a.stream("SubscribeToTask", `{"id":"`+id+`"}`, both...)} {
		s.rest()
		if late := time.Since(expires); late < 0 || late > 4*time.Second {
			t.Errorf("it ends %v after the token has expired", late)
		}
	}
	if v := a.rpc("GetTask", `{"id":"`+id+`"}`, "X-API-Key: "+aKey); v.status != 401 {
		t.Errorf("by the key alone: %d", v.status)
	}
}

// TestWhoMayDoWithoutCredentials: an empty requirement lets everybody in, but not with a wrong credential.
func TestWhoMayDoWithoutCredentials(t *testing.T) {
	card := strings.Replace(authCard, `{"schemes":{"key":{"list":[]}}}`, `{}`, 1)
	a := start(t, card, waiting(), guards())
	for who, want := range map[string]int{
		"": 200, as("ann"): 200, as("wrong"): 401, as("zoe"): 200, "X-API-Key: nonsense": 401, "X-API-Key: " + aKey: 200, as("down"): 503,
	} {
		if v := a.rpc("ListTasks", `{}`, who); v.status != want {
			t.Errorf("%q: %d %s", who, v.status, v.body)
		}
	}
	id := str(a.ok("SendMessage", message("ask"), as("zoe")), "task", "id") // who calls is known all the same
	if _, e := a.call("GetTask", `{"id":"`+id+`"}`); !errors.Is(e, runtime.ErrTaskNotFound) {
		t.Errorf("nobody sees a task of somebody: %v", e)
	}
	if v := a.rpc("SendMessage", message("run")); v.status != 401 || len(v.challenge) != 1 {
		t.Errorf("a skill that demands more: %d %q", v.status, v.challenge)
	}
}

// TestAnAgentDoesNotStartUnlessItCanCheckItsCard names the scheme.
func TestAnAgentDoesNotStartUnlessItCanCheckItsCard(t *testing.T) {
	for name, c := range map[string]struct {
		card      string
		verifiers auth.Verifiers
		want      string
	}{
		"no verifier":    {authCard, auth.Verifiers{"idp": people}, `"key", which nothing verifies`},
		"no keys":        {authCard, auth.Verifiers{"idp": people, "key": auth.Keys()}, `"key": no key is known: list one in a2agen.yaml under "auth", or in A2A_AUTH_KEY`},
		"no hash":        {authCard, auth.Verifiers{"idp": people, "key": auth.Keys(auth.Key{Caller: "ci", SHA256: aKey})}, "the key of ci is not given by the SHA-256 of it"},
		"no such scheme": {authCard, auth.Verifiers{"idp": people, "key": people, "kee": people}, `a verifier for "kee", which is none`},
		"not declared":   {strings.Replace(authCard, `{"schemes":{"key"`, `{"schemes":{"kee"`, 1), auth.Verifiers{"idp": people, "key": people}, `the card demands "kee"`},
	} {
		_, err := newServerOf(t, c.card, server.WithAuth(c.verifiers))
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), aKey) {
			t.Errorf("%s: %v", name, err)
		}
	}
	ofSkill := strings.Replace(authCard, `"securityRequirements":[{"schemes":{"idp":{"list":["use"]}}},{"schemes":{"key":{"list":[]}}}]`, `"securityRequirements":[{}]`, 1)
	ofNone := strings.Replace(ofSkill, `"securityRequirements":[{"schemes":{"idp":{"list":["run"]}}}]`, `"securityRequirements":[{}]`, 1)
	for card, fails := range map[string]bool{authCard: true, ofSkill: true, ofNone: false} {
		for _, opt := range []server.Option{server.WithStreamGrace(0), server.WithoutAuth()} { // which is not for demands
			s, err := newServerOf(t, card, opt)
			if err == nil {
				_ = s.Close()
			}
			if said := err != nil && strings.Contains(err.Error(), `the card demands the security scheme "idp", and nothing checks it`); said != fails {
				t.Errorf("nothing checks %s: %v", card, err)
			}
		}
	}
	t.Setenv("A2A_AUTH_KEY", "ci="+auth.HashKey(aKey)+", bob="+auth.HashKey("other"))
	s, err := newServerOf(t, authCard, server.WithAuth(auth.Verifiers{"idp": people, "key": auth.Keys()}))
	if err != nil {
		t.Fatal(err)
	}
	_ = s.Close()
}

// TestAKeyInTheURLIsSeenByNobodyElse: not in logs, not as a field of the request.
func TestAKeyInTheURLIsSeenByNobodyElse(t *testing.T) {
	card := strings.Replace(authCard, `{"location":"header","name":"x-api-key"}`, `{"location":"query","name":"api key"}`, 1)
	var log bytes.Buffer
	logger := server.WithLogger(slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})))
	a := start(t, card, waiting(), guards(), logger)
	get := func(query string) int {
		resp := a.rest("GET", "/tasks?"+query, "")
		_, _ = io.Copy(&log, resp.Body) // nor in answers
		_ = resp.Body.Close()
		return resp.StatusCode
	}
	for query, want := range map[string]int{
		"api+key=" + aKey: 200, "pageSize=3&api%20key=" + aKey: 200, "api+key=" + aKey + "&api+key=" + aKey: 401,
		"api+key=" + aKey + "x": 401, "api+key=": 401, "pageSize=%zz&api+key=" + aKey: 401, "access_token=" + aKey: 401,
		"pageToken=x&api+key=" + aKey: 400,
	} {
		if got := get(query); got != want {
			t.Errorf("%s: %d, want %d", query, got, want)
		}
	}
	for _, path := range []string{"/?", "/rpc?", "/none?", server.CardPath + "?", "/healthz?", "/tasks/none?"} {
		for _, accept := range []string{"text/html", "application/json"} {
			req, err := http.NewRequestWithContext(t.Context(), "GET", strings.TrimSuffix(a.url, "/rpc")+path+"api+key="+aKey, nil)
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Accept", accept)
			resp, err := a.web.Transport.RoundTrip(req) // without redirects
			if err != nil {
				t.Fatal(err)
			}
			body, _ := io.ReadAll(resp.Body)
			_ = resp.Body.Close()
			isPage := strings.HasPrefix(resp.Header.Get("Content-Type"), "text/html")
			if resp.StatusCode/100 == 3 || strings.Contains(fmt.Sprint(resp.Header, string(body)), aKey) || isPage && resp.Header.Get("Referrer-Policy") != "no-referrer" {
				t.Errorf("%s as %s: %s %v %s", path, accept, resp.Status, resp.Header, body)
			}
		}
	}
	if resp := a.rest("GET", "/tasks?access_token=x", "", as("ann")); resp.StatusCode != 401 {
		t.Errorf("a token in header and URL: %s", resp.Status)
	}
	if strings.Contains(log.String(), aKey) || log.Len() == 0 {
		t.Errorf("the key is in %s", log.String())
	}
}

// TestACookieComesFromThePageItself: a page of another origin cannot use it.
func TestACookieComesFromThePageItself(t *testing.T) {
	card := strings.Replace(authCard, `{"location":"header","name":"x-api-key"}`, `{"location":"cookie","name":"sid"}`, 1)
	a := start(t, card, waiting(), guards(), server.WithOrigins("https://trusted.example"))
	cookie, plain := "Cookie: a=b; sid="+aKey, "A2A-Version: "
	host := strings.TrimSuffix(strings.TrimPrefix(a.url, "http://"), "/rpc")
	id := str(a.ok("SendMessage", message("ask"), cookie), "task", "id")
	for _, c := range []struct {
		name, verb string
		header     []string
		want       int
	}{
		{"program with a version", "GET", []string{cookie}, 200},
		{"GET that any page can send", "GET", []string{cookie, plain}, 401},
		{"GET of the same origin", "GET", []string{cookie, plain, "Sec-Fetch-Site: same-origin"}, 200},
		{"GET of another site", "GET", []string{cookie, "Sec-Fetch-Site: cross-site"}, 403},
		{"GET of another host of the site", "GET", []string{cookie, "Sec-Fetch-Site: same-site"}, 403},
		{"GET of another origin", "GET", []string{cookie, "Origin: https://evil.example"}, 403},
		{"GET of the same origin, by an old browser", "GET", []string{cookie, plain, "Origin: http://" + host}, 200},
		{"GET of a trusted origin", "GET", []string{cookie, plain, "Origin: https://trusted.example", "Sec-Fetch-Site: cross-site"}, 200},
		{"a stream that any page can open", "STREAM", []string{cookie, plain}, 401},
		{"a stream for another site", "STREAM", []string{cookie, "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: no-cors"}, 403},
		{"a stream for the same origin", "STREAM", []string{cookie, plain, "Sec-Fetch-Site: same-origin"}, 200},
		{"POST of JSON", "POST", []string{cookie, plain, "Content-Type: application/json"}, 200},
		{"POST without a type", "POST", []string{cookie, plain, "Content-Type: "}, 401},
		{"twice", "GET", []string{cookie + "; sid=x"}, 401},
		{"wrong", "GET", []string{"Cookie: sid=x"}, 401},
	} {
		path, body := "/tasks", ""
		switch c.verb {
		case "POST":
			path, body = "/message:send", message("ask")
		case "STREAM":
			c.verb, path = "GET", "/tasks/"+id+":subscribe"
		}
		resp := a.rest(c.verb, path, body, c.header...)
		_ = resp.Body.Close()
		if resp.StatusCode != c.want {
			t.Errorf("%s: %s", c.name, resp.Status)
		}
	}
}

// TestAPageOfATrustedOriginCanSendItsKey, and read the challenge.
func TestAPageOfATrustedOriginCanSendItsKey(t *testing.T) {
	a := start(t, authCard, waiting(), guards(), server.WithOrigins("https://trusted.example"))
	resp := a.rest("OPTIONS", "/tasks", "", "Origin: https://trusted.example")
	_ = resp.Body.Close()
	if got := resp.Header.Get("Access-Control-Allow-Headers"); resp.StatusCode != 204 || !strings.HasSuffix(got, ", Last-Event-ID, X-Api-Key") {
		t.Errorf("%s, allowed are %q", resp.Status, got)
	}
	resp = a.rest("GET", "/tasks", "", "Origin: https://trusted.example")
	_ = resp.Body.Close()
	if got := resp.Header.Get("Access-Control-Expose-Headers"); resp.StatusCode != 401 || got != "A2A-Extensions, WWW-Authenticate" {
		t.Errorf("%s, exposed are %q", resp.Status, got)
	}
}

// TestThereIsNoWayAround: other methods, overrides, slashes, versions and batches meet the same check.
func TestThereIsNoWayAround(t *testing.T) {
	a := start(t, authCard, waiting(), guards())
	for _, body := range []string{`[` + rpcBody("ListTasks", `{}`) + `]`, `{"jsonrpc":"2.0","method":"ListTasks","params":{}}`, `nonsense`} {
		if resp, got := a.post(body); resp.StatusCode != 401 {
			t.Errorf("%s: %s %s", body, resp.Status, got)
		}
	}
	for _, path := range []string{"/tasks", "/tasks/", "/acme/tasks", "/v1/tasks", "/tasks/x", "/extendedAgentCard", "/%74asks", "//tasks"} {
		for _, verb := range []string{"GET", "HEAD", "POST", "DELETE", "PUT", "PATCH"} {
			for _, header := range []string{"", "X-HTTP-Method-Override: GET", "A2A-Version: ", "A2A-Version: 0.3"} {
				resp := a.rest(verb, path, "", header)
				_ = resp.Body.Close()
				if resp.StatusCode != 401 && (header != "A2A-Version: 0.3" || resp.StatusCode != 400) {
					t.Errorf("%s %s with %q: %s", verb, path, header, resp.Status)
				}
			}
		}
	}
	slash := strings.TrimSuffix(a.url, "/") + "/"
	resp, err := a.web.Post(slash, "application/json", strings.NewReader(rpcBody("ListTasks", `{}`)))
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != 401 {
		t.Errorf("%s: %s", slash, resp.Status)
	}
	req, _ := http.NewRequest("POST", a.url, strings.NewReader(rpcBody("ListTasks", `{}`)))
	req.Header["Authorization"] = []string{"Bearer ann", "Bearer ann"}
	req.Header.Set("Content-Type", "application/json")
	if resp, err = a.web.Do(req); err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != 401 {
		t.Errorf("two Authorization headers: %s", resp.Status)
	}
}

// TestAHiddenSkillDemandsWhatTheExtendedCardSays: the public one does not have it.
func TestAHiddenSkillDemandsWhatTheExtendedCardSays(t *testing.T) {
	skills := waiting()
	skills[1].Hidden = true
	public := authCard[:strings.Index(authCard, `,
		{"id":"run"`)] + "]}"
	s, err := server.New(server.Config{
		Protocol: a2a.Protocol(), Card: readCard(t, public), Extended: readCard(t, authCard), Skills: skills,
	}, server.WithLogger(slog.New(slog.DiscardHandler)), server.WithURL("https://agent.example"), guards(), webhooks.Send())
	if err != nil {
		t.Fatal(err)
	}
	a := host(t, s)
	resp, err := a.web.Get(strings.TrimSuffix(a.url, "/rpc") + server.ResourcePath)
	if err != nil {
		t.Fatal(err)
	}
	doc, _ := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	if !strings.Contains(string(doc), `"scopes_supported":["use"]`) {
		t.Errorf("the resource's description tells of a hidden skill's scope: %s", doc)
	}
	named := message("go", `"metadata":{"skillId":"run"}`)
	for who, want := range map[string]int{as("ann"): 200, as("eve"): 403, "X-API-Key: " + aKey: 401, "": 401} {
		if v := a.rpc("SendMessage", named, who); v.status != want {
			t.Errorf("%q: %d %s", who, v.status, v.body)
		}
	}
}

// TestAProxyThatKnowsTheCallerIsTrusted in the place of the card's demands, whatever generated code says of verifiers.
func TestAProxyThatKnowsTheCallerIsTrusted(t *testing.T) {
	a := start(t, authCard, waiting(), guards(), server.WithProxyIdentity(func(r *http.Request) (string, error) { return r.Header.Get("X-User"), nil }))
	id := str(a.ok("SendMessage", message("run"), "X-User: ann"), "task", "id")
	a.ok("GetTask", `{"id":"`+id+`"}`, "X-User: ann")
	for _, who := range []string{"X-User: bob", as("ann"), ""} {
		if _, e := a.call("GetTask", `{"id":"`+id+`"}`, who); !errors.Is(e, runtime.ErrTaskNotFound) {
			t.Errorf("%q: %v", who, e)
		}
	}
}
