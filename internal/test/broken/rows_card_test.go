package broken

import (
	"net/http"
	"strings"

	"github.com/a2agen/a2agen/runtime"
)

// noCard leaves a member of the card out.
func noCard(path ...string) func(map[string]any) {
	return func(card map[string]any) { remove(card, path) }
}

func setCard(value any, path ...string) func(map[string]any) {
	return func(card map[string]any) { put(card, value, path) }
}

// cardHeader changes the headers of the card.
func cardHeader(f func(x *exchange, r *http.Response)) func(*exchange, *http.Response) {
	return func(x *exchange, r *http.Response) {
		if isCard(x.request) {
			f(x, r)
		}
	}
}

var cardRows = []*row{
	{name: "card without a name", requirement: "R100", card: noCard("name")},
	{name: "card without skills", requirement: "R100", card: noCard("skills")},
	{name: "card without capabilities", requirement: "R100", card: noCard("capabilities")},
	{name: "card without a version", requirement: "R100", card: noCard("version")},
	{name: "skill without tags", requirement: "R100", card: noCard("skills", "tags")},
	{name: "skill without a description", requirement: "R100", card: noCard("skills", "description")},
	{name: "card whose modes are a text", requirement: "R100", card: setCard("text/plain", "defaultInputModes")},
	{name: "card with a capability that is a text", requirement: "R100", card: setCard("yes", "capabilities", "streaming")},
	{name: "interface without a binding", requirement: "R124", over: []string{together}, card: func(card map[string]any) {
		for _, f := range elements(card["supportedInterfaces"])[1:] {
			delete(f, "protocolBinding")
		}
	}},
	{name: "interface without a URL", requirement: "R124", over: []string{together}, card: func(card map[string]any) {
		delete(elements(card["supportedInterfaces"])[1], "url")
	}},
	{name: "interface with a path in place of its URL", requirement: "R124", over: []string{together}, card: func(card map[string]any) {
		elements(card["supportedInterfaces"])[1]["url"] = "/rest"
	}},
	{name: "interface of version 1.0.1", requirement: "R70", card: setCard("1.0.1", "supportedInterfaces", "protocolVersion")},
	{name: "interface that is not served", requirement: "R122", over: []string{together}, card: func(card map[string]any) {
		for _, f := range elements(card["supportedInterfaces"]) {
			if f["protocolBinding"] == runtime.BindingHTTP {
				f["url"] = strings.Replace(text(f["url"]), "/rest", "/a/b/elsewhere", 1)
			}
		}
	}},
	{name: "card with members of nobody", requirement: "R100", card: func(card map[string]any) { card["default_input_modes"] = []any{"text/plain"} }},
	{name: "card as text", requirement: "R246", response: cardHeader(func(_ *exchange, r *http.Response) { r.Header.Set("Content-Type", "text/plain") })},
	{name: "card without Cache-Control", requirement: "R146", response: cardHeader(func(_ *exchange, r *http.Response) { r.Header.Del("Cache-Control") })},
	{name: "card without an ETag", requirement: "R147", response: cardHeader(func(_ *exchange, r *http.Response) { r.Header.Del("ETag") })},
	{name: "card that is sent again and again", requirement: "R147", request: func(_ *proxy, x *exchange) {
		if isCard(x.request) {
			x.request.Header.Del("If-None-Match")
		}
	}},
	{name: "requirement of a scheme that is not there", requirement: "R107", card: func(card map[string]any) {
		card["securityRequirements"] = []any{map[string]any{"schemes": map[string]any{"nobody": map[string]any{}}}}
	}},
}
