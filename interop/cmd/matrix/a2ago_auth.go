package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"os"
	"strings"

	old "github.com/a2aproject/a2a-go/a2a"
	oldclient "github.com/a2aproject/a2a-go/a2aclient"
	oldcard "github.com/a2aproject/a2a-go/a2aclient/agentcard"
	sdk "github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2aclient"
	"github.com/a2aproject/a2a-go/v2/a2aclient/agentcard"
	"github.com/a2aproject/a2a-go/v2/a2acompat/a2av0"
	grpcv0 "github.com/a2aproject/a2a-go/v2/a2agrpc/v0"
	grpcv1 "github.com/a2aproject/a2a-go/v2/a2agrpc/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/a2agen/a2agen/interop/internal/desk"
)

// session is the one whose credentials the SDKs find.
const session = "mine"

// connections are how an attempt reaches an agent: the client of HTTP and the option of gRPC that it is given.
func (a *attempt) connections() (*http.Client, grpc.DialOption, error) {
	if a.CA == "" {
		return &http.Client{Transport: http.DefaultTransport}, grpc.WithTransportCredentials(insecure.NewCredentials()), nil
	}
	pem, err := os.ReadFile(a.CA)
	if err != nil {
		return nil, nil, err
	}
	config := &tls.Config{RootCAs: x509.NewCertPool()}
	config.RootCAs.AppendCertsFromPEM(pem)
	if a.Cert != "" {
		shown, err := tls.LoadX509KeyPair(a.Cert, a.Key)
		if err != nil {
			return nil, nil, err
		}
		// Whatever authorities the agent names: Go would keep the certificate of another one to itself.
		config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &shown, nil }
	}
	return &http.Client{Transport: &http.Transport{TLSClientConfig: config, DisableKeepAlives: true}},
		grpc.WithTransportCredentials(credentials.NewTLS(config)), nil
}

// goCaller is the official Go SDK of 1.0 with its hook for credentials.
type goCaller struct{}

// Try makes an attempt.
func (goCaller) Try(ctx context.Context, a *attempt) *desk.Answer {
	answer, err := goTry(ctx, a)
	if err != nil {
		return &desk.Answer{Error: goReason(err)}
	}
	return answer
}

func goTry(ctx context.Context, a *attempt) (*desk.Answer, error) {
	web, dial, err := a.connections()
	if err != nil {
		return nil, err
	}
	resolver := &agentcard.Resolver{Client: web}
	if a.Version == "0.3" {
		resolver.CardParser = a2av0.NewAgentCardParser()
	}
	card, err := resolver.Resolve(ctx, a.URL)
	if err != nil {
		return nil, err
	}
	var kept []*sdk.AgentInterface
	for _, i := range card.SupportedInterfaces {
		if string(i.ProtocolBinding) == a.Binding && strings.HasPrefix(string(i.ProtocolVersion), a.Version) {
			kept = append(kept, i)
		}
	}
	card.SupportedInterfaces = kept
	store := a2aclient.NewInMemoryCredentialsStore()
	for scheme, secret := range a.Secrets {
		store.Set(session, sdk.SecuritySchemeName(scheme), a2aclient.AuthCredential(secret))
	}
	c, err := a2aclient.NewFromCard(ctx, card, a2aclient.WithCallInterceptors(&a2aclient.AuthInterceptor{Service: store}),
		a2aclient.WithJSONRPCTransport(web), a2aclient.WithRESTTransport(web), grpcv1.WithGRPCTransport(dial),
		a2aclient.WithCompatTransport(a2av0.Version, sdk.TransportProtocolGRPC, grpcv0.NewGRPCTransportFactory(dial)),
		a2av0.WithJSONRPCTransport(a2av0.JSONRPCTransportConfig{Client: web}), a2av0.WithRESTTransport(a2av0.RESTTransportConfig{Client: web}))
	if err != nil {
		return nil, err
	}
	defer func() { _ = c.Destroy() }()
	op := desk.Send
	if a.Stream {
		op = desk.Stream
	}
	return (&goClient{c, card}).do(a2aclient.AttachSessionID(ctx, session), &desk.Ask{Op: op, Parts: desk.Say(a.say())})
}

// oldCaller is the official Go SDK of 0.3 with its hook for credentials.
type oldCaller struct{}

// Try makes an attempt.
func (oldCaller) Try(ctx context.Context, a *attempt) *desk.Answer {
	answer, err := oldTry(ctx, a)
	if err != nil {
		return &desk.Answer{Error: oldReason(err)}
	}
	return answer
}

func oldTry(ctx context.Context, a *attempt) (*desk.Answer, error) {
	web, dial, err := a.connections()
	if err != nil {
		return nil, err
	}
	card, err := oldcard.NewResolver(web).Resolve(ctx, a.URL)
	if err != nil {
		return nil, err
	}
	store := oldclient.NewInMemoryCredentialsStore()
	for scheme, secret := range a.Secrets {
		store.Set(session, old.SecuritySchemeName(scheme), oldclient.AuthCredential(secret))
	}
	transport := oldclient.WithJSONRPCTransport(web)
	if a.Binding == grpcBinding {
		transport = oldclient.WithGRPCTransport(dial)
	}
	c, err := oldclient.NewFromCard(ctx, card, oldclient.WithDefaultsDisabled(), transport,
		oldclient.WithInterceptors(&oldclient.AuthInterceptor{Service: store}))
	if err != nil {
		return nil, err
	}
	defer func() { _ = c.Destroy() }()
	op := desk.Send
	if a.Stream {
		op = desk.Stream
	}
	return (&oldClient{c, card, a.Binding}).do(oldclient.WithSessionID(ctx, session), &desk.Ask{Op: op, Parts: desk.Say(a.say())})
}
