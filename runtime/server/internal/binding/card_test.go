package binding

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/a2agen/a2agen/a2a"
)

// T70: the card says of each binding where it is in the form that its clients take; that of gRPC can be a URL.
func TestTheCardWritesAddressesAsTheirBindingsDo(t *testing.T) {
	card, err := a2a.Protocol().DecodeCard([]byte(`{"name":"x","description":"x","version":"1","capabilities":{},"defaultInputModes":[],"defaultOutputModes":[],
		"skills":[],"supportedInterfaces":[{"url":"/","protocolBinding":"JSONRPC","protocolVersion":"1.0"},{"url":"/","protocolBinding":"HTTP+JSON","protocolVersion":"1.0"},
		{"url":"/","protocolBinding":"GRPC","protocolVersion":"1.0"},{"url":"grpc.example.com:443","protocolBinding":"GRPC","protocolVersion":"1.0"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		base string
		o    CardOptions
		want []string
	}{
		{"http://127.0.0.1:8080", CardOptions{}, []string{"http://127.0.0.1:8080/", "http://127.0.0.1:8080", "127.0.0.1:8080", "grpc.example.com:443"}},
		{"https://example.com/x", CardOptions{}, []string{"https://example.com/x/", "https://example.com/x", "example.com:443", "grpc.example.com:443"}},
		{"https://example.com/x", CardOptions{GRPCURL: true}, []string{"https://example.com/x/", "https://example.com/x", "https://example.com:443", "grpc.example.com:443"}},
	} {
		c := &Cards{CardOptions: test.o}
		var got []string
		for _, i := range c.under(test.base, card).CardInfo().Interfaces {
			got = append(got, i.URL)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("under %s (-want +got):\n%s", test.base, diff)
		}
	}
}
