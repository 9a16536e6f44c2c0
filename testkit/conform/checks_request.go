package conform

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

var negotiationChecks = []*Check{
	{ID: "version.unsupported", Requirements: []string{"R72"}, Section: "1.0 §3.6.2", Level: Must, Scope: OnInterface, Versions: only10,
		Sentence: "A request of a version that the agent does not speak is answered VersionNotSupported.",
		Differ:   "a2a-go does not look at the version; the SDKs for Python, JavaScript and Java do.", run: func(t *trial) {
			x := t.send(message{}, options{version: ptr("99.0")})
			t.wantError(x, errVersion)
			if e := t.dialect.operation(opGet); e != nil {
				t.wantError(t.onTask(opGet, freshID(), options{version: ptr("99.0")}), errVersion)
			}
		}},
	{ID: "version.header-case", Requirements: []string{"R150", "R151", "R155", "R162"}, Section: "1.0 §9.2, §10.2, §11.2", Level: Must, Scope: OnInterface, Versions: only10,
		Sentence: "Service parameters are headers, whose names are compared without regard to case.",
		Differ:   "a2a-go does not look at the version.", run: func(t *trial) {
			x := t.onTask(opGet, freshID(), options{version: ptr(""), header: http.Header{"a2a-version": {"99.0"}}})
			t.wantError(x, errVersion)
		}},
	{ID: "version.patch", Requirements: []string{"R70"}, Section: "1.0 §3.6", Level: Must, Scope: OnInterface, Versions: only10,
		Sentence: "A patch number in the version of a request does not count.",
		Differ:   "the SDKs for Python and Java compare the major number alone, that for JavaScript the whole text.", run: func(t *trial) {
			x := t.onTask(opGet, freshID(), options{version: ptr("1.0.7")})
			t.wantError(x, errTaskNotFound)
		}},
	{ID: "version.none", Requirements: []string{"R73"}, Section: "1.0 §3.6.2", Level: Must, Scope: OnInterface, Versions: only10, Bindings: overRPC,
		Sentence: "A request without a version is of 0.3: an agent that does not speak that refuses it.", run: func(t *trial) {
			for _, old := range []string{"0.3", "0.2", "0.1"} { // callers of 0.2 and 0.1 say no version either
				if t.speaks(old) {
					t.skip("the agent speaks %s, which is tried by itself", old)
				}
			}
			request := object{"jsonrpc": "2.0", "id": "conform-old", "method": "message/send", "params": object{"message": object{
				"kind": "message", "messageId": freshID(), "role": "user", "parts": []any{object{"kind": "text", "text": t.contract.Text.Text}}}}}
			x := t.rawRPC(string(encode(request)), "conform-old", options{version: ptr("")})
			t.wantError(x, errVersion, errMethod)
		}},
	{ID: "version.methods", Requirements: []string{"R72"}, Section: "1.0 §3.6.2, §9.4", Level: Must, Scope: OnInterface, Versions: only10, Bindings: overRPC,
		Sentence: "A request of 1.0 has the methods of 1.0: those of 0.3 are unknown to it.", run: func(t *trial) {
			x := t.rawRPC(`{"jsonrpc":"2.0","id":"conform-methods","method":"tasks/get","params":{"id":"`+freshID()+`"}}`, "conform-methods")
			f := x.error()
			t.want(f != nil && !f.is(errTaskNotFound, t.version()), x, "the method of 0.3 is carried out")
		}},
	{ID: "extension.required", Requirements: []string{"R49"}, Section: "1.0 §3.3.4", Level: Must, Scope: OnInterface, Versions: only10,
		Sentence: "A request that does not name an extension which the card requires is answered ExtensionSupportRequired.", run: func(t *trial) {
			if len(t.requiredExtensions()) == 0 {
				t.skip("the card requires no extension")
			}
			without := header(extensionsHeader, "")
			without.Set("X-"+extensionsHeader, "")
			t.wantError(t.send(message{}, options{header: without}), errExtension)
		}},
	{ID: "extension.unknown", Requirements: []string{"R87"}, Section: "1.0 §4.6.3", Level: Should, Scope: OnInterface, Versions: only10,
		Sentence: "An extension that the agent does not know is ignored.", run: func(t *trial) {
			x := t.send(message{}, options{header: header(extensionsHeader, t.withExtensions(unknownExtension))})
			t.want(x.error() == nil, x, "a request that names an unknown extension is refused: %s", x.error())
		}},
	{ID: "extension.list", Requirements: []string{"R152"}, Section: "1.0 §9.2", Level: Should, Scope: OnInterface, Versions: only10,
		Sentence: "Several extensions in one header are taken one by one.", run: func(t *trial) {
			list := t.withExtensions(unknownExtension, "https://conform.example/extensions/other/v1")
			x := t.onTask(opGet, freshID(), options{header: header(extensionsHeader, list)})
			t.wantError(x, errTaskNotFound)
		}},
}

