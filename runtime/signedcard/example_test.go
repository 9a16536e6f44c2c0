package signedcard_test

import (
	"context"
	"fmt"

	"github.com/a2agen/a2agen/runtime/signedcard"
)

// A publisher signs a card, and who has its public key verifies it.
func Example() {
	key, err := signedcard.NewKey("ES256")
	if err != nil {
		panic(err)
	}
	signed, err := key.Sign([]byte(`{"name": "Vault", "description": "Keeps things.", "version": "1.0",
		"supportedInterfaces": [{"url": "https://vault.example.com/", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}],
		"capabilities": {"streaming": true}, "defaultInputModes": ["text/plain"], "defaultOutputModes": ["text/plain"], "skills": []}`))
	if err != nil {
		panic(err)
	}

	jwks, err := key.Public(nil)
	if err != nil {
		panic(err)
	}
	v, err := signedcard.NewVerifier(signedcard.Config{Keys: jwks, Strict: true})
	if err != nil {
		panic(err)
	}
	card, err := v.Verify(context.Background(), signed)
	if err != nil {
		panic(err)
	}
	fmt.Println(card.Form, card.KeyID == key.ID())
	// Output: presence true
}
