package server_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/a2agen/a2agen/internal/test/official"
)

// httpSample is a request over HTTP+JSON among the published samples.
type httpSample struct {
	name string
	HTTP struct {
		Method, Path   string
		Query, Headers map[string]string
	}
	Body json.RawMessage
}

// httpSamples are those of all releases. What the texts show of other bindings, and of webhooks, is none of them.
func httpSamples(t *testing.T) (list []httpSample) {
	root := official.Folder(t, "samples")
	for _, release := range []string{"v1.0.1", "v1.0.0", "v0.3.0", "v0.2.6"} {
		files, _ := filepath.Glob(filepath.Join(root, release, "*.json"))
		for _, file := range files {
			src, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			sample := httpSample{name: release + "/" + strings.Join(strings.SplitN(filepath.Base(file), "-", 3)[:2], "-")}
			if json.Unmarshal(src, &sample) != nil || sample.HTTP.Method == "" {
				continue
			}
			first, _, _ := strings.Cut(strings.TrimPrefix(sample.HTTP.Path, "/"), "/")
			first, _, _ = strings.Cut(first, ":")
			if slices.Contains([]string{"v1", "message", "tasks", "extendedAgentCard"}, first) {
				list = append(list, sample)
			}
		}
	}
	return list
}

// wrongSamples are answers to the samples that are no right requests here: there is no such task, nor such a card, and some
// of the samples lack what the definition requires.
var wrongSamples = map[string]string{
	"v1.0.1/3.6.1-01": "404 TASK_NOT_FOUND", "v1.0.1/3.6.1-02": "404 TASK_NOT_FOUND", "v1.0.1/11.5-02": "404 TASK_NOT_FOUND",
	"v1.0.1/6.3-03":   "404 TASK_NOT_FOUND",
	"v1.0.1/4.6.1-02": "400 INVALID_PARAMS",        // no messageId
	"v1.0.1/6.4-01":   "400 VERSION_NOT_SUPPORTED", // which is what it shows
	"v1.0.1/6.5-05":   "400 INVALID_PARAMS",        // a token of nobody's
	"v1.0.1/6.5-07":   "400 INVALID_PARAMS",        // which is what it shows
	"v1.0.1/6.7-01":   "400 INVALID_PARAMS",        // dots in place of base64
	"v1.0.1/6.9-03":   "400 EXTENDED_AGENT_CARD_NOT_CONFIGURED",
	"v1.0.1/11.5-01":  "400 INVALID_PARAMS", // a token of nobody's
	"v1.0.1/11.7-01":  "400 INVALID_PARAMS", // the body is cut
}

// TestHTTPSamplesOfTheSpecificationAreTaken sends the published requests as they are, but for the tokens.
func TestHTTPSamplesOfTheSpecificationAreTaken(t *testing.T) {
	samples := httpSamples(t)
	if len(samples) < 18 {
		t.Fatalf("%d samples", len(samples))
	}
	for _, sample := range samples {
		t.Run(sample.name, func(t *testing.T) {
			a := former(t)
			query := url.Values{}
			for name, value := range sample.HTTP.Query {
				query.Set(name, value)
			}
			header := []string{unversioned}
			for name, value := range sample.HTTP.Headers {
				if name != "Host" && name != "Authorization" {
					header = append(header, name+": "+value)
				}
			}
			path := strings.NewReplacer("{", "%7B", "}", "%7D").Replace(sample.HTTP.Path)
			resp := a.rest(sample.HTTP.Method, path+"?"+query.Encode(), string(sample.Body), header...)
			defer func() { _ = resp.Body.Close() }()
			body, err := io.ReadAll(resp.Body)
			if err != nil {
				t.Fatal(err)
			}
			want, wrong := wrongSamples[sample.name]
			status, reason, _ := strings.Cut(want, " ")
			switch {
			case !wrong && resp.StatusCode != http.StatusOK:
				t.Errorf("%s\n%s", resp.Status, body)
			case wrong && (!strings.HasPrefix(resp.Status, status) || !strings.Contains(string(body), `"`+reason+`"`)):
				t.Errorf("%s, want %s\n%s", resp.Status, want, body)
			}
		})
	}
}
