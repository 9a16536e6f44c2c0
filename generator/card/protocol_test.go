package card

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/a2agen/a2agen/generator/shape"
	"github.com/a2agen/a2agen/internal/test/official"
	"github.com/a2agen/a2agen/spec"
)

// TestDeclarationFollowsTheProtocolDefinition compares every declared object with its message in the shipped 1.0
// definition: the same keys, but for our own and for what a user cannot write, and nothing optional that A2A requires
// unless there is a default for it.
func TestDeclarationFollowsTheProtocolDefinition(t *testing.T) {
	doc, err := spec.Shipped("1.0")
	if err != nil {
		t.Fatal(err)
	}
	flowOf := func(key string) *shape.Object { return oauthFlows.Field(key).Type.Object }
	tests := []struct {
		message    string
		object     *shape.Object
		more, less []string
	}{
		{"AgentCard", agentCard, []string{"extended"}, []string{"signatures"}},
		{"AgentSkill", skill, []string{"input", "output", "timeout", "maxConcurrent", "onCrash", "default"}, nil},
		{"AgentInterface", agentInterface, nil, nil},
		{"AgentProvider", provider, nil, nil},
		{"AgentCapabilities", capabilities, nil, nil},
		{"AgentExtension", extension, []string{"name", "key", "always", "methods", "carries"}, nil},
		{"SecurityScheme", securityScheme, nil, nil},
		{"APIKeySecurityScheme", apiKey, nil, nil},
		{"HTTPAuthSecurityScheme", httpAuth, nil, nil},
		{"OAuth2SecurityScheme", oauth2, nil, nil},
		{"OpenIdConnectSecurityScheme", openID, nil, nil},
		{"MutualTlsSecurityScheme", mtls, nil, nil},
		{"OAuthFlows", oauthFlows, nil, nil},
		{"AuthorizationCodeOAuthFlow", flowOf("authorizationCode"), nil, nil},
		{"ClientCredentialsOAuthFlow", flowOf("clientCredentials"), nil, nil},
		{"DeviceCodeOAuthFlow", flowOf("deviceCode"), nil, nil},
		{"ImplicitOAuthFlow", flowOf("implicit"), nil, nil},
		{"PasswordOAuthFlow", flowOf("password"), nil, nil},
		{"SecurityRequirement", securityRequirement, nil, nil},
		{"StringList", scopeList, nil, nil},
	}
	for _, tt := range tests {
		t.Run(tt.message, func(t *testing.T) {
			i := slices.IndexFunc(doc.Messages, func(m *spec.Message) bool { return m.Name == tt.message })
			if i < 0 {
				t.Fatal("no such message")
			}
			want := append([]string(nil), tt.more...)
			for _, f := range doc.Messages[i].Fields {
				if slices.Contains(tt.less, f.JSON) {
					continue
				}
				want = append(want, f.JSON)
				if d := tt.object.Field(f.JSON); d != nil && f.Required && !d.Required && d.Default == "" {
					t.Errorf("%s is required by A2A and has no default", f.JSON)
				}
			}
			got := tt.object.Keys()
			slices.Sort(want)
			slices.Sort(got)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("keys (-want +got):\n%s", diff)
			}
		})
	}
}

// TestCardsOfTheSpecificationsImport reads the sample cards that the specifications of all versions print.
func TestCardsOfTheSpecificationsImport(t *testing.T) {
	samples := official.Folder(t, "samples")
	tests := []struct {
		pattern, origin    string
		interfaces, skills int
	}{
		{"v0.1.0/5.6-01-*", "0.1", 1, 2},
		{"v0.2.0/5.6-01-*", "0.3", 1, 2}, // nothing in the card says 0.2
		{"v0.2.6/5.6-01-*", "0.2", 3, 2},
		{"v0.3.0/5.7-01-*", "0.3", 3, 2},
		{"v1.0.1/8.5-01-*", "1.0", 3, 2}, // with security instead of securityRequirements, T4
		{"v1.0.1/topic-extensions-0-01-*", "0.3", 1, 1},
	}
	for _, tt := range tests {
		t.Run(tt.pattern, func(t *testing.T) {
			paths, err := filepath.Glob(filepath.Join(samples, tt.pattern))
			if err != nil || len(paths) != 1 {
				t.Fatalf("%v: %v", paths, err)
			}
			data, err := os.ReadFile(paths[0])
			if err != nil {
				t.Fatal(err)
			}
			var sample struct{ Body json.RawMessage }
			if err := json.Unmarshal(data, &sample); err != nil {
				t.Fatal(err)
			}
			c, list := Import("card.json", sample.Body)
			if list.HasErrors() {
				t.Fatal(list)
			}
			if c.Origin != tt.origin || len(c.Skills) != tt.skills || len(itemsOf(c, "supportedInterfaces")) != tt.interfaces {
				t.Errorf("origin %s, %d skills, %d interfaces", c.Origin, len(c.Skills), len(itemsOf(c, "supportedInterfaces")))
			}
			if _, list := Read("agent.yaml", scaffolded(c), noFiles); len(list) > 0 {
				t.Errorf("its scaffold:\n%s", printed(t, list))
			}
		})
	}
}
