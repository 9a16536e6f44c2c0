package verify_test

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/a2agen/a2agen/a2a"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/push"
	"github.com/a2agen/a2agen/runtime/push/verify"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	agent = "https://agent.example"
	hook  = "https://me.example/hook"
	body  = `{"statusUpdate":{"taskId":"t","contextId":"c","status":{"state":"TASK_STATE_WORKING"}}}`
)

var b64 = base64.RawURLEncoding

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func jwk(kid string, key *ecdsa.PrivateKey) string {
	point, err := key.PublicKey.Bytes()
	if err != nil {
		panic(err)
	}
	return fmt.Sprintf(`{"kty":"EC","crv":"P-256","x":%q,"y":%q,"kid":%q,"alg":"ES256","use":"sig"}`,
		b64.EncodeToString(point[1:33]), b64.EncodeToString(point[33:]), kid)
}

// sign makes a JWT of a header and a payload as they are.
func sign(key *ecdsa.PrivateKey, header, payload string) string {
	text := b64.EncodeToString([]byte(header)) + "." + b64.EncodeToString([]byte(payload))
	sum := sha256.Sum256([]byte(text))
	r, s, err := ecdsa.Sign(rand.Reader, key, sum[:])
	if err != nil {
		panic(err)
	}
	return text + "." + b64.EncodeToString(append(r.FillBytes(make([]byte, 32)), s.FillBytes(make([]byte, 32))...))
}

const es256 = `{"alg":"ES256","typ":"JWT","kid":"one"}`

// claim is the payload of a good token, with some members changed; nil takes one away.
func claim(change map[string]any) string {
	sum := sha256.Sum256([]byte(body))
	c := map[string]any{
		"iss": agent, "aud": hook, "iat": time.Now().Unix(), "exp": time.Now().Unix() + 300, "jti": "id", "taskId": "t", "config": "c",
		"sequence": "7", "request_body_sha256": hex.EncodeToString(sum[:]),
	}
	for k, v := range change {
		if c[k] = v; v == nil {
			delete(c, k)
		}
	}
	out, err := json.Marshal(c)
	if err != nil {
		panic(err)
	}
	return string(out)
}

// keys is an agent that publishes keys.
type keys struct {
	mu      sync.Mutex
	set     []string
	answer  func() (*http.Response, error) // in place of the set
	fetches atomic.Int64
}

func (k *keys) publish(set ...string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.set, k.answer = set, nil
}

func (k *keys) fail(answer func() (*http.Response, error)) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.answer = answer
}

func (k *keys) RoundTrip(req *http.Request) (*http.Response, error) {
	k.fetches.Add(1)
	time.Sleep(10 * time.Millisecond)
	k.mu.Lock()
	defer k.mu.Unlock()
	if req.URL.String() != agent+"/.well-known/jwks.json" {
		return respond(404, ""), nil
	}
	if k.answer != nil {
		return k.answer()
	}
	return respond(200, `{"keys":[`+strings.Join(k.set, ",")+`]}`), nil
}

func respond(status int, text string) *http.Response {
	return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(text))}
}

// desk is a receiver that wants signatures.
type desk struct {
	*push.Receiver
	keys  *keys
	heard atomic.Int64
}

