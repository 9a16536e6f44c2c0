package webhooks

import (
	"net/http"
	"strings"
	"testing"

	"github.com/a2agen/a2agen/runtime"
)

func TestConfigurationsThatWouldDoHarmAreRefused(t *testing.T) { // R200
	long := strings.Repeat("x", 5000)
	https := "https://hook.example/x"
	closed, open := newSender(targets{}, nil), opened(t)
	defer closed.Close()
	for _, tt := range []struct {
		c     runtime.PushConfig
		field string
	}{
		{runtime.PushConfig{}, "url"},
		{runtime.PushConfig{URL: "hook.example"}, "url"},
		{runtime.PushConfig{URL: "//hook.example/x"}, "url"},
		{runtime.PushConfig{URL: "https:hook.example"}, "url"},
		{runtime.PushConfig{URL: "https:///x"}, "url"},
		{runtime.PushConfig{URL: "ftp://hook.example"}, "url"},
		{runtime.PushConfig{URL: "file:///etc/passwd"}, "url"},
		{runtime.PushConfig{URL: "https://user:pass@hook.example/"}, "url"},
		{runtime.PushConfig{URL: https + "#part"}, "url"},
		{runtime.PushConfig{URL: https + "#"}, "url"},
		{runtime.PushConfig{URL: "https://hook.example:0/"}, "url"},
		{runtime.PushConfig{URL: "https://hook.example:99999/"}, "url"},
		{runtime.PushConfig{URL: "https://hook.example/a b"}, "url"},
		{runtime.PushConfig{URL: "https://hook.example/\r\nX: y"}, "url"},
		{runtime.PushConfig{URL: "https://höhle.example/"}, "url"},
		{runtime.PushConfig{URL: "https://[fe80::1%25eth0]/"}, "url"},
		{runtime.PushConfig{URL: https + long}, "url"},
		{runtime.PushConfig{URL: https, Token: "a\r\nX-Evil: b"}, "token"},
		{runtime.PushConfig{URL: https, Token: "a\x00"}, "token"},
		{runtime.PushConfig{URL: https, Token: " a"}, "token"},
		{runtime.PushConfig{URL: https, Token: "ä"}, "token"},
		{runtime.PushConfig{URL: https, Token: long}, "token"},
		{runtime.PushConfig{URL: https, Credentials: "c"}, "authentication.scheme"},
		{runtime.PushConfig{URL: https, Scheme: "Bea rer", Credentials: "c"}, "authentication.scheme"},
		{runtime.PushConfig{URL: https, Scheme: "Bearer\r\nX:", Credentials: "c"}, "authentication.scheme"},
		{runtime.PushConfig{URL: https, Scheme: "Bearer", Credentials: "c\nX: y"}, "authentication.credentials"},
		{runtime.PushConfig{URL: https, Scheme: "Bearer", Credentials: long}, "authentication.credentials"},
		{runtime.PushConfig{URL: https, Scheme: "ApiKey", Credentials: "Host: other"}, "authentication.credentials"},
		{runtime.PushConfig{URL: https, Scheme: "apikey", Credentials: "content-length: 0"}, "authentication.credentials"},
		{runtime.PushConfig{URL: https, Scheme: "ApiKey", Credentials: "X-A2A-Notification-Task: t"}, "authentication.credentials"},
	} {
		if v := open.Check(&tt.c); v == nil || v.Field != tt.field {
			t.Errorf("%.200q: %v, want something about %s", tt.c, v, tt.field)
		}
	}
	for _, url := range []string{"http://hook.example/", "https://localhost/", "https://LOCALHOST./", "https://a.localhost/", "https://127.0.0.1/", "https://8.8.8.8:25/"} {
		if v := closed.Check(&runtime.PushConfig{URL: url}); v == nil || v.Field != "url" {
			t.Errorf("%s: %v", url, v)
		}
	}
	for _, url := range []string{"http://hook.example/", "http://localhost:8080/", "https://127.0.0.1/", "http://[::1]:9/", https} {
		if v := open.Check(&runtime.PushConfig{URL: url}); v != nil {
			t.Errorf("%s: %v", url, v)
		}
	}
}