// requiredExtensions are those that the card requires.
func (r *runner) requiredExtensions() (uris []string) {
	for _, e := range objects(member(r.value, "capabilities", "extensions")) {
		if e["required"] == true {
			uris = append(uris, text(e, "uri"))
		}
	}
	return uris
}

const unknownExtension = "https://conform.example/extensions/unknown/v1"

// withExtensions joins extensions with those that the card requires.
func (r *runner) withExtensions(more ...string) string {
	return strings.Join(append(r.requiredExtensions(), more...), ", ")
}

var inputChecks = []*Check{
	{ID: "input.no-message", Requirements: []string{"R35", "R100", "R218"}, Section: "1.0 §3.3.2, §5.7; 0.3 §8.1", Level: Must, Scope: OnInterface,
		Sentence: "A request without a message is refused as InvalidParams.", run: func(t *trial) {
			t.wantError(t.sendChanged(func(params, _ object) { delete(params, t.dialect.def.sendMember()) }), errParams, errRequest)
		}},
	{ID: "input.no-parts", Requirements: []string{"R100", "R35"}, Section: "1.0 §5.7", Level: Should, Scope: OnInterface, Versions: only10,
		Sentence: "A message without parts is refused as InvalidParams.", run: func(t *trial) {
			t.wantError(t.sendChanged(func(_, m object) { m["parts"] = []any{} }), errParams, errRequest)
		}},
	{ID: "input.names-fields", Requirements: []string{"R36", "R43"}, Section: "1.0 §3.3.2, §5.4", Level: Should, Scope: OnInterface, Versions: only10,
		Sentence: "The error names the member that is wrong, in a BadRequest.", run: func(t *trial) {
			x := t.sendChanged(func(_, m object) { m["parts"] = []any{} })
			f := x.error()
			if f == nil {
				t.skip("the message is taken: see input.no-parts")
			}
			violations := objects(member(f.detail(badRequestType), "fieldViolations"))
			t.want(len(violations) > 0 && strings.Contains(string(encode(violations)), "parts"), x, "the error has no BadRequest that names parts")
		}},
	{ID: "input.no-message-id", Requirements: []string{"R100"}, Section: "1.0 §5.7", Level: Should, Scope: OnInterface, Versions: only10,
		Sentence: "A message without a messageId is refused as InvalidParams.",
		Differ:   "samples of the specification itself leave it out.", run: func(t *trial) {
			t.wantError(t.sendChanged(func(_, m object) { delete(m, "messageId") }), errParams, errRequest)
		}},
	{ID: "input.empty-part", Requirements: []string{"R100"}, Section: "1.0 §4.1.6, §5.7", Level: Should, Scope: OnInterface, Versions: only10,
		Sentence: "A part without content is refused as InvalidParams.", run: func(t *trial) {
			t.wantError(t.sendChanged(func(_, m object) { m["parts"] = []any{object{}} }), errParams, errRequest)
		}},
	{ID: "input.role", Requirements: []string{"R94", "R35"}, Section: "1.0 §5.5", Level: Should, Scope: OnInterface, Versions: only10, Bindings: overHTTP,
		Sentence: "A role that does not exist is refused as InvalidParams.", run: func(t *trial) {
			t.wantError(t.sendChanged(func(_, m object) { m["role"] = "ROLE_NOBODY" }), errParams, errRequest)
		}},
	{ID: "input.history", Requirements: []string{"R300", "R35"}, Section: "1.0 §3.2.4", Level: Should, Scope: OnInterface, Versions: only10,
		Sentence: "A negative historyLength is refused as InvalidParams.", reach: stages{taskEnded}, run: func(t *trial) {
			t.wantError(t.onTask(opGet, t.at.task(), options{history: ptr(-1)}), errParams)
		}},
	{ID: "input.unknown-members", Requirements: []string{"R101"}, Section: "1.0 §5.7", Level: Should, Scope: OnInterface, Bindings: overHTTP,
		Sentence: "Members that the definition does not have are ignored.",
		Differ:   "the SDK for Python and an early one for Java refuse them; those for Go and JavaScript ignore them.", run: func(t *trial) {
			x := t.sendChanged(func(params, m object) {
				params["conformUnknown"], m["conformUnknown"] = object{"a": 1}, []any{"b"}
			})
			t.want(x.error() == nil, x, "a request with unknown members is refused: %s", x.error())
		}},
	{ID: "input.text", Requirements: []string{"R239"}, Section: "1.0 §14.1.1", Level: Must, Scope: OnInterface,
		Sentence: "Text of every script arrives as it was sent.", run: func(t *trial) {
			const said = "naïve 日本語 Ω \U0001F680 \u2028 \"\\\" </script>"
			x := t.send(message{step: t.contract.Text.saying(said)})
			if x.error() != nil {
				t.skip("the agent does not take the text: %s", x.error())
			}
			e := t.taken(x)
			if e.kind != isTask {
				return
			}
			e = t.taken(t.onTask(opGet, e.task()))
			if !ended(e.state()) {
				defer t.cleanup(e.task())
			}
			for _, m := range e.history() {
				if role := text(m, "role"); role == "user" || role == "ROLE_USER" {
					t.want(words(m) == said, x, "the history has %q, and sent was %q", clean(words(m), 120), said)
					return
				}
			}
		}},
	{ID: "input.not-utf8", Requirements: []string{"R239", "R35"}, Section: "1.0 §14.1.1", Level: Should, Scope: OnInterface, Versions: only10, Bindings: overHTTP,
		Sentence: "A request that is not UTF-8 is refused.", run: func(t *trial) {
			params := t.dialect.send(message{step: t.contract.Text.saying("TEXT")})
			var body any = params
			if t.Binding == bindingJSONRPC {
				body = object{"jsonrpc": "2.0", "id": "conform-utf8", "method": rpcMethod(t.dialect.operation(opSend)), "params": params}
			}
			src := strings.Replace(string(encode(body)), "TEXT", "a\xff\xfeb", 1)
			var x *exchange
			if t.Binding == bindingJSONRPC {
				x = t.rawRPC(src, anyID)
			} else {
				path, _, verb := t.dialect.route(t.dialect.operation(opSend), params)
				x = t.rawREST(verb, path, src)
			}
			t.want(x.error() != nil, x, "bytes that are not UTF-8 are taken")
		}},
	{ID: "input.data", Requirements: []string{"R88"}, Section: "1.0 §4.1.6", Level: Should, Scope: OnInterface, Versions: since02,
		Sentence: "A request that the agent cannot do anything with gets an answer, and no failure of the server.", run: func(t *trial) {
			x := t.send(message{step: &Step{Data: object{"conform": []any{1, "two", nil, object{"deep": true}}}}})
			f := x.error()
			t.want(f == nil || f.http < 500 && f.code != -32603 && f.status != "INTERNAL" && f.status != "UNKNOWN", x, "the agent fails: %s", f)
		}},
}

