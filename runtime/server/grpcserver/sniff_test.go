package grpcserver

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// talker is the other end of a connection: it says what it has to say, in pieces, and remembers what it hears.
type talker struct {
	net.Conn // nil
	says     []byte
	step     int // bytes at a time
	reads    int
	heard    bytes.Buffer
	waits    int // what it says only when it has heard something
}

var errSilent = errors.New("the client waits")

func (w *talker) Read(b []byte) (int, error) {
	w.reads++
	if w.waits > 0 && len(w.says) <= w.waits && w.heard.Len() == 0 {
		return 0, errSilent
	}
	if len(w.says) == 0 {
		return 0, io.EOF
	}
	n := min(len(b), len(w.says), w.step)
	if w.waits > 0 && w.heard.Len() == 0 {
		n = min(n, len(w.says)-w.waits)
	}
	copy(b, w.says[:n])
	w.says = w.says[n:]
	return n, nil
}

func (w *talker) Write(b []byte) (int, error)     { return w.heard.Write(b) }
func (w *talker) SetReadDeadline(time.Time) error { return nil }
func (w *talker) LocalAddr() (a net.Addr)         { return a }
func (w *talker) RemoteAddr() (a net.Addr)        { return a }
func (w *talker) Close() error                    { return nil }
func frameOf(kind http2.FrameType, flags http2.Flags, payload string) string {
	head := binary.BigEndian.AppendUint32(nil, uint32(len(payload))<<8|uint32(kind))
	return string(append(head, byte(flags), 0, 0, 0, 1)) + payload
}

// headersOf encodes headers.
func headersOf(pairs ...string) string {
	var b bytes.Buffer
	enc := hpack.NewEncoder(&b)
	for i := 0; i < len(pairs); i += 2 {
		_ = enc.WriteField(hpack.HeaderField{Name: pairs[i], Value: pairs[i+1]})
	}
	return b.String()
}

const endHeaders = http2.FlagHeadersEndHeaders

var (
	settingsFrame = frameOf(http2.FrameSettings, 0, "\x00\x03\x00\x00\x00\x64")
	ackFrame      = frameOf(http2.FrameSettings, http2.FlagSettingsAck, "")
	grpcHeaders   = headersOf(":method", "POST", ":path", "/x", "content-type", "application/grpc+proto")
	jsonHeaders   = headersOf(":method", "POST", ":path", "/x", "content-type", "application/json")
)

// What a connection says first decides, however it comes in; all of it is said again.
func TestWhatAConnectionSaysFirstDecides(t *testing.T) {
	padded := "\x03" + grpcHeaders + "\x00\x00\x00"
	prioritised := "\x00\x00\x00\x00\x10" + grpcHeaders
	for name, tt := range map[string]struct {
		says string
		mine bool
	}{
		"HTTP/1":                 {"POST / HTTP/1.1\r\nContent-Type: application/grpc\r\n\r\n", false},
		"a method like HTTP/2's": {"PROPFIND / HTTP/1.1\r\n\r\n", false},
		"TLS":                    {"\x16\x03\x01\x02\x00", false},
		"gRPC":                   {http2.ClientPreface + settingsFrame + frameOf(http2.FrameHeaders, endHeaders, grpcHeaders), true},
		"JSON":                   {http2.ClientPreface + settingsFrame + frameOf(http2.FrameHeaders, endHeaders, jsonHeaders), false},
		"other frames first": {http2.ClientPreface + settingsFrame + frameOf(http2.FrameWindowUpdate, 0, "\x00\x00\x10\x00") +
			frameOf(http2.FramePing, 0, "12345678") + frameOf(http2.FrameHeaders, endHeaders, grpcHeaders), true},
		"padded":      {http2.ClientPreface + settingsFrame + frameOf(http2.FrameHeaders, endHeaders|http2.FlagHeadersPadded, padded), true},
		"prioritised": {http2.ClientPreface + settingsFrame + frameOf(http2.FrameHeaders, endHeaders|http2.FlagHeadersPriority, prioritised), true},
		"in two frames": {http2.ClientPreface + settingsFrame + frameOf(http2.FrameHeaders, 0, grpcHeaders[:5]) +
			frameOf(http2.FrameContinuation, http2.FlagContinuationEndHeaders, grpcHeaders[5:]), true},
		"data first":       {http2.ClientPreface + settingsFrame + frameOf(http2.FrameData, 0, "x"), false},
		"a frame too long": {http2.ClientPreface + "\xff\xff\xff\x04\x00\x00\x00\x00\x00", false},
		"too many frames":  {http2.ClientPreface + strings.Repeat(settingsFrame, mostPeeked/len(settingsFrame)+1), false},
		"broken headers":   {http2.ClientPreface + settingsFrame + frameOf(http2.FrameHeaders, endHeaders, "\xff\xff\xff\xff\xff"), false},
		"gRPC-web": {http2.ClientPreface + settingsFrame +
			frameOf(http2.FrameHeaders, endHeaders, headersOf("content-type", "application/grpc-web")), false},
	} {
		for _, step := range []int{1, 7, 1 << 20} {
			w := &talker{says: []byte(tt.says + "and more"), step: step}
			c, mine, err := new(transport).Claim(w)
			if err != nil || mine != tt.mine {
				t.Errorf("%s by %d: %v, %v", name, step, mine, err)
				continue
			}
			again, _ := io.ReadAll(c)
			if string(again) != tt.says+"and more" {
				t.Errorf("%s by %d: %.200q is said again", name, step, again)
			}
		}
	}
}

