package webhooks

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/a2agen/a2agen/runtime"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// refused are addresses to which nothing is sent, each with what it is (R193).
var refused = map[string]string{
	"127.0.0.1": "loopback", "127.8.8.8": "loopback", "::1": "loopback",
	"0.0.0.0": "unspecified", "0.1.2.3": "this network", "::": "unspecified",
	"10.0.0.1": "private", "172.16.0.1": "private", "172.31.255.255": "private", "192.168.1.1": "private",
	"100.64.0.1": "shared by a carrier", "100.100.100.200": "metadata of a cloud, in the carriers' network",
	"169.254.169.254": "metadata of most clouds", "169.254.0.1": "link-local", "fe80::1": "link-local", "fec0::1": "site-local",
	"168.63.129.16": "what a cloud answers within its machines",
	"fc00::1":       "unique local", "fd00:ec2::254": "metadata of a cloud",
	"224.0.0.1": "multicast", "239.255.255.250": "multicast", "ff02::1": "multicast", "ff0e::1": "multicast",
	"255.255.255.255": "broadcast", "240.0.0.1": "reserved",
	"192.0.0.8": "protocol assignments", "192.0.2.1": "documentation", "198.51.100.1": "documentation", "203.0.113.1": "documentation",
	"2001:db8::1": "documentation", "3fff::1": "documentation", "198.18.0.1": "benchmarks", "2001:2::1": "benchmarks",
	"192.88.99.1": "relay of 6to4", "2002:7f00:1::": "6to4 of the loopback", "2002:808:808::": "6to4",
	"2001:0:4136:e378::1": "Teredo", "64:ff9b::7f00:1": "NAT64 of the loopback", "64:ff9b::808:808": "NAT64", "64:ff9b:1::1": "NAT64",
	"::ffff:127.0.0.1": "mapped loopback", "::ffff:10.0.0.1": "mapped private address", "::ffff:8.8.8.8": "mapped address",
	"::127.0.0.1": "compatible address", "::ffff:0:8.8.8.8": "translated address", "100::1": "discard",
	"5f00::1": "segment routing", "4000::1": "not assigned",
}

func TestNothingIsSentToAddressesThatAreNotPublic(t *testing.T) { // R193
	s := newSender(targets{}, nil)
	defer s.Close()
	for address, what := range refused {
		a := netip.MustParseAddr(address)
		if s.targets.refusal(a, 443, true) == "" {
			t.Errorf("%s is let through: %s", address, what)
		}
		if !a.Is4In6() { // what is dialled is the IPv4 address by then
			if err := s.checkDialled(netip.AddrPortFrom(a, 443).String(), true); err == nil {
				t.Errorf("%s is dialled: %s", address, what)
			}
		}
		host := address
		if a.Is6() {
			host = "[" + address + "]"
		}
		if v := s.Check(&runtime.PushConfig{URL: "https://" + host + "/hook"}); v == nil || v.Field != "url" {
			t.Errorf("%s is taken: %s", address, what)
		}
		err := s.Push(t.Context(), &runtime.Notification{Config: runtime.PushConfig{URL: "https://" + host + ":9/hook"}})
		if err == nil || !a.Is4In6() && !strings.Contains(err.Error(), "is not an address of the public internet") {
			t.Errorf("%s: %v", address, err)
		}
	}
	for _, address := range []string{"8.8.8.8", "1.1.1.1", "100.128.0.1", "172.32.0.1", "2606:4700::1111", "2a00:1450::1"} {
		if problem := s.targets.refusal(netip.MustParseAddr(address), 443, true); problem != "" {
			t.Errorf("%s %s", address, problem)
		}
	}
}

