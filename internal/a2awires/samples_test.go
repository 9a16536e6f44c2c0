package a2awires

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/a2agen/a2agen/internal/test/official"
	"github.com/a2agen/a2agen/runtime"
)

// sample is one sample of the specification, as the reference documents keep it.
type sample struct {
	File       string
	StrictJSON *bool
	Conforms   *bool
	Body       json.RawMessage
	Events     []json.RawMessage
	Check      []struct{ Type string }
}

// envelope is a JSON-RPC message.
type envelope struct {
	JSONRPC, Method       string
	Params, Result, Error json.RawMessage
}

// unread are the samples that cannot be read, with what the error says.
var unread = map[string]string{
	"v0.1.0/9.4-03-json":   "/id: required, but missing",  // a notification of a shape of its own, no message of the protocol
	"v0.1.0/9.5-01-rpcreq": "/file/bytes: invalid base64", // shortened with dots, as all that follow
	"v0.2.0/9.2-01-json":   "/file/data: invalid base64",
	"v0.2.0/9.2-02-sse/0":  "/file/data: invalid base64",
	"v0.2.0/9.5-01-rpcreq": "/file/bytes: invalid base64",
	"v0.2.6/9.3-01-json":   "/file/data: invalid base64",
	"v0.2.6/9.3-02-sse/0":  "/file/data: invalid base64",
	"v0.2.6/9.6-01-rpcreq": "/file/bytes: invalid base64",
	"v0.3.0/9.3-01-rpcreq": "/file/data: invalid base64",
	"v0.3.0/9.3-02-sse/0":  "/file/data: invalid base64",
	"v0.3.0/9.6-01-rpcreq": "/file/bytes: invalid base64",
}

// sampleVersions are the folders of samples with the version that reads them.
var sampleVersions = []struct{ folder, version string }{{"v0.3.0", "0.3"}, {"v0.2.6", "0.2"}, {"v0.2.0", "0.2"}, {"v0.1.0", "0.1"}}

func versionOf(name string) *runtime.Version {
	for _, v := range Protocol().Versions {
		if v.Name == name {
			return v
		}
	}
	return nil
}

func operationOf(v *runtime.Version, role runtime.Role) *runtime.Operation {
	for _, op := range v.Operations {
		if op.Role == role {
			return op
		}
	}
	return nil
}