// sendChanged sends a message with something in it that is wrong.
func (t *trial) sendChanged(change func(params, message object)) *exchange {
	return t.send(message{change: func(params object) {
		m, _ := params[t.dialect.def.sendMember()].(object)
		change(params, m)
	}}, options{wrong: true})
}

var jsonrpcChecks = []*Check{
	{ID: "jsonrpc.ids", Requirements: []string{"R153", "Q32"}, Section: "1.0 §9.3; 0.3 §6.11.2", Level: Must, Scope: OnInterface, Bindings: overRPC,
		Sentence: "An id comes back as it was: a string, and an integer up to 2⁵³.", run: func(t *trial) {
			for _, id := range []any{"a \"quoted\" ✓ id", json.Number("0"), json.Number("7"), json.Number("9007199254740991")} {
				x := t.onTask(opGet, freshID(), options{id: id})
				for _, problem := range x.problems["answer.id"] {
					t.fail(x, "%s", problem)
				}
			}
		}},
	{ID: "jsonrpc.parse-error", Requirements: []string{"R153", "Q35", "Q32"}, Section: "1.0 §9.5; 0.3 §8.1", Level: Must, Scope: OnInterface, Bindings: overRPC,
		Sentence: "A body that is not JSON is answered -32700, with the id null.", run: func(t *trial) { t.wantError(t.rawRPC(`{"jsonrpc":"2.0","id":"x","method":`, nil), errParse) }},
	{ID: "jsonrpc.invalid-request", Requirements: []string{"R153", "Q35"}, Section: "1.0 §9.5; 0.3 §8.1", Level: Must, Scope: OnInterface, Bindings: overRPC,
		Sentence: "JSON that is not a request is answered -32600.", run: func(t *trial) {
			t.wantError(t.rawRPC(`{"jsonrpc":"2.0","id":"conform-r"}`, "conform-r"), errRequest)
		}},
	{ID: "jsonrpc.version", Requirements: []string{"R153", "Q35"}, Section: "1.0 §9.3; 0.3 §6.11.1", Level: Should, Scope: OnInterface, Versions: since02, Bindings: overRPC,
		Sentence: "A request of another version of JSON-RPC is answered -32600.", run: func(t *trial) {
			method := rpcMethod(t.dialect.operation(opGet))
			t.wantError(t.rawRPC(fmt.Sprintf(`{"jsonrpc":"1.0","id":"conform-v","method":%q,"params":{"id":"conform"}}`, method), "conform-v"), errRequest)
		}},
	{ID: "jsonrpc.unknown-method", Requirements: []string{"R153", "Q35", "Q13"}, Section: "1.0 §9.5; 0.3 §8.1", Level: Must, Scope: OnInterface, Bindings: overRPC,
		Sentence: "A method that does not exist is answered -32601.", run: func(t *trial) {
			t.wantError(t.rawRPC(`{"jsonrpc":"2.0","id":"conform-m","method":"conform/unknown","params":{}}`, "conform-m"), errMethod)
		}},
	{ID: "jsonrpc.params", Requirements: []string{"R153", "R35"}, Section: "1.0 §9.5; 0.3 §8.1", Level: Must, Scope: OnInterface, Bindings: overRPC,
		Sentence: "Parameters of a wrong type are answered -32602.", run: func(t *trial) {
			method := rpcMethod(t.dialect.operation(opGet))
			t.wantError(t.rawRPC(fmt.Sprintf(`{"jsonrpc":"2.0","id":"conform-p","method":%q,"params":{"id":{"a":1}}}`, method), "conform-p"), errParams, errRequest)
		}},
	{ID: "jsonrpc.notification", Requirements: []string{"Q31"}, Section: "0.3 §6.11.1", Level: Should, Scope: OnInterface, Versions: []string{"0.3", "0.2"}, Bindings: overRPC,
		Sentence: "A request without an id is a notification, which is not answered.",
		Differ:   "most answer a notification that fails before its operation runs.", reach: stages{taskEnded}, run: func(t *trial) {
			method := rpcMethod(t.dialect.operation(opGet))
			id := t.at.task()
			x := &exchange{dialect: t.dialect}
			h := t.headers(options{})
			h.Set("Content-Type", "application/json")
			body := encode(object{"jsonrpc": "2.0", "method": method, "params": object{"id": id}})
			t.roundTrip(x, http.MethodPost, t.URL, h, body, options{})
			t.answered(x)
			t.want(len(strings.TrimSpace(string(x.body))) == 0, x, "a notification is answered")
		}},
}

