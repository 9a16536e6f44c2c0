package page

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/a2agen/a2agen/internal/dev/live"
	"github.com/a2agen/a2agen/internal/dev/status"
	"github.com/a2agen/a2agen/internal/dev/traffic"
)

const token = "0123456789abcdef"

type bench struct {
	*httptest.Server
	feed     *live.Feed
	log      *traffic.Log
	commands []string
}

// start serves a page with one agent, which echoes what reaches it.
func start(t *testing.T) *bench {
	t.Helper()
	b := &bench{feed: &live.Feed{}}
	b.log = &traffic.Log{Feed: b.feed}
	echo := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "text/html")
		w.Header().Set("Set-Cookie", "a=b")
		w.Header().Set("Content-Security-Policy", "script-src *")
		head, _ := json.Marshal(r.Header)
		_, _ = io.WriteString(w, r.Method+" "+r.URL.RequestURI()+" "+string(head)+" "+string(body))
	})
	p := &Page{
		Token: token, Version: "v1", Traffic: b.log, Feed: b.feed,
		Agents:  func() []status.Agent { return []status.Agent{{Name: "weather"}} },
		Command: func(n int, c string) bool { b.commands = append(b.commands, c); return n == 0 && c == "rebuild" },
		Handler: func(n int) http.Handler {
			if n != 0 {
				return nil
			}
			return b.log.Record(0, echo)
		},
		Lines: func(int) []Line { return []Line{{Text: "hello"}} },
	}
	b.Server = httptest.NewServer(p.Server())
	t.Cleanup(b.Close)
	return b
}

// ask sends a request of a program that has the token, unless headers say otherwise ("-" leaves one out).
func (b *bench) ask(t *testing.T, method, path, body string, headers ...string) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequest(method, b.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set(TokenHeader, token)
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		switch {
		case name == "Host":
			r.Host = value
		case value == "-":
			r.Header.Del(name)
		default:
			r.Header.Set(name, value)
		}
	}
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	said, _ := io.ReadAll(resp.Body)
	return resp, string(said)
}

// TestStrangersAreRefused on every path: without the token, under a foreign name, from a page of another origin.
func TestStrangersAreRefused(t *testing.T) {
	b := start(t)
	port := b.URL[strings.LastIndexByte(b.URL, ':'):]
	for name, tt := range map[string]struct {
		headers []string
		want    int
	}{
		"no token":          {[]string{TokenHeader + ": -"}, 401},
		"a wrong token":     {[]string{TokenHeader + ": 0123456789abcdee"}, 401},
		"a wrong cookie":    {[]string{TokenHeader + ": -", "Cookie: a2agen_dev_" + port[1:] + "=x"}, 401},
		"a rebound name":    {[]string{"Host: evil.test" + port}, 403},
		"a name like ours":  {[]string{"Host: 127.0.0.1.evil.test" + port}, 403},
		"another origin":    {[]string{"Origin: http://evil.test"}, 403},
		"another port":      {[]string{"Origin: http://127.0.0.1:1"}, 403},
		"no origin at all":  {[]string{"Origin: null"}, 403},
		"a foreign script":  {[]string{"Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: no-cors"}, 403},
		"a neighbour's":     {[]string{"Sec-Fetch-Site: same-site", "Sec-Fetch-Mode: cors"}, 403},
		"our own":           {[]string{"Origin: " + b.URL, "Sec-Fetch-Site: same-origin"}, 0},
		"a program":         {nil, 0},
		"by localhost":      {[]string{"Host: localhost" + port}, 0},
		"the cookie of now": {[]string{TokenHeader + ": -", "Cookie: a2agen_dev_" + port[1:] + "=" + token}, 0},
	} {
		for _, path := range []string{"GET /", "GET /main.js", "GET /api/state", "GET /api/calls", "POST /api/agents/0/rebuild", "DELETE /api/calls", "POST /agent/0/rpc", "GET /agent/0/x"} {
			method, at, _ := strings.Cut(path, " ")
			resp, said := b.ask(t, method, at, "", tt.headers...)
			if tt.want == 0 && resp.StatusCode >= 300 || tt.want != 0 && resp.StatusCode != tt.want {
				t.Errorf("%s, %s: %d %s", name, path, resp.StatusCode, said)
			}
			if !strings.HasPrefix(at, "/agent") && !strings.Contains(resp.Header.Get("Content-Security-Policy"), "default-src 'none'; script-src 'self'") || resp.Header.Get("Access-Control-Allow-Origin") != "" ||
				resp.Header.Get("Referrer-Policy") != "no-referrer" || resp.Header.Get("X-Content-Type-Options") != "nosniff" {
				t.Errorf("%s, %s: %v", name, path, resp.Header)
			}
		}
	}
}