func newDesk(t *testing.T, opts ...verify.Option) *desk {
	t.Helper()
	d := &desk{keys: &keys{}}
	v, err := verify.New(agent, hook, append([]verify.Option{verify.HTTPClient(&http.Client{Transport: d.keys})}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	d.Receiver, err = push.NewReceiver(a2a.Protocol(), push.Verify(v), push.WithLogger(slog.New(slog.DiscardHandler)),
		push.On(func(context.Context, any, *push.Notification) error { d.heard.Add(1); return nil }))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// send sends the notification of the constants with a signature and changed headers.
func (d *desk) send(token, body string, header map[string]string) *httptest.ResponseRecorder {
	req := httptest.NewRequest(http.MethodPost, hook, strings.NewReader(body))
	for name, value := range map[string]string{
		"Content-Type": "application/json", "A2A-Version": "1.0", runtime.PushIDHeader: "id", runtime.PushTaskHeader: "t",
		runtime.PushConfigHeader: "c", runtime.PushSequenceHeader: "7", runtime.PushSignatureHeader: token,
	} {
		if changed, ok := header[name]; ok {
			value = changed
		}
		if value != "" {
			req.Header.Set(name, value)
		}
	}
	for name, value := range header {
		if value != "" {
			req.Header.Set(name, value)
		}
	}
	w := httptest.NewRecorder()
	d.ServeHTTP(w, req)
	return w
}

func TestASignedNotificationIsTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		key := newKey(t)
		for name, send := range map[string]func(d *desk) *httptest.ResponseRecorder{
			"in its header": func(d *desk) *httptest.ResponseRecorder { return d.send(sign(key, es256, claim(nil)), body, nil) },
			"as Bearer": func(d *desk) *httptest.ResponseRecorder {
				return d.send("", body, map[string]string{"Authorization": "Bearer " + sign(key, es256, claim(nil))})
			},
			"a list of one audience": func(d *desk) *httptest.ResponseRecorder {
				return d.send(sign(key, es256, claim(map[string]any{"aud": []string{hook}})), body, nil)
			},
			"a clock that is ahead": func(d *desk) *httptest.ResponseRecorder {
				return d.send(sign(key, es256, claim(map[string]any{"iat": time.Now().Unix() + 50})), body, nil)
			},
		} {
			d := newDesk(t)
			d.keys.publish(jwk("one", key))
			if w := send(d); w.Code != 200 || d.heard.Load() != 1 {
				t.Errorf("%s: %d %s", name, w.Code, w.Body)
			}
		}
	})
}

// R83, R194
func TestForgedSignaturesAreRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		key, other := newKey(t), newKey(t)
		good := sign(key, es256, claim(nil))
		unsigned := func(alg string) string {
			return b64.EncodeToString([]byte(`{"alg":"`+alg+`","kid":"one"}`)) + "." + b64.EncodeToString([]byte(claim(nil))) + "."
		}
		hmacWith := func(secret []byte) string {
			text := b64.EncodeToString([]byte(`{"alg":"HS256","kid":"one"}`)) + "." + b64.EncodeToString([]byte(claim(nil)))
			mac := hmac.New(sha256.New, secret)
			mac.Write([]byte(text))
			return text + "." + b64.EncodeToString(mac.Sum(nil))
		}
		point, _ := key.PublicKey.Bytes()
		zero := good[:strings.LastIndex(good, ".")+1] + b64.EncodeToString(make([]byte, 64))
		with := func(change map[string]any) string { return sign(key, es256, claim(change)) }
		now := time.Now().Unix()
		for name, token := range map[string]string{
			"missing": "", "no JWT": "hello", "dots": strings.Repeat(".", 1000), "64 kB": strings.Repeat("a", 64<<10),
			"alg none": unsigned("none"), "alg None": unsigned("None"), "no alg": unsigned(""),
			"HS256 with the public key": hmacWith(point), "HS256 with the JWK": hmacWith([]byte(jwk("one", key))),
			"another key": sign(other, es256, claim(nil)), "r = s = 0": zero, "cut": good[:len(good)-4], "padded": good + "=",
			"embedded key":   sign(other, `{"alg":"ES256","kid":"one","jwk":`+jwk("one", other)+`}`, claim(nil)),
			"jku":            sign(other, `{"alg":"ES256","kid":"one","jku":"https://evil.example/keys"}`, claim(nil)),
			"crit":           sign(key, `{"alg":"ES256","kid":"one","crit":["exp"],"exp":1}`, claim(nil)),
			"alg twice":      sign(key, `{"alg":"none","alg":"ES256","kid":"one"}`, claim(nil)),
			"no kid":         sign(key, `{"alg":"ES256"}`, claim(nil)),
			"another typ":    sign(key, `{"alg":"ES256","typ":"at+jwt","kid":"one"}`, claim(nil)),
			"expired":        with(map[string]any{"iat": now - 400, "exp": now - 61}),
			"no exp":         with(map[string]any{"exp": nil}),
			"exp as text":    with(map[string]any{"exp": fmt.Sprint(now + 300)}),
			"exp 1e30":       sign(key, es256, strings.Replace(claim(map[string]any{"exp": 1}), `"exp":1`, `"exp":1e30`, 1)),
			"good for ever":  with(map[string]any{"exp": now + 1<<40}),
			"no iat":         with(map[string]any{"iat": nil}),
			"from tomorrow":  with(map[string]any{"iat": now + 86400, "exp": now + 86700}),
			"other audience": with(map[string]any{"aud": "https://you.example/hook"}),
			"two audiences":  with(map[string]any{"aud": []string{hook, "https://you.example/hook"}}),
			"no audience":    with(map[string]any{"aud": nil}),
			"other issuer":   with(map[string]any{"iss": agent + "/"}),
			"other task":     with(map[string]any{"taskId": "u"}),
			"other config":   with(map[string]any{"config": "d"}),
			"other id":       with(map[string]any{"jti": "je"}),
			"other number":   with(map[string]any{"sequence": "8"}),
			"other body":     with(map[string]any{"request_body_sha256": strings.Repeat("0", 64)}),
			"no digest":      with(map[string]any{"request_body_sha256": nil}),
			"empty digest":   with(map[string]any{"request_body_sha256": ""}),
			"exp twice":      sign(key, es256, strings.Replace(claim(nil), "{", `{"exp":1,`, 1)),
		} {
			d := newDesk(t)
			d.keys.publish(jwk("one", key))
			if w := d.send(token, body, nil); w.Code != 401 || d.heard.Load() != 0 {
				t.Errorf("%s: %d %s", name, w.Code, w.Body)
			}
			if w := d.send(good, body, nil); w.Code != 200 {
				t.Errorf("%s, and then the good one: %d %s", name, w.Code, w.Body)
			}
		}
	})
}