func TestOnlyWhatIsOpenedIsReachedOtherwise(t *testing.T) {
	targets, err := parseTargets("10.1.0.0/16", " 127.0.0.1", "fd00::/8", "")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		address string
		port    uint16
		secure  bool
		open    bool
	}{
		{"10.1.2.3", 80, false, true}, {"10.1.2.3", 22, true, true}, {"10.2.0.1", 443, true, false},
		{"127.0.0.1", 9999, false, true}, {"127.0.0.2", 443, true, false}, {"fd00::1", 80, false, true}, {"::ffff:127.0.0.1", 80, false, true},
		{"8.8.8.8", 443, true, true}, {"8.8.8.8", 8443, true, true}, {"8.8.8.8", 25, true, false}, {"8.8.8.8", 80, false, false},
	} {
		if problem := targets.refusal(netip.MustParseAddr(tt.address), tt.port, tt.secure); (problem == "") != tt.open {
			t.Errorf("%s port %d, https %v: %q", tt.address, tt.port, tt.secure, problem)
		}
	}
	for _, bad := range []string{"example.com", "10.0.0.0/33", "10.0.0", "fe80::1%eth0/64"} {
		if _, err := parseTargets(bad); err == nil {
			t.Errorf("%s is taken for a network", bad)
		}
	}
}

// names is a resolver that answers each question with the next of some addresses. It counts them.
func names(t *testing.T, answers ...[4]byte) *net.Resolver {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	t.Cleanup(func() { _ = conn.Close(); <-done })
	go func() {
		defer close(done)
		b, asked := make([]byte, 512), 0
		for {
			n, from, err := conn.ReadFrom(b)
			if err != nil {
				return
			}
			q := b[:n]
			end := 12
			for q[end] != 0 {
				end += int(q[end]) + 1
			}
			end += 5
			reply := append([]byte{q[0], q[1], 0x81, 0x80, 0, 1, 0, 0, 0, 0, 0, 0}, q[12:end]...)
			if binary.BigEndian.Uint16(q[end-4:]) == 1 { // an IPv4 address
				a := answers[min(asked, len(answers)-1)]
				asked++
				reply[7] = 1
				reply = append(reply, 0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, a[0], a[1], a[2], a[3])
			}
			_, _ = conn.WriteTo(reply, from)
		}
	}()
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp", conn.LocalAddr().String())
	}}
}

// TestANameThatIsLookedUpToAnotherAddressLaterGetsNothing: what is checked is the address that is dialled, each time.
func TestANameThatIsLookedUpToAnotherAddressLaterGetsNothing(t *testing.T) {
	var inside atomic.Int32
	private := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { inside.Add(1) }))
	public := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer public.Close()
	_, port, _ := net.SplitHostPort(public.Listener.Addr().String())
	l, err := net.Listen("tcp", "127.0.0.2:"+port)
	if err != nil {
		t.Skip("this machine has no second loopback address")
	}
	_ = private.Listener.Close()
	private.Listener = l
	private.Start()
	defer private.Close()

	targets, err := parseTargets("127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	s := newSender(targets, nil)
	defer s.Close()
	dialer := &net.Dialer{Resolver: names(t, [4]byte{127, 0, 0, 1}, [4]byte{127, 0, 0, 2}), ControlContext: nil}
	dialer.Control = s.dialer(false).Control
	s.plain.DialContext = dialer.DialContext
	n := &runtime.Notification{Config: runtime.PushConfig{URL: "http://hook.example:" + port + "/"}}
	if v := s.Check(&n.Config); v != nil {
		t.Fatal(v)
	}
	if err := s.Push(t.Context(), n); err != nil {
		t.Fatal(err)
	}
	s.Close() // the next one has to look the name up
	if err := s.Push(t.Context(), n); err == nil || !strings.Contains(err.Error(), "127.0.0.2") {
		t.Errorf("to another address: %v", err)
	}
	if inside.Load() != 0 {
		t.Error("the address that is not opened was asked")
	}
}