// TestTheTokenOfTheAddressBecomesACookie that no script reads and no other site sends.
func TestTheTokenOfTheAddressBecomesACookie(t *testing.T) {
	b := start(t)
	resp, _ := b.ask(t, "GET", "/?token="+token, "", TokenHeader+": -", "Sec-Fetch-Site: none", "Sec-Fetch-Mode: navigate")
	c := resp.Header.Get("Set-Cookie")
	if resp.StatusCode != http.StatusSeeOther || resp.Header.Get("Location") != "/" || !strings.Contains(c, "HttpOnly") || !strings.Contains(c, "SameSite=Strict") {
		t.Errorf("%d %v", resp.StatusCode, resp.Header)
	}
	if resp, said := b.ask(t, "GET", "/?token=old", "", TokenHeader+": -"); resp.StatusCode != 401 || !strings.Contains(said, "an earlier start") {
		t.Errorf("%d %s", resp.StatusCode, said)
	}
}

// TestAnAgentIsCalledThroughThePage without what browsers add, and its answer does nothing in the page's origin.
func TestAnAgentIsCalledThroughThePage(t *testing.T) {
	b := start(t)
	resp, said := b.ask(t, "POST", "/agent/0/a%2Fb?x=1", "hi", "Origin: "+b.URL, "Cookie: c=d", "Referer: "+b.URL, "Authorization: Bearer abc")
	if !strings.HasPrefix(said, "POST /a%2Fb?x=1 ") || !strings.HasSuffix(said, " hi") || regexp.MustCompile("Cookie|Origin|Referer|A2agen-Dev").MatchString(said) ||
		!strings.Contains(said, `"Bearer abc"`) {
		t.Error(said)
	}
	if h := resp.Header; h.Get("Set-Cookie") != "" || h.Get("Content-Security-Policy") != "default-src 'none'; sandbox; frame-ancestors 'none'" || h.Get("Content-Disposition") != "attachment" {
		t.Errorf("%v", h)
	}
	if list := b.log.List(0, 10); len(list) != 1 || list[0].Caller != "page" {
		t.Errorf("%+v", list)
	}
	if resp, _ := b.ask(t, "GET", "/agent/0/", "", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Site: same-origin"); resp.StatusCode != 403 {
		t.Errorf("an answer is shown as a page: %d", resp.StatusCode)
	}
	if resp, _ := b.ask(t, "GET", "/agent/7/", ""); resp.StatusCode != 404 {
		t.Errorf("%d", resp.StatusCode)
	}
}

// TestTheAPI answers as its documentation says.
func TestTheAPI(t *testing.T) {
	b := start(t)
	large := strings.Repeat("x", 2*shown)
	b.ask(t, "POST", "/agent/0/rpc", large)
	for path, want := range map[string]string{
		"GET /api/state":             `^\{"seq":3,"version":"v1","agents":\[\{.*"name":"weather".*"limits":\{"calls":1000,"bytes":67108864,"kept":\d+\}\}`,
		"GET /api/calls":             `^\{"calls":\[\{"id":1,"agent":0,"caller":"page",`,
		"GET /api/calls?after=1":     `^\{"calls":\[\]\}`,
		"GET /api/calls/1":           `"request":\{"bytes":"eHh4[^"]+=*","size":131072,"more":true\}`,
		"GET /api/calls/1/request":   `^x+$`,
		"GET /api/calls/1/response":  `^POST /rpc `,
		"GET /api/calls/1/events/1":  `^\{"error":"this event is not kept"\}`,
		"GET /api/calls/2":           `^\{"error":"this exchange is no longer kept"\}`,
		"GET /api/agents/0/log":      `^\{"lines":\[\{.*"text":"hello"\}\]\}`,
		"POST /api/agents/0/rebuild": `^$`,
		"POST /api/agents/0/explode": `^\{"error":"there is no such agent or command`,
		"GET /main.js":               `^// @ts-check`,
		"GET /":                      `^<!doctype html>`,
	} {
		method, at, _ := strings.Cut(path, " ")
		if _, said := b.ask(t, method, at, ""); !regexp.MustCompile(want).MatchString(strings.TrimSpace(said)) {
			t.Errorf("%s: %.300s", path, said)
		}
	}
	b.ask(t, "DELETE", "/api/calls", "")
	if _, said := b.ask(t, "GET", "/api/calls", ""); said != "{\"calls\":[]}\n" {
		t.Error(said)
	}
}

