package main

import (
	"context"
	"errors"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"

	"github.com/a2agen/a2agen/runtime/client/oauth"
)

// Of the pages of issuers: forms with their fields, and a button that agrees.
var (
	form   = regexp.MustCompile(`(?s)<form[^>]*>.*?</form>`)
	action = regexp.MustCompile(`<form[^>]* action="([^"]*)"`)
	field  = regexp.MustCompile(`<input[^>]* name="([^"]*)"(?:[^>]* value="([^"]*)")?`)
	button = regexp.MustCompile(`location\.href='([^']*action=allowed)'`)
)

// browse is a person who logs in: opens the page, types name and password where they are asked for, and agrees.
func browse(ctx context.Context, p oauth.Prompt) error {
	jar, err := cookiejar.New(nil)
	if err != nil {
		return err
	}
	at := p.URL
	if p.Whole != "" {
		at = p.Whole
	}
	browser := &http.Client{Jar: jar}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
	for range 10 {
		if err != nil {
			return err
		}
		page, text, err := load(browser, req)
		if err != nil {
			return err
		}
		if req, err = next(ctx, page, text); req == nil {
			return err
		}
	}
	return errors.New("the login has no end")
}

func load(browser *http.Client, req *http.Request) (page *url.URL, text string, err error) {
	resp, err := browser.Do(req)
	if err != nil {
		return nil, "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s: %s", resp.Request.URL.Path, resp.Status, body)
	}
	return resp.Request.URL, string(body), err
}

// next is what the person does on a page; nil at the end.
func next(ctx context.Context, page *url.URL, text string) (*http.Request, error) {
	if m := button.FindStringSubmatch(text); m != nil {
		to, err := page.Parse(m[1])
		if err != nil {
			return nil, err
		}
		return http.NewRequestWithContext(ctx, http.MethodGet, to.String(), nil)
	}
	text = form.FindString(text)
	m := action.FindStringSubmatch(text)
	if m == nil {
		return nil, nil
	}
	to, err := page.Parse(html.UnescapeString(m[1]))
	if err != nil {
		return nil, err
	}
	values := url.Values{}
	for _, f := range field.FindAllStringSubmatch(text, -1) {
		values.Set(f[1], html.UnescapeString(f[2]))
	}
	if values.Has("password") {
		values.Set("username", "test-user@127.0.0.1")
		values.Set("password", "verysecure")
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, to.String(), strings.NewReader(values.Encode()))
	if err == nil {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	return req, err
}
