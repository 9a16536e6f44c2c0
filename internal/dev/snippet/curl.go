package snippet

import (
	"bytes"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/a2agen/a2agen/internal/dev/traffic"
	"github.com/a2agen/a2agen/internal/shell"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/testkit/record"
)

// maxArgument is how long the body of a command may be, in bytes: a shell does not take more.
const maxArgument = 100 << 10

// byItself are headers that curl sends by itself, or that are those of one connection.
var byItself = map[string]bool{
	"Accept-Encoding": true, "Connection": true, "Content-Length": true, "Host": true, "Transfer-Encoding": true, "User-Agent": true, "Te": true,
	"Accept-Language": true, "Cache-Control": true, "Pragma": true, "Upgrade-Insecure-Requests": true,
}

// Curl returns a command that makes the call again. In the place of secrets, which are not kept, are variables of the
// shell: "$AUTHORIZATION".
func Curl(x *traffic.Exchange, p *Project) (string, error) {
	body := x.Request.Bytes
	switch {
	case x.Binding == runtime.BindingGRPC:
		return "", errors.New("curl does not speak gRPC: copy the call as Go")
	case x.Request.Cut:
		return "", errors.New("the request was not kept whole")
	case len(body) > maxArgument:
		return "", errors.New("the request is too long for a command: save its bytes to a file, and send that by --data-binary @FILE")
	case !utf8.Valid(body) || bytes.IndexByte(body, 0) >= 0:
		return "", errors.New("the request is no text: save its bytes to a file, and send that by --data-binary @FILE")
	}
	words := []string{"curl -sS"}
	if x.EventN > 0 || x.Operation == "SendStreamingMessage" || x.Operation == "SubscribeToTask" {
		words[0] += " -N"
	}
	if x.Method != http.MethodPost || len(body) == 0 {
		words[0] += " -X " + shell.Word(x.Method)
	}
	words[0] += " " + address(p.URL, x.Path)
	for _, name := range slices.Sorted(maps.Keys(x.RequestHeader)) {
		if byItself[name] || strings.HasPrefix(name, "Sec-") {
			continue
		}
		for _, v := range x.RequestHeader[name] {
			words = append(words, "-H "+masked(name+": "+v, name))
		}
	}
	if len(body) > 0 {
		words = append(words, "--data-raw "+masked(string(body), "secret"))
	}
	return strings.Join(words, " \\\n  ") + "\n", nil
}

// address is the URL of a call as a word of the shell.
func address(base, path string) string {
	path, query, _ := strings.Cut(path, "?")
	if query == "" {
		return masked(base+path, "secret")
	}
	out := shell.Word(base + path + "?")
	for i, pair := range strings.Split(query, "&") {
		name, _, _ := strings.Cut(pair, "=")
		if i > 0 {
			out += shell.Word("&")
		}
		out += masked(pair, name)
	}
	return out
}

// masked is a text as a word of the shell, with a variable of the shell in the place of what was masked.
func masked(s, name string) string {
	if !strings.Contains(s, record.Masked) {
		return shell.Word(s)
	}
	var out []string
	for _, piece := range strings.Split(s, record.Masked) {
		if piece == "" {
			out = append(out, "")
			continue
		}
		out = append(out, shell.Word(piece))
	}
	return strings.Join(out, `"$`+variable(name)+`"`)
}

// variable is the name of a variable of the shell.
func variable(name string) string {
	clean := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z':
			return r - 'a' + 'A'
		case r >= 'A' && r <= 'Z' || r >= '0' && r <= '9':
			return r
		}
		return '_'
	}, name)
	if clean == "" || clean[0] >= '0' && clean[0] <= '9' {
		return "_" + clean
	}
	return clean
}
