package legacy

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/wire"
)

// hook reads a value as an older version has it, and writes what it read.
type hook struct {
	name string
	// round returns nil without an error for what can be read but has no form to be written in.
	round func(src []byte) ([]byte, error)
}

// both pairs a reading hook with the writing one.
func both[T any](name string, read func(*wire.Reader) T, write func([]byte, T) ([]byte, error)) hook {
	return hook{name, func(src []byte) ([]byte, error) {
		var r wire.Reader
		r.Reset(src)
		v := read(&r)
		if err := r.Done(); err != nil {
			return nil, err
		}
		b, err := write([]byte("before"), v)
		if err != nil {
			return nil, nil
		}
		return bytes.TrimPrefix(b, []byte("before")), nil
	}}
}

// readPart is a part with its unknown content.
type readPart struct {
	runtime.Part
	name  string
	value wire.Value
}

// partHook is the hook of one of the ways to write parts.
func partHook(name string, read func(*wire.Reader) (runtime.Part, string, wire.Value), write func([]byte, runtime.Part) ([]byte, error), unknown func([]byte, string, wire.Value, wire.Object) ([]byte, error)) hook {
	return both(name, func(r *wire.Reader) readPart {
		p, name, value := read(r)
		return readPart{p, name, value}
	}, func(b []byte, p readPart) ([]byte, error) {
		if p.name != "" {
			return unknown(b, p.name, p.value, p.Metadata)
		}
		return write(b, p.Part)
	})
}

// hooks are all that read JSON.
var hooks = []hook{
	partHook("part", ReadPart, AppendPart, AppendUnknownPart),
	partHook("typed part", ReadTypedPart, AppendTypedPart, AppendUnknownTypedPart),
	both("blocking", Blocking.Read, Blocking.Append),
	both("blocking flag", BlockingFlag.Read, BlockingFlag.Append),
	both("schemes", Schemes.Read, Schemes.Append),
	both("timestamp", Timestamp.Read, Timestamp.Append),
	both("index", Index.Read, Index.Append),
	both("modes", Modes.Read, Modes.Append),
	both("default modes", DefaultModes.Read, DefaultModes.Append),
	both("task name", TaskName.Read, TaskName.Append),
	both("config parent", ConfigParent.Read, ConfigParent.Append),
	both("config name", func(r *wire.Reader) [2]string {
		task, id := ConfigName.Read(r)
		return [2]string{task, id}
	}, func(b []byte, names [2]string) ([]byte, error) { return ConfigName.Append(b, names[0], names[1]), nil }),
	both("flows", SplitFlows.Read, func(b []byte, v wire.Object) ([]byte, error) { return append(b, v...), nil }),
	both("authentication", Authentication.Read, func(b []byte, v wire.Object) ([]byte, error) {
		if err := wire.Valid(v); err != nil {
			return b, err
		}
		return Authentication.Write(b, v), nil
	}),
}

// FuzzHooks holds every hook to its laws: what it takes is JSON, what it writes is JSON that it reads again, and writing that again
// changes nothing.
func FuzzHooks(f *testing.F) {
	for _, seed := range []string{
		`{"kind":"text","text":"x","metadata":{"a":1}}`, `{"type":"file","file":{"bytes":"+/8=","mimeType":"a/b","name":"f"}}`, `{"kind":"file","file":{"uri":"u"}}`,
		`{"kind":"data","data":{"value":[1]},"metadata":{"a":1,"data_part_compat":true}}`, `{"kind":"beam","x":[1],"metadata":{"a":1}}`, `{"text":"a"}`, `{"data":{}}`,
		`true`, `"true"`, `["a","b"]`, `"2024-02-29T12:00:00+02:00"`, `"2024-02-29 12:00"`, `7`, `"7"`, `-1`, `["text","file","image/png"]`,
		`"tasks/a/pushNotificationConfigs/b"`, `"tasks/a"`, `"a"`, `null`,
		`{"o":{"type":"oauth2","flows":{"implicit":{"scopes":{}},"password":{}}},"o-password":{}}`, `{"schemes":["Bearer","Bearer","x"]}`,
		`{"schemes":[],"credentials":"c"}`, `{"a":1,"a":2}`, "\"\xff\"",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		for _, h := range hooks {
			out, err := h.round(src)
			if err != nil || out == nil {
				continue
			}
			if !json.Valid(src) {
				t.Errorf("%s takes %q, which is not JSON", h.name, src)
			}
			if !json.Valid(out) {
				t.Fatalf("%s writes %q of %q, which is not JSON", h.name, out, src)
			}
			again, err := h.round(out)
			if err != nil || !bytes.Equal(again, out) {
				t.Errorf("%s reads %q and writes %q, and reads that (%v) and writes %q", h.name, src, out, err, again)
			}
		}
	})
}

// FuzzLookers holds what only looks at JSON: it changes nothing.
func FuzzLookers(f *testing.F) {
	for _, seed := range []string{
		`{"kind":"task","id":"1"}`, `{"type":"x"}`, `{"parts":[],"role":"user"}`, `{"protocolVersion":"0.3.0"}`, `{"supportedInterfaces":[]}`, `{"url":"u","authentication":{}}`, `[]`, `{`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		before := bytes.Clone(src)
		CardVersion(src)
		if !bytes.Equal(before, src) {
			t.Errorf("%q became %q", before, src)
		}
	})
}

// FuzzInterfaces holds the members of a card that name its interfaces: they are JSON, for every version and list.
func FuzzInterfaces(f *testing.F) {
	f.Add("http://a", "JSONRPC", "0.3.0", "0.3")
	f.Add("\xff\"", "\\", "1.0", "0.1")
	f.Fuzz(func(t *testing.T, url, binding, of, version string) {
		list := []runtime.Interface{{URL: url, Binding: binding, Version: of}, {URL: "b", Binding: binding, Version: version}}
		for n := range len(list) + 1 {
			b := AppendInterfaces([]byte("{\"n\":1"), list[:n], version)
			if b = append(b, '}'); !json.Valid(b) || strings.Contains(string(b), ",,") && !strings.Contains(url+binding+version, ",,") {
				t.Errorf("%d interfaces are written as %q", n, b)
			}
		}
	})
}