func TestSamplesOfTheSpecifications(t *testing.T) {
	samples := official.Folder(t, "samples")
	for _, sv := range sampleVersions {
		files, err := filepath.Glob(filepath.Join(samples, sv.folder, "*.json"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%d samples: %v", len(files), err)
		}
		v, read, same := versionOf(sv.version), 0, 0
		for _, file := range files {
			src, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var s sample
			if err := json.Unmarshal(src, &s); err != nil {
				t.Fatal(err)
			}
			r, w := checkSample(t, v, sv.folder, &s)
			read, same = read+r, same+w
		}
		t.Logf("%s: %d documents read, %d of them conforming and written again the same", sv.folder, read, same)
		if read < 18 || sv.folder == "v0.1.0" && same < 12 {
			t.Errorf("%s: too few documents", sv.folder)
		}
	}
}

// checkSample reads the documents of a sample, and writes them again if they conform. It returns how many.
func checkSample(t *testing.T, v *runtime.Version, folder string, s *sample) (read, same int) {
	docs := s.Events
	if len(s.Body) > 0 && string(s.Body) != "null" {
		docs = append(docs, s.Body)
	}
	conforms := s.StrictJSON != nil && *s.StrictJSON && s.Conforms != nil && *s.Conforms
	for i, doc := range docs {
		var e envelope
		if err := json.Unmarshal(doc, &e); err != nil {
			t.Fatal(err)
		}
		written, value, err := throughVersion(v, s, e, doc)
		if want := unreadFor(folder+"/"+s.File, i); want != "" {
			if err == nil || !strings.HasSuffix(err.Error(), want) {
				t.Errorf("%s/%s: got %v, want %s", folder, s.File, err, want)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s/%s: %v", folder, s.File, err)
			continue
		}
		read++
		if !conforms || len(value) == 0 {
			continue
		}
		if diff := cmp.Diff(plain(v.Name, decoded(t, value)), plain(v.Name, decoded(t, written))); diff != "" {
			t.Errorf("%s/%s came back different:\n%s", folder, s.File, diff)
			continue
		}
		same++
	}
	return read, same
}

// unreadFor is what the error of document i of a sample is expected to say.
func unreadFor(name string, i int) string {
	for prefix, want := range unread {
		prefix, event, isEvent := cutEvent(prefix)
		if strings.HasPrefix(name, prefix) && (!isEvent || event == strconv.Itoa(i)) {
			return want
		}
	}
	return ""
}

// cutEvent cuts the number of an event from a name such as "v0.3.0/9.3-02-sse/0".
func cutEvent(name string) (sample, event string, ok bool) {
	if strings.Count(name, "/") < 2 {
		return name, "", false
	}
	at := strings.LastIndexByte(name, '/')
	return name[:at], name[at+1:], true
}

// throughVersion reads a document of a sample by what it is, and writes it again. value is the part of doc that it is.
func throughVersion(v *runtime.Version, s *sample, e envelope, doc []byte) (written, value []byte, err error) {
	switch {
	case e.Method != "":
		for _, op := range v.Operations {
			if op.RPC == e.Method {
				written, err = throughRequest(op, e.Params)
				return written, e.Params, err
			}
		}
		return nil, nil, runtime.ErrMethodNotFound
	case len(e.Result) > 0 && (len(s.Events) > 0):
		event, err := v.ReadEvent(e.Result)
		if err != nil {
			return nil, nil, err
		}
		written, err = v.AppendEvent(nil, event)
		return written, e.Result, err
	case len(e.Result) > 0:
		written, err = throughResult(operationOf(v, runtime.RoleSend), e.Result)
		return written, e.Result, err
	case len(s.Check) > 0 && s.Check[0].Type == "AgentCard":
		card, err := v.ReadCard(doc)
		if err != nil {
			return nil, nil, err
		}
		written, err = v.AppendCard(nil, card)
		return written, doc, err
	}
	written, err = throughResult(operationOf(v, runtime.RoleGet), doc)
	return written, doc, err
}

func throughRequest(op *runtime.Operation, params []byte) ([]byte, error) {
	req, err := op.Decode(params)
	if err != nil {
		return nil, err
	}
	switch r := req.(type) {
	case *runtime.SendRequest:
		req = r.Source
	case *runtime.TaskRequest:
		req = r.Source
	}
	return op.AppendRequest(nil, req)
}

func throughResult(op *runtime.Operation, result []byte) ([]byte, error) {
	x, err := op.Read(result)
	if err != nil {
		return nil, err
	}
	return op.Append(nil, x)
}

// plain takes out of a document what may differ: members at their default, what is declared to be lost, how a time is written.
func plain(version string, doc any) any {
	switch x := doc.(type) {
	case map[string]any:
		for name, v := range x {
			v = plain(version, v)
			x[name] = v
			list, isList := v.([]any)
			if v == false || v == "" || v == nil || isList && len(list) == 0 || v == json.Number("0") {
				delete(x, name)
			}
			if text, ok := v.(string); ok && name == "timestamp" {
				if at, err := time.Parse(time.RFC3339Nano, strings.TrimSuffix(text, "Z")+"Z"); err == nil {
					x[name] = at.String()
				}
			}
		}
		plainCard(version, x)
	case []any:
		for i, v := range x {
			x[i] = plain(version, v)
		}
	}
	return doc
}

func plainCard(version string, x map[string]any) {
	delete(x, "stateTransitionHistory")
	delete(x, "protocolVersion")
	if a, ok := x["authentication"].(map[string]any); ok && version == "0.1" {
		delete(a, "credentials")
	}
	if x["preferredTransport"] == "JSONRPC" {
		delete(x, "preferredTransport")
	}
	list, _ := x["additionalInterfaces"].([]any)
	for i, one := range list {
		if m, ok := one.(map[string]any); ok && m["url"] == x["url"] && m["transport"] == "JSONRPC" {
			x["additionalInterfaces"] = append(list[:i:i], list[i+1:]...)
			break
		}
	}
}