func TestASignatureHoldsForItsHeadersAndBody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		key := newKey(t)
		d := newDesk(t)
		d.keys.publish(jwk("one", key))
		good := sign(key, es256, claim(nil))
		for _, h := range []string{runtime.PushIDHeader, runtime.PushConfigHeader, runtime.PushSequenceHeader} {
			for _, value := range []string{"9", ""} {
				if w := d.send(good, body, map[string]string{h: value}); w.Code != 401 {
					t.Errorf("%s %q: %d %s", h, value, w.Code, w.Body)
				}
			}
		}
		if w := d.send(good, strings.Replace(body, "WORKING", "COMPLETED", 1), nil); w.Code != 401 {
			t.Errorf("another body: %d", w.Code)
		}
		if w := d.send(good, body, nil); w.Code != 200 {
			t.Errorf("%d %s", w.Code, w.Body)
		}
		if w := d.send(good, body, nil); w.Code != 200 || d.heard.Load() != 1 {
			t.Errorf("a replay was answered by %d, and heard %d times", w.Code, d.heard.Load())
		}
	})
}

// TestAFloodOfUnknownKeysCostsOneRequestAnInterval: 10,000 tokens that name keys of nobody; good ones still pass.
func TestAFloodOfUnknownKeysCostsOneRequestAnInterval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		key := newKey(t)
		d := newDesk(t, verify.Refresh(time.Hour, time.Minute))
		d.keys.publish(jwk("one", key))
		good := sign(key, es256, claim(nil))
		if w := d.send(good, body, nil); w.Code != 200 {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
		codes := map[int]int{}
		var mu sync.Mutex
		const callers, each, pause = 100, 100, 3 * time.Second // five minutes
		var all sync.WaitGroup
		for c := range callers {
			all.Go(func() {
				for i := range each {
					w := d.send(sign(key, fmt.Sprintf(`{"alg":"ES256","kid":"%d-%d"}`, c, i), claim(nil)), body, nil)
					mu.Lock()
					codes[w.Code]++
					mu.Unlock()
					time.Sleep(pause)
				}
			})
		}
		began := time.Now()
		all.Wait()
		took := time.Since(began)
		if n, most := d.keys.fetches.Load(), int64(took/time.Minute)+2; n > most || n < 3 {
			t.Errorf("%d requests for keys in %v, at most %d", n, took, most)
		}
		if codes[401]+codes[503] != callers*each || codes[401] == 0 {
			t.Errorf("answers %v", codes)
		}
		if w := d.send(good, body, map[string]string{runtime.PushIDHeader: "id"}); w.Code != 401 && w.Code != 200 {
			t.Errorf("%d", w.Code)
		}
		if w := d.send(sign(key, es256, claim(nil)), body, nil); w.Code != 200 {
			t.Errorf("a good one: %d %s", w.Code, w.Body)
		}
		before := d.keys.fetches.Load()
		time.Sleep(2 * time.Minute)
		d.send(sign(key, `{"alg":"ES256","kid":"nobody"}`, claim(nil)), body, nil)
		time.Sleep(2 * time.Minute)
		d.send(sign(key, `{"alg":"ES256","kid":"nobody"}`, claim(nil)), body, nil)
		if n := d.keys.fetches.Load() - before; n != 1 {
			t.Errorf("an unknown key was asked for %d times", n)
		}
	})
}

