package grpcserver_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/auth"
	"github.com/a2agen/a2agen/runtime/server"
)

// authCard demands a token, and for the skill "run" the scope "run".
var authCard = strings.Replace(testCard, `"skills":[]`, `"securitySchemes":{"idp":{"httpAuthSecurityScheme":{"scheme":"bearer"}},
	"key":{"apiKeySecurityScheme":{"location":"query","name":"key"}}},
	"securityRequirements":[{"schemes":{"idp":{"list":[]}}},{"schemes":{"key":{"list":[]}}}],
	"skills":[{"id":"run","name":"run","description":"","tags":[],"securityRequirements":[{"schemes":{"idp":{"list":["run"]}}}]}]`, 1)

func guards() server.Option {
	return server.WithAuth(auth.Verifiers{"key": auth.Keys(auth.Key{Caller: "ci", SHA256: auth.HashKey("secret")}), "idp": auth.Func(
		func(_ context.Context, c auth.Credential) (auth.Caller, error) {
			switch c.Value {
			case "ann":
				return auth.Caller{ID: "ann", Scopes: []string{"run"}}, nil
			case "brief":
				return auth.Caller{ID: "brief", Scopes: []string{"run"}, Expires: time.Now().Add(100 * time.Millisecond)}, nil
			case "eve", "bob":
				return auth.Caller{ID: c.Value}, nil
			case "down":
				return auth.Caller{}, &auth.Unavailable{Err: errors.New("no answer")}
			}
			return auth.Caller{}, auth.ErrWrong
		})})
}

// TestCallsWantWhatTheCardDemands: codes 16, 7 and 14, with the challenges as metadata.
func TestCallsWantWhatTheCardDemands(t *testing.T) {
	a := startCard(t, authCard, []server.Skill{run("run", func(ctx context.Context, _ *server.Task) (string, error) {
		return server.CallerFrom(ctx).ID, nil
	})}, guards())
	c := a.dial()
	challenge := func(params string) string {
		return `Bearer realm="Test"` + params + `|ApiKey realm="Test", in="query", name="key"`
	}
	for name, tt := range map[string]struct {
		md   []string
		code codes.Code
		want string
	}{
		"none":        {nil, codes.Unauthenticated, challenge("")},
		"wrong":       {[]string{"authorization", "Bearer nobody"}, codes.Unauthenticated, challenge(`, error="invalid_token"`)},
		"twice":       {[]string{"authorization", "Bearer ann", "authorization", "Bearer ann"}, codes.Unauthenticated, challenge(`, error="invalid_request"`)},
		"binary":      {[]string{"authorization-bin", "Bearer ann"}, codes.Unauthenticated, challenge("")},
		"a query's":   {[]string{"key", "secret"}, codes.Unauthenticated, challenge("")},
		"without":     {[]string{"authorization", "Bearer eve"}, codes.PermissionDenied, `Bearer realm="Test", error="insufficient_scope", scope="run"`},
		"unavailable": {[]string{"authorization", "Bearer down"}, codes.Unavailable, ""},
		"upper case":  {[]string{"AUTHORIZATION", "BEARER ann"}, codes.OK, ""},
		"right":       {[]string{"authorization", "Bearer ann"}, codes.OK, ""},
	} {
		for _, role := range []runtime.Role{runtime.RoleSend, runtime.RoleStream} {
			ctx := metadata.AppendToOutgoingContext(t.Context(), tt.md...)
			var trailer metadata.MD
			var err error
			if role == runtime.RoleSend {
				_, err = send(ctx, c, operation(t, "1.0", role), message("go"), grpc.Trailer(&trailer))
			} else {
				st := open(ctx, t, c, "1.0", role, message("go"))
				_, err = st.rest()
				trailer = st.Trailer()
			}
			if status.Code(err) != tt.code || strings.Join(trailer["www-authenticate"], "|") != tt.want {
				t.Errorf("%d %s: %v %q", role, name, err, trailer["www-authenticate"])
			}
		}
	}
}

// TestAStreamEndsWithItsCredential, with code OK.
func TestAStreamEndsWithItsCredential(t *testing.T) {
	a := startCard(t, authCard, []server.Skill{run("run", func(ctx context.Context, t *server.Task) (string, error) {
		if err := t.Progress("on it"); err != nil {
			return "", err
		}
		select {
		case <-ctx.Done():
		case <-time.After(5 * time.Second):
		}
		return "", nil
	})}, guards(), server.WithStreamGrace(0), server.WithLimits(server.Limits{Grace: 50 * time.Millisecond}))
	ctx := metadata.AppendToOutgoingContext(t.Context(), "authorization", "Bearer brief")
	began := time.Now()
	_, err := open(ctx, t, a.dial(), "1.0", runtime.RoleStream, message("go")).rest()
	if took := time.Since(began); err != nil || took > 4*time.Second {
		t.Errorf("after %v: %v", took, err)
	}
}