// TestAKeyGoesIntoNoHeaderOfSomebodyElse holds that a configuration cannot speak for the agent, a proxy or a trace.
func TestAKeyGoesIntoNoHeaderOfSomebodyElse(t *testing.T) {
	open := opened(t)
	for _, name := range []string{
		"traceparent", "Tracestate", "baggage", "b3", "X-B3-TraceId", "X-Forwarded-For", "x-forwarded-host", "X_Forwarded_For", "Forwarded", "Forwarded-For",
		"Via", "X-Real-IP", "X_Real_IP", "True-Client-IP", "CF-Connecting-IP", "Client-Cert", "Client-Cert-Chain", "X-Original-URL", "X-Rewrite-URL",
		"X-HTTP-Method-Override", "X-Client-IP", "Accept", "Accept-Encoding", "If-None-Match", "Range", "Sec-Fetch-Site", "Origin", "Referer",
		"Idempotency-Key", "Content-Encoding", "Content_Type", "A2A-Version", "X-A2A-Notification-Signature", "Host", "Cookie", "Expect", "Early-Data",
	} {
		c := runtime.PushConfig{URL: "https://hook.example/x", Scheme: "ApiKey", Credentials: name + ": secret"}
		if v := open.Check(&c); v == nil || v.Field != "authentication.credentials" {
			t.Errorf("%s: %v", name, v)
		}
		h := http.Header{}
		if authorize(h, &c, ""); len(h) != 0 {
			t.Errorf("what was kept before sets %v", h)
		}
	}
	for _, name := range []string{"X-Api-Key", "Api-Key", "Ocp-Apim-Subscription-Key", "X-Goog-Api-Key", "X-Auth-Token", "Private-Token", "X-Functions-Key", "Authorization"} {
		c := runtime.PushConfig{URL: "https://hook.example/x", Scheme: "ApiKey", Credentials: name + ": secret"}
		if v := open.Check(&c); v != nil {
			t.Errorf("%s: %v", name, v)
		}
	}
}

func TestReceiversSeeWhatTheConfigurationSays(t *testing.T) { // R79, R190
	for _, tt := range []struct {
		scheme, credentials, header, want string
	}{
		{"Bearer", "c", "Authorization", "Bearer c"},
		{"bearer", "c", "Authorization", "bearer c"},
		{"Bearer", "", "Authorization", "Bearer jwt"},
		{"Basic", "user:pass", "Authorization", "Basic dXNlcjpwYXNz"},
		{"Basic", "dXNlcjpwYXNz", "Authorization", "Basic dXNlcjpwYXNz"},
		{"Digest", "c", "Authorization", "Digest c"},
		{"Digest", "", "Authorization", ""},
		{"ApiKey", "c", "Authorization", "ApiKey c"},
		{"ApiKey", "X-Api-Key: c", "X-Api-Key", "c"},
		{"", "", "Authorization", ""},
	} {
		h := http.Header{}
		authorize(h, &runtime.PushConfig{Token: "t", Scheme: tt.scheme, Credentials: tt.credentials}, "jwt")
		if h.Get(tt.header) != tt.want || h.Get("X-A2A-Notification-Token") != "t" || h.Get("A2A-Notification-Token") != "t" {
			t.Errorf("%s %q: %v", tt.scheme, tt.credentials, h)
		}
	}
}

func TestIDsCannotAddALineToTheHeader(t *testing.T) {
	s := newSender(targets{}, nil)
	defer s.Close()
	r, err := s.request(t.Context(), &runtime.Notification{
		TaskID: "a\r\nX-Evil: b/ü%", Config: runtime.PushConfig{URL: "https://hook.example/", ID: "c d"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := r.Header.Get(runtime.PushTaskHeader); got != "a%0D%0AX-Evil:%20b%2F%C3%BC%25" {
		t.Errorf("the task's id is %q", got)
	}
	if got := r.Header.Get(runtime.PushConfigHeader); got != "c%20d" {
		t.Errorf("the configuration's id is %q", got)
	}
}