func TestKeysAreRotated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		old, next := newKey(t), newKey(t)
		d := newDesk(t, verify.Refresh(10*time.Minute, 30*time.Second))
		d.keys.publish(jwk("one", old))
		with := func(kid string, key *ecdsa.PrivateKey) *httptest.ResponseRecorder {
			return d.send(sign(key, `{"alg":"ES256","kid":"`+kid+`"}`, claim(nil)), body, nil)
		}
		if w := with("one", old); w.Code != 200 {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
		d.keys.publish(jwk("two", next), jwk("one", old))
		w := with("two", next) // within the interval nothing is asked for
		if w.Code != 503 || w.Header().Get("Retry-After") != "30" {
			t.Errorf("%d, Retry-After %s", w.Code, w.Header().Get("Retry-After"))
		}
		time.Sleep(30 * time.Second)
		if w := with("two", next); w.Code != 200 {
			t.Errorf("the new key: %d %s", w.Code, w.Body)
		}
		if w := with("one", old); w.Code != 200 {
			t.Errorf("the old key beside it: %d %s", w.Code, w.Body)
		}
		d.keys.publish(jwk("two", next))
		time.Sleep(10 * time.Minute)
		if w := with("one", old); w.Code != 401 {
			t.Errorf("a key that was withdrawn: %d %s", w.Code, w.Body)
		}
	})
}

// TestKeysThatCannotBeHad: good notifications pass with the last good keys, and others are put off, not refused.
func TestKeysThatCannotBeHad(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		key := newKey(t)
		for name, answer := range map[string]func() (*http.Response, error){
			"gone":   func() (*http.Response, error) { return nil, errors.New("connection refused") },
			"status": func() (*http.Response, error) { return respond(500, ""), nil },
			"redirect": func() (*http.Response, error) {
				resp := respond(302, "")
				resp.Header.Set("Location", "https://evil.example/")
				return resp, nil
			},
			"huge": func() (*http.Response, error) {
				return respond(200, `{"keys":["`+strings.Repeat("x", 10<<20)+`"]}`), nil
			},
			"no JSON": func() (*http.Response, error) { return respond(200, "<html>"), nil },
			"two keys of one id": func() (*http.Response, error) {
				return respond(200, `{"keys":[`+jwk("one", key)+","+jwk("one", key)+`]}`), nil
			},
		} {
			d := newDesk(t, verify.Refresh(time.Minute, time.Second))
			d.keys.fail(answer)
			if w := d.send(sign(key, es256, claim(nil)), body, nil); w.Code != 503 || w.Header().Get("Retry-After") == "" {
				t.Errorf("%s: before keys were had: %d %s", name, w.Code, w.Body)
			}
			d.keys.publish(jwk("one", key))
			time.Sleep(time.Second)
			if w := d.send(sign(key, es256, claim(nil)), body, nil); w.Code != 200 {
				t.Errorf("%s: %d %s", name, w.Code, w.Body)
			}
			d.keys.fail(answer)
			time.Sleep(time.Hour)
			if w := d.send(sign(key, es256, claim(nil)), body, nil); w.Code != 200 {
				t.Errorf("%s: with the last good keys: %d %s", name, w.Code, w.Body)
			}
			time.Sleep(24 * time.Hour)
			if w := d.send(sign(key, es256, claim(nil)), body, nil); w.Code != 503 {
				t.Errorf("%s: after a day: %d %s", name, w.Code, w.Body)
			}
		}
	})
}

func TestAHangingAgentIsAskedOnceForAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		key := newKey(t)
		d := newDesk(t)
		hang := make(chan struct{})
		d.keys.fail(func() (*http.Response, error) { <-hang; return nil, errors.New("too late") })
		var all sync.WaitGroup
		for range 50 {
			all.Go(func() {
				if w := d.send(sign(key, es256, claim(nil)), body, nil); w.Code != 503 {
					t.Errorf("%d %s", w.Code, w.Body)
				}
			})
		}
		synctest.Wait()
		time.Sleep(time.Second)
		close(hang)
		all.Wait()
		if n := d.keys.fetches.Load(); n != 1 {
			t.Errorf("%d requests", n)
		}
	})
}

func TestKeysComeByHTTPSOrFromHere(t *testing.T) {
	for url, allowed := range map[string]bool{
		"https://agent.example": true, "http://localhost:8080": true, "http://127.0.0.1:8080": true, "http://[::1]:80": true,
		"http://agent.example": false, "ftp://agent.example": false, "agent.example": false, "": false, "https://me:pw@agent.example": false,
		"http://localhost.evil.example": false,
	} {
		_, err := verify.New(url, hook)
		if (err == nil) != allowed {
			t.Errorf("%q: %v", url, err)
		}
	}
	if _, err := verify.New("http://agent.internal", hook, verify.AllowHTTP()); err != nil {
		t.Error(err)
	}
	if _, err := verify.New(agent, ""); err == nil {
		t.Error("a verifier for no webhook was made")
	}
}

// TestKeysAreFetchedOverHTTP: from a real server, without following it elsewhere.
func TestKeysAreFetchedOverHTTP(t *testing.T) {
	key := newKey(t)
	mux := http.NewServeMux()
	mux.HandleFunc(runtime.PushKeysPath, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/elsewhere", http.StatusFound)
	})
	mux.HandleFunc("/elsewhere", func(http.ResponseWriter, *http.Request) { t.Error("a redirect was followed") })
	mux.HandleFunc("/keys", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"keys":[{"kty":"odd"},%s]}`, jwk("one", key))
	})
	srv := httptest.NewServer(mux)
	defer srv.Close()
	token := sign(key, es256, claim(map[string]any{"iss": srv.URL}))
	for path, good := range map[string]bool{runtime.PushKeysPath: false, "/keys": true} {
		v, err := verify.New(srv.URL, hook, verify.Keys(srv.URL+path), verify.HTTPClient(srv.Client()))
		if err != nil {
			t.Fatal(err)
		}
		signed, err := v.Verify(t.Context(), token, []byte(body))
		if (err == nil) != good || good && signed != (push.Signed{ID: "id", TaskID: "t", Config: "c", Sequence: "7"}) {
			t.Errorf("%s: %+v, %v", path, signed, err)
		}
	}
}

// FuzzVerify: whatever stands for a token is refused, unless it is the good one.
func FuzzVerify(f *testing.F) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), bytes.NewReader(bytes.Repeat([]byte{7}, 1000)))
	if err != nil {
		f.Fatal(err)
	}
	set := &keys{}
	set.publish(jwk("one", key))
	v, err := verify.New(agent, hook, verify.HTTPClient(&http.Client{Transport: set}))
	if err != nil {
		f.Fatal(err)
	}
	good := sign(key, es256, claim(nil))
	for _, s := range []string{good, good + ".", "..", "a.b.c", es256, b64.EncodeToString([]byte(es256)) + "..", strings.ToUpper(good)} {
		f.Add(s, body)
	}
	f.Fuzz(func(t *testing.T, token, content string) {
		if _, err := v.Verify(t.Context(), token, []byte(content)); err == nil && (token != good || content != body) {
			t.Errorf("%q over %q is taken", token, content)
		}
	})
}
