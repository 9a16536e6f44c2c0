package a2aclient_test

import (
	"context"
	"fmt"
	"go/parser"
	"go/token"
	"os"
	"strings"
	"testing"

	"github.com/a2agen/a2agen/a2a"
	"github.com/a2agen/a2agen/a2a/a2aclient"
)

// hello is the example of the package's comment.
func hello(ctx context.Context) error {
	c, err := a2aclient.New(ctx, "https://agent.example.com")
	if err != nil {
		return err
	}
	defer c.Close()
	hello := a2a.NewMessage(a2a.RoleUser, a2a.Text("Hello"))
	answer, err := c.SendMessage(ctx, &a2a.SendMessageRequest{Message: hello})
	fmt.Println(answer)
	return err
}

// TestTheExampleOfThePackageCommentIsTheOneAbove holds the comment to what compiles.
func TestTheExampleOfThePackageCommentIsTheOneAbove(t *testing.T) {
	_ = hello // there is no agent to call
	f, err := parser.ParseFile(token.NewFileSet(), "client.gen.go", nil, parser.ParseComments|parser.PackageClauseOnly)
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("example_test.go")
	if err != nil {
		t.Fatal(err)
	}
	_, example, ok := strings.Cut(f.Doc.Text(), "\n\n")
	if !ok || !strings.Contains(string(source), strings.TrimRight(example, "\n")+"\n") {
		t.Errorf("the comment's example is not compiled:\n%s", example)
	}
}
