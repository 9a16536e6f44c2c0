package merge

import "testing"

func TestKeysKeepsWhatIsSaidAndAddsWhatIsNew(t *testing.T) {
	const (
		head = "# schema\n# What is generated.\n\n"
		base = head + "# Versions.\nprotocol: [\"1.0\"]\n# The card.\ncard: agent.yaml\n"
		now  = head + "# Versions, newest first.\nprotocol: [\"1.0\"]\n# How.\nbindings: [JSONRPC]\n# The card.\ncard: agent.yaml\nstore: memory\n"
	)
	tests := map[string]struct{ ours, want string }{
		"nothing was edited": {base, now},
		"the line above the new one": {
			head + "# Versions.\nprotocol: [\"1.0\", \"0.3\"]\n# The card.\ncard: agent.yaml\n",
			head + "# Versions, newest first.\nprotocol: [\"1.0\", \"0.3\"]\n# How.\nbindings: [JSONRPC]\n# The card.\ncard: agent.yaml\nstore: memory\n",
		},
		"in several lines, with a comment of one's own": {
			head + "# Mine.\nprotocol:\n  - \"1.0\"\n  # and\n  - \"0.3\"\n# The card.\ncard: other.yaml\n\nclients: []\n",
			head + "# Mine.\nprotocol:\n  - \"1.0\"\n  # and\n  - \"0.3\"\n# How.\nbindings: [JSONRPC]\n# The card.\ncard: other.yaml\nstore: memory\n\nclients: []\n",
		},
		"the new key was there":     {"bindings: [GRPC]\nprotocol: [\"1.0\"]\n", "bindings: [GRPC]\nstore: memory\nprotocol: [\"1.0\"]\n"},
		"a key was deleted":         {head + "# Versions.\nprotocol: [\"1.0\"]\n", head + "# Versions, newest first.\nprotocol: [\"1.0\"]\n# How.\nbindings: [JSONRPC]\nstore: memory\n"},
		"nothing is left":           {"", "# How.\nbindings: [JSONRPC]\nstore: memory\n"},
		"another system's line end": {"protocol: [\"1.0\"]\r\n", "protocol: [\"1.0\"]\r\n# How.\r\nbindings: [JSONRPC]\r\nstore: memory\r\n"},
		"no line end":               {"protocol: [\"1.0\"]", "protocol: [\"1.0\"]\n# How.\nbindings: [JSONRPC]\nstore: memory\n"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := string(Keys([]byte(base), []byte(tt.ours), []byte(now)))
			if got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
			if again := string(Keys([]byte(now), []byte(got), []byte(now))); again != got {
				t.Errorf("a second merge gives\n%s", again)
			}
		})
	}
}
