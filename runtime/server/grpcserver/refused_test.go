package grpcserver_test

import (
	"strings"
	"testing"

	"github.com/a2agen/a2agen/a2a"
	"github.com/a2agen/a2agen/runtime/server"
	"github.com/a2agen/a2agen/runtime/server/grpcserver"
)

func TestAServerWithoutAVersionInProtobufIsAnErrorAndNoPanic(t *testing.T) {
	p := a2a.Protocol()
	card, err := p.DecodeCard([]byte(testCard))
	if err != nil {
		t.Fatal(err)
	}
	_, err = server.New(server.Config{Protocol: p, Card: card}, grpcserver.Serve())
	if err == nil || !strings.Contains(err.Error(), "no spoken version has a protobuf encoding") {
		t.Errorf("error %v", err)
	}
}