// TestTheLiveFeedGoesOnAfterANumber and says when changes were missed.
func TestTheLiveFeedGoesOnAfterANumber(t *testing.T) {
	b := start(t)
	for _, n := range []int{1, 2, 3} {
		b.feed.Publish("agent", map[string]int{"n": n})
	}
	read := func(after string, lines int) (got []string) {
		r, _ := http.NewRequest("GET", b.URL+"/api/live"+after, nil)
		r.Header.Set(TokenHeader, token)
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = resp.Body.Close() }()
		scan := bufio.NewScanner(resp.Body)
		for len(got) < lines && scan.Scan() {
			if text := scan.Text(); text != "" && text != ": " {
				got = append(got, text)
			}
		}
		return got
	}
	if got := strings.Join(read("?after=1", 6), "|"); got != `id: 2|event: agent|data: {"n":2}|id: 3|event: agent|data: {"n":3}` {
		t.Error(got)
	}
	if got := strings.Join(read("?after=99", 3), "|"); got != `id: 3|event: reset|data: {"seq":3}` {
		t.Error(got)
	}
}

// TestNothingOfThePageComesFromElsewhere, and no text becomes HTML.
func TestNothingOfThePageComesFromElsewhere(t *testing.T) {
	files, err := assets.ReadDir("assets")
	if err != nil {
		t.Fatal(err)
	}
	var packed bytes.Buffer
	zip := gzip.NewWriter(&packed)
	for _, f := range files {
		text, err := assets.ReadFile("assets/" + f.Name())
		if err != nil {
			t.Fatal(err)
		}
		_, _ = zip.Write(notes.ReplaceAll(text, nil)) // to memory
		if bad := regexp.MustCompile(`https?://|innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|javascript:`).Find(text); bad != nil {
			t.Errorf("%s has %q", f.Name(), bad)
		}
		if strings.HasSuffix(f.Name(), ".js") && !strings.HasPrefix(string(text), "// @ts-check\n") {
			t.Errorf("%s is not checked for types", f.Name())
		}
	}
	if _ = zip.Close(); packed.Len() > 90_000 {
		t.Errorf("the page has %d bytes, compressed", packed.Len())
	}
}

// notes are the comments of a file of the page, which types and readers need and the browser does not.
var notes = regexp.MustCompile(`(?s)/\*.*?\*/|(?m)(^|\s)//.*$`)

// TestTextsStandInOneTable finds sentences outside words.js: a text of three words or more that is no list of classes.
// What breaks a schema is said in rules.js, in the words of the generated code.
func TestTextsStandInOneTable(t *testing.T) {
	files, err := fs.Glob(assets, "assets/*.js")
	if err != nil {
		t.Fatal(err)
	}
	classes := regexp.MustCompile(`class: [^,}]*`)
	sentence := regexp.MustCompile(`"[A-Za-z]+,? [a-z]+,? [a-z]+[^"\n]*"`)
	for _, f := range files {
		if f == "assets/words.js" || f == "assets/rules.js" {
			continue
		}
		text, err := assets.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range sentence.FindAll(classes.ReplaceAll(notes.ReplaceAll(text, nil), nil), -1) {
			t.Errorf("%s says %s: move it to words.js", f, found)
		}
	}
}
