// Command a2agen is our own contestant: the runtime's server with the emitted protocol package, its in-memory store, or one
// in the file or at the server that -store names, and the defaults of a generated program: its logger, too, which writes a
// line of each call to standard error. With -grpc it answers gRPC, too, on the same port; with -auth it demands
// credentials. It has one skill that takes
// messages as they are, so that it does what its peers do.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"strings"

	"github.com/a2agen/a2agen/a2a"
	"github.com/a2agen/a2agen/internal/a2awires"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/server"
	"github.com/a2agen/a2agen/runtime/server/grpcserver"
	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/store/postgres"
	"github.com/a2agen/a2agen/runtime/store/sqlite"

	"github.com/a2agen/a2agen/bench/internal/child"
	"github.com/a2agen/a2agen/bench/internal/pass"
	"github.com/a2agen/a2agen/bench/internal/work"
)

var (
	file     = flag.String("store", "", "keep tasks in this `file`, or at the address of this PostgreSQL server")
	withGRPC = flag.Bool("grpc", false, "answer gRPC, too")
	asks     = flag.String("auth", "", "demand credentials of a `kind`: key, basic, jwt or mtls")
	observes = flag.String("observe", "", "have every call observed `by` audit, otel, or sdk")
	secured  = flag.Bool("tls", false, "speak TLS")
	hosts    = flag.Bool("serve", false, "serve as server.Main does, not as a handler of net/http")
	keys     = flag.String("pass", "", "the `folder` with keys and certificates")
)

func main() {
	flag.Parse()
	child.Main(newAgent)
}

func newAgent(addr, token string) (child.Served, error) {
	server.Headroom() // as server.Main does
	protocol, overGRPC := a2a.Protocol(), ""
	options := []server.Option{server.WithLogger(server.Logger())}
	if *withGRPC {
		p := *a2awires.Protocol() // which has protobuf
		p.Versions = p.Versions[:1]
		protocol = &p
		overGRPC = `,{"url":"` + addr + `","protocolBinding":"GRPC","protocolVersion":"1.0"}`
		options = append(options, grpcserver.Serve())
	}
	demands, more, err := demand(*asks, token)
	if err != nil {
		return child.Served{}, err
	}
	observed, err := watched(*observes)
	if err != nil {
		return child.Served{}, err
	}
	options = append(append(options, more...), observed...)
	if *secured {
		options = append(options, server.WithTLS(pass.Pair(*keys)))
	}
	card, err := protocol.DecodeCard(fmt.Appendf(nil, `{"name":%[1]q,"description":"benchmark","version":"1",`+
		`"supportedInterfaces":[{"url":"http://%[2]s/","protocolBinding":"JSONRPC","protocolVersion":"1.0"},`+
		`{"url":"http://%[2]s/","protocolBinding":"HTTP+JSON","protocolVersion":"1.0"}%[3]s],`+
		`"capabilities":{"streaming":true},"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],`+
		`"skills":[{"id":"bench","name":"bench","description":"answers","tags":["bench"]}]%[4]s}`, work.CardName(token), addr, overGRPC, demands))
	if err != nil {
		return child.Served{}, err
	}
	if *file != "" {
		tasks, err := openStore(*file, protocol)
		if err != nil {
			return child.Served{}, err
		}
		options = append(options, server.WithStore(tasks))
	}
	s, err := server.New(server.Config{
		Protocol: protocol,
		Card:     card,
		Skills:   []server.Skill{{ID: "bench", Name: "bench", Description: "answers", Tags: []string{"bench"}, Run: skill{token}.run}},
	}, options...)
	if *withGRPC || *secured || *hosts {
		return child.Served{All: whole{s}}, err
	}
	return child.Served{HTTP: s}, err
}

// openStore opens a file, or what the address of a PostgreSQL server names.
func openStore(where string, p *runtime.Protocol) (store.Store, error) {
	if strings.Contains(where, "://") {
		return postgres.OpenStore(where, "bench", p)
	}
	return sqlite.OpenStore(where, "bench", p)
}

// whole serves as an agent of its own does: all bindings by what a connection says first.
type whole struct{ *server.Server }

func (w whole) Serve(ln net.Listener) error { return w.Server.Serve(context.Background(), ln) }

type skill struct{ token string }

// run is what the emitted glue of a skill without schemas does, and the handler in one. It does not call Begin, as a
// skill that may answer with a message does not.
func (s skill) run(ctx context.Context, t *server.Task, _ any) ([]byte, error) {
	cmd := work.Parse(t.Text())
	if cmd.Kind == work.Message {
		return nil, t.Reply(runtime.Text(work.Reply(s.token)))
	}
	if err := t.Progress(work.Working); err != nil {
		return nil, err
	}
	switch cmd.Kind {
	case work.Task:
		return nil, t.Artifact(work.ArtifactName, runtime.Text(work.Reply(s.token)))
	case work.Stream, work.Paced, work.Burst:
		return nil, s.stream(t, cmd)
	case work.Hold:
		<-ctx.Done()
		return nil, context.Cause(ctx)
	}
	return nil, errors.New("unknown command")
}

// stream writes an artifact in chunks.
func (s skill) stream(t *server.Task, cmd work.Command) error {
	w := t.Stream(work.ArtifactName)
	for i := range cmd.N {
		if _, err := w.WriteString(work.Chunk(s.token, i)); err != nil {
			return err
		}
		cmd.Rest()
	}
	return w.Close()
}
