package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
)

// question is a request as a program in any language would write it: plain text, no extension, no schema.
const question = `{"jsonrpc":"2.0","id":7,"method":"SendMessage","params":{"message":{"messageId":"m-1","role":"ROLE_USER","parts":[{"data":{"origin":"San Francisco","destination":"San Francisco International Airport","alternatives":1}}]}}}`

// plain sends one JSON-RPC request with nothing but the standard library, and reads the answer likewise.
func (d *demo) plain(ctx context.Context) error {
	fmt.Printf("\n  > POST %s\n  > A2A-Version: 1.0\n  > %s\n", d.process.url, question)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, d.process.url, strings.NewReader(question))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("A2A-Version", "1.0")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		return err
	}
	var pretty bytes.Buffer
	if err := json.Indent(&pretty, body, "  < ", "  "); err != nil {
		return fmt.Errorf("the answer is no JSON: %s", body)
	}
	fmt.Printf("\n  < %s\n  < %s\n", res.Status, pretty.String())
	var answer struct {
		ID     int
		Result struct {
			Task struct {
				Status    struct{ State string }
				Artifacts []struct{ Parts []map[string]any }
			}
		}
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return err
	}
	task := answer.Result.Task
	if answer.ID != 7 || task.Status.State != "TASK_STATE_COMPLETED" || len(task.Artifacts) != 1 {
		return fmt.Errorf("expected a completed task with one artifact")
	}
	return d.get(ctx, "/tasks?pageSize=1&status=TASK_STATE_COMPLETED")
}

// get asks over HTTP+JSON, which is below the same URL.
func (d *demo) get(ctx context.Context, path string) error {
	fmt.Printf("\n  > GET %s\n  > A2A-Version: 1.0\n", d.process.url+path)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, d.process.url+path, http.NoBody)
	if err != nil {
		return err
	}
	req.Header.Set("A2A-Version", "1.0")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	var page struct {
		Tasks []struct {
			ID     string
			Status struct{ State string }
		}
		TotalSize int
	}
	if err := json.NewDecoder(res.Body).Decode(&page); err != nil || len(page.Tasks) != 1 {
		return fmt.Errorf("expected a page of one task, got %s with %d (%v)", res.Status, len(page.Tasks), err)
	}
	fmt.Printf("\n  < %s\n  < task %s is %s, the last of %d\n", res.Status, page.Tasks[0].ID, page.Tasks[0].Status.State, page.TotalSize)
	return nil
}

// callerMain calls the agent with the client that was made from its URL.
const callerMain = `package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"example.com/caller/client/routes"
)

func main() {
	ctx := context.Background()
	c, err := routes.New(ctx, os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	in := &routes.RouteOptimizerTrafficInput{
		Origin:       routes.PlaceString("San Francisco"),
		Destination:  &routes.Coordinates{Lat: 37.422, Lng: -122.084},
		Alternatives: 2,
	}
	fmt.Println("> from San Francisco to", in.Destination)
	for e, err := range c.RouteOptimizerTrafficStream(ctx, in) {
		if err != nil {
			log.Fatal(err)
		}
		if e.Progress != "" {
			fmt.Println("< …", e.Progress)
		}
		if e.Done {
			fmt.Println("<", e.Output.DistanceMeters, "m in", e.Output.Duration)
		}
	}
}
`

// stranger makes a typed client in a project that knows nothing of the agent but its URL.
func (d *demo) stranger(ctx context.Context) error {
	if err := os.MkdirAll(d.caller, 0o777); err != nil {
		return err
	}
	mod := fmt.Sprintf("module example.com/caller\n\ngo 1.26.0\n\nrequire github.com/a2agen/a2agen v0.0.0-00010101000000-000000000000\n\nreplace github.com/a2agen/a2agen => %s\n", d.root)
	if err := os.WriteFile(filepath.Join(d.caller, "go.mod"), []byte(mod), 0o666); err != nil {
		return err
	}
	if err := sh(ctx, d.caller, d.tool, "client", d.process.url, "--name", "routes", "--allow-private-network"); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(d.caller, "main.go"), []byte(callerMain), 0o666); err != nil {
		return err
	}
	return sh(ctx, d.caller, "go", "run", ".", d.process.url)
}
