//go:build unix

package grpcserver_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"google.golang.org/grpc"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/server"
)

func task() server.Skill {
	return run("work", func(_ context.Context, t *server.Task) (string, error) {
		if err := t.Progress("on it"); err != nil {
			return "", err
		}
		return "done", nil
	})
}

// processorTime is that of the whole process, in nanoseconds: what other programs do to the machine shows less in it.
func processorTime() int64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return u.Utime.Nano() + u.Stime.Nano()
}

// connections is how many clients call at a time.
const connections = 16

// parallel runs calls over several connections.
func parallel(b *testing.B, call func(client int) error) {
	b.SetParallelism(connections / 2)
	b.ReportAllocs()
	var n atomic.Int32
	b.ResetTimer()
	before := processorTime()
	defer func() { b.ReportMetric(float64(processorTime()-before)/float64(b.N), "cpu-ns/op") }()
	b.RunParallel(func(pb *testing.PB) {
		client := int(n.Add(1)) % connections
		for pb.Next() {
			if err := call(client); err != nil {
				b.Error(err)
				return
			}
		}
	})
}

// A call costs client and server together here; that of JSON-RPC over net/http is beside it.
func BenchmarkGRPC(b *testing.B) {
	for name, skill := range map[string]server.Skill{"message": echo(), "task": task()} {
		for kind, width := range map[string]int{"16 connections": connections, "one": 1} {
			b.Run(name+"/"+kind, func(b *testing.B) {
				a := start(b, []server.Skill{skill})
				op := operation(b, "1.0", runtime.RoleSend)
				in, err := op.AppendRequest(nil, message("hello there, how are you?"))
				if err != nil {
					b.Fatal(err)
				}
				var clients []*grpc.ClientConn
				for range width {
					clients = append(clients, a.dial())
				}
				parallel(b, func(i int) error {
					var out []byte
					return clients[i%width].Invoke(b.Context(), op.GRPC, &in, &out)
				})
			})
		}
	}
}

func BenchmarkJSONRPC(b *testing.B) {
	for name, skill := range map[string]server.Skill{"message": echo(), "task": task()} {
		b.Run(name, func(b *testing.B) {
			a := start(b, []server.Skill{skill})
			web := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: connections}}
			defer web.CloseIdleConnections()
			parallel(b, func(int) error {
				resp, err := web.Post("http://"+a.addr+"/rpc", "application/json", strings.NewReader(rpcBody))
				if err != nil {
					return err
				}
				_, err = io.Copy(io.Discard, resp.Body)
				_ = resp.Body.Close()
				return err
			})
		})
	}
}