var restChecks = []*Check{
	{ID: "rest.unknown-path", Requirements: []string{"R42", "R28"}, Section: "1.0 §11.6", Level: Must, Scope: OnInterface, Bindings: overREST,
		Sentence: "A path that does not exist is answered with an error of HTTP.", run: func(t *trial) {
			x := &exchange{dialect: t.dialect}
			t.roundTrip(x, http.MethodGet, strings.TrimRight(t.URL, "/")+"/conform-unknown/path", t.headers(options{}), nil, options{})
			t.answered(x)
			t.want(x.status >= 400 && x.status < 600, x, "the status is %d", x.status)
		}},
	{ID: "rest.parse-error", Requirements: []string{"R35", "R42"}, Section: "1.0 §3.3.2, §11.6; 0.3 §3.2.3", Level: Must, Scope: OnInterface, Bindings: overREST,
		Sentence: "A body that is no JSON is answered with a status of 400.", run: func(t *trial) {
			path, _, verb := t.dialect.route(t.dialect.operation(opSend), object{})
			x := t.rawREST(verb, path, `{"message":`)
			t.want(x.status == 400 || t.version() != "1.0" && x.status == 422, x, "the status is %d", x.status)
		}},
	{ID: "rest.media-type", Requirements: []string{"R161"}, Section: "1.0 §11.1", Level: Should, Scope: OnInterface, Versions: only10, Bindings: overREST,
		Sentence: "A body of the media type application/a2a+json is taken.",
		Differ:   "1.0.0 has application/json; the SDK for JavaScript answers application/a2a+json, those for Go and Java application/json.", run: func(t *trial) {
			x := t.send(message{}, options{header: header("Content-Type", "application/a2a+json")})
			t.want(x.error() == nil, x, "it is refused: %s", x.error())
		}},
	{ID: "rest.query", Requirements: []string{"R165", "R166", "R167"}, Section: "1.0 §11.5", Level: Must, Scope: OnInterface, Versions: only10, Bindings: overREST,
		Sentence: "Parameters of GET are in path and query, under their camelCase names.", reach: stages{taskEnded}, run: func(t *trial) {
			path, _, verb := t.dialect.route(t.dialect.operation(opGet), t.dialect.ofTask(t.at.task()))
			x := t.rawREST(verb, path+"?historyLength=0", "")
			got := asObject(x.result)
			t.want(x.failure == nil && text(got, "id") == t.at.task(), x, "the task is not read")
			t.want(len(objects(got["history"])) == 0, x, "historyLength=0 is not heeded")
		}},
	{ID: "rest.escapes", Requirements: []string{"R165", "T57"}, Section: "1.0 §11.5", Level: Must, Scope: OnInterface, Versions: only10, Bindings: overREST,
		Sentence: "An id with escaped characters in a path is one id.", run: func(t *trial) {
			t.wantError(t.onTask(opGet, "conform:a/b c%2F+"+freshID()), errTaskNotFound)
		}},
	{ID: "rest.subscribe", Requirements: []string{"T2", "T35"}, Section: "1.0 §5.3, §11.3.2; 0.3 §3.5.6", Level: Should, Scope: OnInterface, Bindings: overREST,
		Sentence: "A task is subscribed to by GET, as the proto has it, and by POST, as the text does.",
		Differ:   "those for Go, Python 1.x and JavaScript take both, that for Java POST alone, Python 0.3 GET alone.", reach: stages{streamOffered}, run: func(t *trial) {
			for _, verb := range []string{http.MethodGet, http.MethodPost} {
				x := t.onTask(opSubscribe, freshID(), options{verb: verb})
				t.want(x.status != http.StatusMethodNotAllowed && x.status != http.StatusNotImplemented, x, "%s is answered %d", verb, x.status)
			}
		}},
	{ID: "rest.v1", Requirements: []string{"Q6"}, Section: "0.3 §3.5.3", Level: Must, Scope: OnInterface, Versions: []string{"0.3", "0.2"}, Bindings: overREST,
		Sentence: "Operations are below /v1.", Differ: "a2a-go's layer for 0.3 has no /v1.", reach: stages{taskEnded}, run: func(t *trial) {
			x := t.rawREST(http.MethodGet, "/v1/tasks/"+t.at.task(), "")
			t.want(x.failure == nil, x, "the task is not read: %s", x.failure)
		}},
}
