// Command plan asks the planner for a trip, shows what it says on the way, and asks you what it is asked:
//
//	go run ./cmd/plan Oslo Springfield
package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"iter"
	"log"
	"os"
	"os/signal"
	"strings"
	"time"

	"github.com/a2agen/a2agen/runtime"
	rpc "github.com/a2agen/a2agen/runtime/client"

	"example.com/planner/client"
)

func main() {
	url := flag.String("url", "http://127.0.0.1:8080", "where the planner is")
	flag.Parse()
	if flag.NArg() != 2 {
		log.Fatal("plan: give two places: go run ./cmd/plan Oslo Paris")
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := plan(ctx, *url, &client.PlanTripInput{From: flag.Arg(0), To: flag.Arg(1), Days: 3}); err != nil {
		log.Fatal("plan: ", err)
	}
}

// plan asks until there is no question left.
func plan(ctx context.Context, url string, in *client.PlanTripInput) error {
	c, err := client.New(ctx, url)
	if err != nil {
		return err
	}
	defer c.Close()
	err = show(c.PlanTripStream(ctx, in))
	for lines := bufio.NewScanner(os.Stdin); ; {
		var ask *rpc.InputRequiredError
		if !errors.As(err, &ask) {
			return err
		}
		fmt.Printf("%s\n> ", ask.Prompt)
		if !lines.Scan() {
			return err
		}
		err = show(c.PlanTripAnswerStream(ctx, ask, runtime.Text(lines.Text())))
	}
}

// show prints the steps of a plan, and the plan.
func show(steps iter.Seq2[rpc.Event[*client.PlanTripOutput], error]) error {
	for step, err := range steps {
		switch {
		case err != nil:
			return err
		case !step.Done:
			if text := strings.TrimSpace(step.Text()); text != "" && step.State == runtime.StateWorking {
				fmt.Println("  " + text)
			}
		default:
			out := step.Output
			fmt.Printf("%s is %d km and %s away.\n", out.To, out.DistanceMeters/1000, out.Duration)
			for _, d := range out.Days {
				fmt.Printf("%s: %s, %.0f to %.0f °C\n", d.Date.Format(time.DateOnly), d.Conditions, d.Low, d.High)
			}
		}
	}
	return nil
}
