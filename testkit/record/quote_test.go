package record_test

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/a2agen/a2agen/a2a/a2aclient"
	rpc "github.com/a2agen/a2agen/runtime/client"
	"github.com/a2agen/a2agen/testkit/record"
)

func TestQuote(t *testing.T) {
	c, err := weather.New(t.Context(), "https://weather.example", record.Replay(t, "testdata/quote.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	result, err := c.Chat(t.Context(), "How warm is it in Paris?")
	if err != nil {
		t.Fatal(err)
	}
	if result.Text() != "21 degrees" {
		t.Errorf("got %q", result.Text())
	}
}

// weather is what a generated package is for the test above.
var weather weatherPackage

type weatherPackage struct{}

func (weatherPackage) New(ctx context.Context, url string, opts ...rpc.Option) (weatherClient, error) {
	c, err := a2aclient.New(ctx, url, opts...)
	return weatherClient{c}, err
}

type weatherClient struct{ *a2aclient.Client }

func (c weatherClient) Chat(ctx context.Context, text string) (*rpc.Result, error) {
	return chat.Call(ctx, c.RPC(), text)
}

// TestTheDocsHaveATestThatRuns: the first one above.
func TestTheDocsHaveATestThatRuns(t *testing.T) {
	page, err := os.ReadFile("../../docs/testing.md")
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("quote_test.go")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(source), "\nfunc TestQuote")
	text, _, _ = strings.Cut(text, "\n}\n")
	if !strings.Contains(string(page), "```go\nfunc TestQuote"+text+"\n}\n```") {
		t.Error("docs/testing.md does not show TestQuote as it is here")
	}
}
