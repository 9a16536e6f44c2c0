package grpcserver

import (
	"sync"

	_ "google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/reflection"
	reflectionpb "google.golang.org/grpc/reflection/grpc_reflection_v1"
	reflectionalphapb "google.golang.org/grpc/reflection/grpc_reflection_v1alpha"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/a2agen/a2agen/runtime"
)

// The services that gRPC itself has for every server.

// addHealth adds the service by which balancers and probes ask whether the agent is ready, as a whole or by service.
func (t *transport) addHealth(services []*grpc.ServiceDesc) {
	t.health = health.NewServer()
	set := func(s healthpb.HealthCheckResponse_ServingStatus) {
		t.health.SetServingStatus("", s)
		for _, desc := range services {
			t.health.SetServingStatus(desc.ServiceName, s)
		}
	}
	set(healthpb.HealthCheckResponse_SERVING)
	t.agent.WatchReady(func(ready bool) {
		if ready {
			set(healthpb.HealthCheckResponse_SERVING)
		} else {
			set(healthpb.HealthCheckResponse_NOT_SERVING)
		}
	})
	t.grpc.RegisterService(t.within(healthpb.Health_ServiceDesc, true), t.health)
}

// addReflection adds the service by which tools ask what there is to call: in its two versions, because tools know one
// or the other.
func (t *transport) addReflection() {
	o := reflection.ServerOptions{Services: t.grpc, DescriptorResolver: &definitions{t: t}}
	t.grpc.RegisterService(t.within(reflectionpb.ServerReflection_ServiceDesc, false), reflection.NewServerV1(o))
	t.grpc.RegisterService(t.within(reflectionalphapb.ServerReflection_ServiceDesc, false), reflection.NewServer(o))
}

// definitions finds descriptors in the definitions of the spoken versions, and in those of built-in services. They are
// read at the first request.
type definitions struct {
	t    *transport
	once sync.Once
	ours *protoregistry.Files
}

func (d *definitions) files() *protoregistry.Files {
	d.once.Do(func() {
		var err error
		if d.ours, err = d.t.read(); err != nil {
			d.t.agent.Logger.Error("the definition cannot be shown", "error", err)
			d.ours = new(protoregistry.Files)
		}
	})
	return d.ours
}

// FindFileByPath finds a file by the name under which it is imported.
func (d *definitions) FindFileByPath(path string) (protoreflect.FileDescriptor, error) {
	if f, err := d.files().FindFileByPath(path); err == nil {
		return f, nil
	}
	return protoregistry.GlobalFiles.FindFileByPath(path)
}

// FindDescriptorByName finds a service, method, message, field or enum.
func (d *definitions) FindDescriptorByName(name protoreflect.FullName) (protoreflect.Descriptor, error) {
	if f, err := d.files().FindDescriptorByName(name); err == nil {
		return f, nil
	}
	return protoregistry.GlobalFiles.FindDescriptorByName(name)
}

// read reads the definitions of the spoken versions. They may import the same files.
func (t *transport) read() (*protoregistry.Files, error) {
	var all descriptorpb.FileDescriptorSet
	seen := map[string]bool{}
	for _, v := range t.agent.Versions() {
		for _, w := range v.Wires {
			if w.Encoding != runtime.EncodingProto {
				continue
			}
			var set descriptorpb.FileDescriptorSet
			if err := proto.Unmarshal([]byte(w.Descriptor), &set); err != nil {
				return nil, err
			}
			for _, f := range set.GetFile() {
				if !seen[f.GetName()] {
					seen[f.GetName()] = true
					all.File = append(all.File, f)
				}
			}
		}
	}
	return protodesc.NewFiles(&all)
}