func TestNeitherRedirectsNorTheEnvironmentsProxyAreFollowed(t *testing.T) {
	var elsewhere atomic.Int32
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { elsewhere.Add(1) }))
	defer other.Close()
	t.Setenv("HTTP_PROXY", other.URL)
	t.Setenv("http_proxy", other.URL)
	hook := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusTemporaryRedirect))
	defer hook.Close()
	s := opened(t)
	for _, host := range []string{hook.URL, strings.Replace(hook.URL, "127.0.0.1", "localhost", 1)} {
		var failure *runtime.PushFailure
		err := s.Push(t.Context(), &runtime.Notification{Config: runtime.PushConfig{URL: host}})
		if !errors.As(err, &failure) || failure.Reason != "the receiver answered 307" || !failure.Answered {
			t.Errorf("%s: %v", host, err)
		}
	}
	if elsewhere.Load() != 0 {
		t.Error("the other server was asked")
	}
}

// opened is a sender that may send to this machine.
func opened(t *testing.T) *sender {
	t.Helper()
	targets, err := parseTargets("127.0.0.0/8", "::1")
	if err != nil {
		t.Fatal(err)
	}
	s := newSender(targets, nil)
	t.Cleanup(s.Close)
	return s
}

func TestHTTPSIsVerified(t *testing.T) {
	hook := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	hook.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, 0)
	hook.StartTLS()
	defer hook.Close()
	s := opened(t)
	n := &runtime.Notification{Config: runtime.PushConfig{URL: hook.URL}}
	if err := s.Push(t.Context(), n); err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("a certificate that nobody vouches for: %v", err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(hook.Certificate())
	s.secure.TLSClientConfig = &tls.Config{RootCAs: roots}
	if err := s.Push(t.Context(), n); err != nil {
		t.Error(err)
	}
}

func TestAnswersSayWhatComesNext(t *testing.T) {
	for _, tt := range []struct {
		status int
		after  string
		want   *runtime.PushFailure
	}{
		{200, "", nil}, {202, "", nil}, {204, "", nil},
		{410, "", &runtime.PushFailure{Reason: "the receiver answered 410", Answered: true, Gone: true}},
		{404, "", &runtime.PushFailure{Reason: "the receiver answered 404", Answered: true}},
		{503, "17", &runtime.PushFailure{Reason: "the receiver answered 503", Answered: true, After: 17 * time.Second}},
		{429, "never", &runtime.PushFailure{Reason: "the receiver answered 429", Answered: true}},
		{500, "Mon, 02 Jan 2006 15:04:05 GMT", &runtime.PushFailure{Reason: "the receiver answered 500", Answered: true}},
	} {
		hook := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if tt.after != "" {
				w.Header().Set("Retry-After", tt.after)
			}
			w.WriteHeader(tt.status)
		}))
		err := opened(t).Push(t.Context(), &runtime.Notification{Config: runtime.PushConfig{URL: hook.URL}})
		var failure *runtime.PushFailure
		if errors.As(err, &failure); (failure == nil) != (tt.want == nil) || failure != nil && *failure != *tt.want {
			t.Errorf("%d: %+v, want %+v", tt.status, failure, tt.want)
		}
		hook.Close()
	}
}

func TestAReceiverThatDoesNotAnswerIsGivenUp(t *testing.T) { // R85
	if patience < 10*time.Second || patience > 30*time.Second {
		t.Errorf("it has %v", patience)
	}
	over := make(chan struct{})
	hook := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-over }))
	defer hook.Close()
	defer close(over)
	s := opened(t)
	s.timeout = 50 * time.Millisecond
	var failure *runtime.PushFailure
	err := s.Push(t.Context(), &runtime.Notification{Config: runtime.PushConfig{URL: hook.URL}})
	if !errors.As(err, &failure) || failure.Answered || failure.Reason != "no answer within 50ms" {
		t.Errorf("%+v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Push(ctx, &runtime.Notification{Config: runtime.PushConfig{URL: hook.URL}}); err == nil {
		t.Error("sent after the end")
	}
}
