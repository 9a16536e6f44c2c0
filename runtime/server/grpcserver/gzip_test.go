package grpcserver_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	std "runtime"
	"runtime/metrics"
	"strings"
	"testing"
	"time"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/server"
)

// zip compresses.
func zip(b []byte) []byte {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, _ = w.Write(b)
	_ = w.Close()
	return out.Bytes()
}

// compressed is the frame of a message that says it is compressed.
func compressed(b []byte) []byte {
	return append(binary.BigEndian.AppendUint32([]byte{1}, uint32(len(b))), b...)
}

// sending is the request to send a text.
func sending(t testing.TB, text string) (method string, in []byte) {
	t.Helper()
	op := operation(t, "1.0", runtime.RoleSend)
	in, err := op.AppendRequest(nil, message(text))
	if err != nil {
		t.Fatal(err)
	}
	return op.GRPC, in
}

// Compressed messages are read, whoever brings the call and whatever they say of their size.
func TestCompressedMessagesAreRead(t *testing.T) {
	limits := server.WithLimits(server.Limits{Body: 64 << 10})
	method, in := sending(t, strings.Repeat("hello ", 100))
	_, large := sending(t, strings.Repeat("x", 60<<10))
	_, tooLarge := sending(t, strings.Repeat("x", 70<<10))
	lying := func(b []byte, size uint32) []byte {
		b = zip(b)
		binary.LittleEndian.PutUint32(b[len(b)-4:], size)
		return b
	}
	for name, tt := range map[string]struct {
		frame []byte
		want  string
	}{
		"small":                      {compressed(zip(in)), wireOK},
		"large":                      {compressed(zip(large)), wireOK},
		"in two parts":               {compressed(append(zip(in[:len(in)-9]), zip(in[len(in)-9:])...)), wireOK},
		"in many parts":              {compressed(append(zip(large[:len(large)-9]), zip(large[len(large)-9:])...)), wireOK},
		"too large":                  {compressed(zip(tooLarge)), wireExhausted},
		"too large, in parts":        {compressed(append(zip(tooLarge[:len(tooLarge)-9]), zip(tooLarge[len(tooLarge)-9:])...)), wireExhausted},
		"smaller than it says":       {compressed(lying(in, 60<<10)), wireInvalid},
		"much larger, it says":       {compressed(lying(in, 1<<31)), wireInvalid},
		"too large, it says":         {compressed(lying(large, 1<<31)), wireExhausted},
		"larger than it says":        {compressed(lying(large, 10)), wireInvalid},
		"cut short":                  {compressed(zip(large)[:100]), wireInvalid},
		"nothing":                    {compressed(nil), wireInvalid},
		"no gzip":                    {compressed([]byte("hello, this is no gzip")), wireInvalid},
		"no gzip, and says it":       {append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(in))), in...), wireOK},
		"the mark of what is packed": {append(binary.BigEndian.AppendUint32([]byte{0}, 3), 7, 7, 7), wireInvalid},
	} {
		for where, a := range map[string]*agent{
			"": start(t, []server.Skill{brief()}, limits), "mounted ": mounted(t, testCard, []server.Skill{brief()}, limits),
		} {
			p := a.connect()
			p.send(method, tt.frame, true)
			if got := p.status(10 * time.Second); got != tt.want {
				t.Errorf("%s%s: %q, want %s", where, name, got, tt.want)
			}
		}
	}
}

// allocated is how many bytes have been allocated so far.
func allocated() uint64 {
	s := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

// What inflating takes is taken from the budget of messages before: when that is used up, a message that is small only as
// long as it is compressed is refused, at no cost, and small ones pass.
func TestCompressedMessagesHaveTheBudgetOfMessages(t *testing.T) {
	const size, calls = 4 << 20, 40
	limits := server.WithLimits(server.Limits{Body: 2 * size, Bodies: 2 * size})
	method, in := sending(t, strings.Repeat("x", size))
	_, small := sending(t, "hello")
	bomb := compressed(zip(in))
	for name, a := range map[string]*agent{
		"own": start(t, []server.Skill{brief()}, limits), "mounted": mounted(t, testCard, []server.Skill{brief()}, limits),
	} {
		var holder *peer // of some of the budget, so that no message of the size fits beside its own
		for held := false; !held; held = a.ends(wireExhausted, method, bomb, 50) {
			if holder != nil {
				_ = holder.Close() // a message of this loop came before its own, and it was refused
			}
			holder = a.connect()
			holder.part(method, in, 40<<10)
		}
		before := allocated()
		for range calls {
			p := a.connect()
			p.send(method, bomb, true)
			if got := p.status(10 * time.Second); got != wireExhausted {
				t.Errorf("%s: a large message ends with %q", name, got)
			}
			_ = p.Close()
		}
		if took := allocated() - before; took > calls*size/8 {
			t.Errorf("%s: %d messages of %d MB that are refused take %d MB", name, calls, size>>20, took>>20)
		}
		p := a.connect()
		p.send(method, compressed(zip(small)), true)
		if got := p.status(10 * time.Second); got != wireOK {
			t.Errorf("%s: a small message ends with %q", name, got)
		}
		_ = holder.Close()
		a.until(t, wireOK, method, bomb)
	}
}

// brief is a skill whose answer is short, whatever it is asked.
func brief() server.Skill {
	return run("brief", func(_ context.Context, t *server.Task) (string, error) { return "", t.Reply(runtime.Text("ok")) })
}

// until sends a message again and again, until it ends with a status: what holds the budget comes and goes in its time, that of
// calls that were cut short with the garbage ([pool]).
func (a *agent) until(t *testing.T, want, method string, frame []byte) {
	t.Helper()
	if !a.ends(want, method, frame, 1000) {
		t.Fatalf("no message ends with %s", want)
	}
}

// ends reports whether a message ends with a status, when it is sent so often.
func (a *agent) ends(want, method string, frame []byte, tries int) bool {
	for range tries {
		p := a.connect()
		p.send(method, frame, true)
		got := p.status(10 * time.Second)
		_ = p.Close()
		if got == want {
			return true
		}
		std.GC()
		time.Sleep(5 * time.Millisecond)
	}
	return false
}
