package grpcserver_test

import (
	"context"
	"slices"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	reflectionpb "google.golang.org/grpc/reflection/grpc_reflection_v1"
	reflectionalphapb "google.golang.org/grpc/reflection/grpc_reflection_v1alpha"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/a2agen/a2agen/runtime/server"
	"github.com/a2agen/a2agen/runtime/server/grpcserver"
)

// plain connects as a client does whose messages protobuf's own library writes.
func (a *agent) plain(opts ...grpc.DialOption) *grpc.ClientConn {
	a.t.Helper()
	c, err := grpc.NewClient("passthrough:///"+a.addr, append(opts, grpc.WithTransportCredentials(insecure.NewCredentials()))...)
	if err != nil {
		a.t.Fatal(err)
	}
	a.t.Cleanup(func() { _ = c.Close() })
	return c
}

// Health is that of the server: it says so before it goes.
func TestHealthFollowsTheServer(t *testing.T) {
	a := start(t, []server.Skill{echo()})
	c := healthpb.NewHealthClient(a.plain())
	for service, want := range map[string]codes.Code{"": codes.OK, "lf.a2a.v1.A2AService": codes.OK, "a2a.v1.A2AService": codes.OK, "x": codes.NotFound} {
		got, err := c.Check(t.Context(), &healthpb.HealthCheckRequest{Service: service})
		if status.Code(err) != want || err == nil && got.GetStatus() != healthpb.HealthCheckResponse_SERVING {
			t.Errorf("%q: %v, %v", service, got, err)
		}
	}
	watch, err := c.Watch(context.Background(), &healthpb.HealthCheckRequest{})
	if err != nil {
		t.Fatal(err)
	}
	var seen []healthpb.HealthCheckResponse_ServingStatus
	for {
		got, err := watch.Recv()
		if err != nil {
			break
		}
		if seen = append(seen, got.GetStatus()); len(seen) == 1 {
			go a.stop()
		}
	}
	a.stop()
	if !slices.Equal(seen, []healthpb.HealthCheckResponse_ServingStatus{healthpb.HealthCheckResponse_SERVING, healthpb.HealthCheckResponse_NOT_SERVING}) {
		t.Errorf("%v", seen)
	}
}

// Tools find services and their messages by asking the agent, in the definition's own words.
func TestReflectionShowsTheDefinition(t *testing.T) {
	c := start(t, []server.Skill{echo()}).plain()
	st, err := reflectionpb.NewServerReflectionClient(c).ServerReflectionInfo(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ask := func(r *reflectionpb.ServerReflectionRequest) *reflectionpb.ServerReflectionResponse {
		t.Helper()
		if err := st.Send(r); err != nil {
			t.Fatal(err)
		}
		got, err := st.Recv()
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	list := ask(&reflectionpb.ServerReflectionRequest{MessageRequest: &reflectionpb.ServerReflectionRequest_ListServices{}})
	var services []string
	for _, s := range list.GetListServicesResponse().GetService() {
		services = append(services, s.GetName())
	}
	for _, want := range []string{"lf.a2a.v1.A2AService", "a2a.v1.A2AService", "grpc.health.v1.Health"} {
		if !slices.Contains(services, want) {
			t.Errorf("%s is not among %q", want, services)
		}
		files := ask(&reflectionpb.ServerReflectionRequest{
			MessageRequest: &reflectionpb.ServerReflectionRequest_FileContainingSymbol{FileContainingSymbol: want},
		}).GetFileDescriptorResponse().GetFileDescriptorProto()
		if !slices.ContainsFunc(files, func(b []byte) bool { return defines(t, b, want) }) {
			t.Errorf("%s is in none of %d files", want, len(files))
		}
	}
	if e := ask(&reflectionpb.ServerReflectionRequest{
		MessageRequest: &reflectionpb.ServerReflectionRequest_FileContainingSymbol{FileContainingSymbol: "lf.a2a.v1.Nothing"},
	}).GetErrorResponse(); codes.Code(e.GetErrorCode()) != codes.NotFound {
		t.Errorf("what is not there: %v", e)
	}
	old, err := reflectionalphapb.NewServerReflectionClient(c).ServerReflectionInfo(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	//lint:ignore SA1019 tools still ask for it
	if err := old.Send(&reflectionalphapb.ServerReflectionRequest{MessageRequest: &reflectionalphapb.ServerReflectionRequest_ListServices{}}); err != nil {
		t.Fatal(err)
	}
	//lint:ignore SA1019 tools still ask for it
	if got, err := old.Recv(); err != nil || len(got.GetListServicesResponse().GetService()) != len(services) {
		t.Errorf("v1alpha: %v, %v", got, err)
	}
}

// defines reports whether a file's descriptor has a service.
func defines(t *testing.T, file []byte, service string) bool {
	t.Helper()
	var f descriptorpb.FileDescriptorProto
	if err := proto.Unmarshal(file, &f); err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(f.GetService(), func(s *descriptorpb.ServiceDescriptorProto) bool {
		return f.GetPackage()+"."+s.GetName() == service && len(s.GetMethod()) > 1
	})
}

func TestReflectionMayBeHidden(t *testing.T) {
	c := start(t, []server.Skill{echo()}, grpcserver.Serve(grpcserver.WithoutReflection())).plain()
	st, err := reflectionpb.NewServerReflectionClient(c).ServerReflectionInfo(t.Context())
	if err == nil {
		_, err = st.Recv()
	}
	if status.Code(err) != codes.Unimplemented {
		t.Error(err)
	}
}
