package generator

import (
	"bytes"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/a2agen/a2agen/generator/config"
	"github.com/a2agen/a2agen/generator/emit"
	"github.com/a2agen/a2agen/internal/test/projecttest"
)

func TestTheCarriedProtocolPackagesAreWhatWouldBeEmitted(t *testing.T) {
	for _, carried := range CarriedPackages() {
		c := config.Default()
		c.Protocol = nil
		for _, v := range carried.Versions {
			c.Protocol = append(c.Protocol, config.Protocol{Version: v})
		}
		if !slices.Equal(shippedWires(c), carried.Encodings) {
			t.Errorf("%s: an agent that does not say needs %v", carried.Folder, shippedWires(c))
		}
		p, list := new(generation).loadProtocol(c)
		if list.HasErrors() {
			t.Fatal(list)
		}
		want, err := emit.ProtocolPackage(p.protocol, emit.Paths{Protocol: "example.com/weather/a2a"})
		if err != nil {
			t.Fatal(err)
		}
		b := p.protocol.Bindings
		if got := carriedBindings; got.Task.Go != b.Task.Go || got.Message.Go != b.Message.Go || got.AgentCard.Go != b.AgentCard.Go {
			t.Errorf("%s: the carried types have other names", carried.Folder)
		}
		methods := slices.Sorted(slices.Values(p.protocol.ClientMethods))
		if got := slices.Sorted(slices.Values(carriedMethods(carried.Folder))); !slices.Equal(got, methods) {
			t.Errorf("%s: the client has the methods %v, not %v", carried.Folder, got, methods)
		}
		files, err := carriedPackage(carried.Folder, "example.com/weather/a2a")
		if err != nil {
			t.Fatal(err)
		}
		got := map[string][]byte{}
		for _, f := range files {
			got[f.Path] = f.Data
		}
		if len(got) != len(want) {
			t.Errorf("%s: %d files are carried, %d emitted", carried.Folder, len(got), len(want))
		}
		for _, f := range want {
			if !bytes.Equal(got[f.Path], f.Data) {
				t.Errorf("%s: the carried %s is stale: run go generate ./a2a", carried.Folder, f.Path)
			}
		}
	}
}

func TestTheWholeModelChangesNoFile(t *testing.T) {
	in := inputs(map[string]string{"agent.yaml": projecttest.Skills(10)})
	part, list := Generate(t.Context(), in)
	if list.HasErrors() {
		t.Fatal(list)
	}
	in.Whole = true
	whole, list := Generate(t.Context(), in)
	if list.HasErrors() {
		t.Fatal(list)
	}
	if len(whole.Model.Protocol.Types) == 0 || len(whole.Model.Protocol.Versions) == 0 {
		t.Error("the whole model lacks the protocol")
	}
	if len(part.Files) != len(whole.Files) {
		t.Fatalf("%d files, %d from the whole model", len(part.Files), len(whole.Files))
	}
	for i, f := range part.Files {
		if w := whole.Files[i]; w.Path != f.Path || !bytes.Equal(w.Data, f.Data) {
			t.Errorf("%s differs when the model is whole", f.Path)
		}
	}
}

func TestAProtocolPackageOfAnotherNameIsEmitted(t *testing.T) {
	in := inputs(map[string]string{"agent.yaml": projecttest.Skills(10), "a2agen.yaml": "packages: {protocol: wire/protocol}\n"})
	out, list := Generate(t.Context(), in)
	if list.HasErrors() {
		t.Fatal(list)
	}
	n := 0
	for _, f := range out.Files {
		if strings.HasPrefix(f.Path, "wire/protocol/") {
			n++
			want := path.Base(path.Dir(f.Path)) // "protocol", or "a2aclient" in it
			if !bytes.Contains(f.Data, []byte("\npackage "+want+"\n")) {
				t.Errorf("%s is not of package %s", f.Path, want)
			}
		}
	}
	if n == 0 {
		t.Error("there is no protocol package")
	}
}