// A client that waits for settings gets them; net/http does not see that it acknowledges those.
func TestAClientThatWaitsForSettingsGetsThem(t *testing.T) {
	for name, tt := range map[string]struct {
		headers string
		mine    bool
	}{"gRPC": {grpcHeaders, true}, "JSON": {jsonHeaders, false}} {
		opening := http2.ClientPreface + settingsFrame
		call := frameOf(http2.FrameHeaders, endHeaders, tt.headers) + frameOf(http2.FrameData, 0, strings.Repeat("x", 1000))
		for _, order := range []struct{ before, after string }{{ackFrame, ""}, {"", ackFrame}} {
			for _, step := range []int{1, 10, 1 << 20} {
				rest := order.before + call + order.after + ackFrame + "the end"
				w := &talker{says: []byte(opening + rest), step: step, waits: len(rest)}
				c, mine, err := new(transport).Claim(w)
				if err != nil || mine != tt.mine || !bytes.Equal(w.heard.Bytes(), emptySettings) {
					t.Errorf("%s by %d: %v, %v, and it heard %q", name, step, mine, err, w.heard.Bytes())
					continue
				}
				want := opening + call + ackFrame + "the end"
				if mine {
					want = opening + rest
				}
				if again, _ := io.ReadAll(c); string(again) != want {
					t.Errorf("%s by %d: %.200q is said again, want %.200q", name, step, again, want)
				}
			}
		}
	}
}

// Looking at a connection costs what it says: no more is read than is looked at, and reading is linear.
func TestLookingIsLinear(t *testing.T) {
	reads := func(frames int) int {
		w := &talker{says: []byte(http2.ClientPreface + strings.Repeat(settingsFrame, frames)), step: 1}
		_, _, _ = new(transport).Claim(w)
		return w.reads
	}
	if n := reads(100); reads(200) > 3*n || reads(100_000) > 2*mostPeeked {
		t.Errorf("100 frames take %d reads, 200 %d, very many %d", n, reads(200), reads(100_000))
	}
}

func FuzzOpening(f *testing.F) {
	f.Add([]byte("GET / HTTP/1.1\r\n\r\n"), 3)
	f.Add([]byte(http2.ClientPreface+settingsFrame+frameOf(http2.FrameHeaders, endHeaders, grpcHeaders)), 1)
	f.Add([]byte(http2.ClientPreface+settingsFrame+ackFrame+frameOf(http2.FrameHeaders, 0, jsonHeaders)), 100)
	f.Fuzz(func(t *testing.T, says []byte, step int) {
		w := &talker{says: says, step: max(1, step)}
		c, _, err := new(transport).Claim(w)
		if err != nil {
			return
		}
		again, _ := io.ReadAll(c)
		if _, filtered := c.(*unacknowledged); !filtered && !bytes.Equal(again, says) {
			t.Errorf("%.200q is said again as %.200q", says, again)
		} else if filtered && (len(again) > len(says) || len(says)-len(again) > 2*frameHeader) {
			t.Errorf("%d bytes of %d are said again", len(again), len(says))
		}
		if n := len(says) - len(w.says); n > mostPeeked && c == nil {
			t.Errorf("%d bytes were read", n)
		}
	})
}

// objectsIn is never below what a decoder makes, and linear.
func TestObjectsAreCountedFromAbove(t *testing.T) {
	part := "\x0a\x02hi" // a message with a text
	for n := range 5 {
		whole := strings.Repeat("\x22\x04"+part, n)
		if got := objectsIn([]byte(whole)); got < 2*n || got > 4*n {
			t.Errorf("%d parts count as %d", n, got)
		}
	}
	if n := objectsIn(bytes.Repeat([]byte("\x0a\x00"), 1000)); n != 1000 {
		t.Errorf("1000 empty messages count as %d", n)
	}
	if n := objectsIn([]byte(strings.Repeat("\x0a\x00", 1000) + "\xff")); n < 1000 {
		t.Errorf("what breaks at the end counts as %d", n)
	}
}
