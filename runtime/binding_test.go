package runtime

import "testing"

func TestRebasePutsInterfacesBehindTheBase(t *testing.T) {
	for name, test := range map[string]struct{ base, address, want string }{
		"another host":              {"https://agents.example.com", "http://localhost:8080/a2a", "https://agents.example.com/a2a"},
		"behind a path":             {"https://example.com/agents/weather/", "http://localhost:8080/a2a", "https://example.com/agents/weather/a2a"},
		"a bare path":               {"https://example.com", "/a2a", "https://example.com/a2a"},
		"no path":                   {"https://example.com/x", "http://localhost", "https://example.com/x"},
		"nothing":                   {"https://example.com", "", "https://example.com"},
		"a root path":               {"https://example.com", "http://localhost/", "https://example.com/"},
		"a query is kept":           {"https://example.com", "http://localhost/a?b=c", "https://example.com/a?b=c"},
		"escapes are kept":          {"https://example.com", "http://localhost/a%2Fb", "https://example.com/a%2Fb"},
		"an IPv6 base":              {"http://[::1]:8080", "/a", "http://[::1]:8080/a"},
		"a gRPC target stays":       {"https://example.com", "localhost:50051", "localhost:50051"},
		"a gRPC IP stays":           {"https://example.com", "10.0.0.1:50051", "10.0.0.1:50051"},
		"another scheme stays":      {"https://example.com", "dns:///x", "dns:///x"},
		"credentials stay":          {"https://example.com", "http://u:p@localhost/a", "http://u:p@localhost/a"},
		"a base that is no URL":     {"::", "http://localhost/a", "http://localhost/a"},
		"a base that is not HTTP":   {"ftp://example.com", "http://localhost/a", "http://localhost/a"},
		"a base without a host":     {"/x", "http://localhost/a", "http://localhost/a"},
		"an address that is no URL": {"https://example.com", "http://[", "http://["},
	} {
		if got := Rebase(test.base, Interface{URL: test.address, Binding: BindingJSONRPC}); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

// T70: each binding has its own form of an address.
func TestRebaseWritesAddressesAsTheirBindingDoes(t *testing.T) {
	for name, test := range map[string]struct{ base, binding, address, want string }{
		"HTTP+JSON at the root":       {"https://example.com", BindingHTTP, "/", "https://example.com"},
		"HTTP+JSON behind a path":     {"https://example.com/x/", BindingHTTP, "/", "https://example.com/x"},
		"gRPC":                        {"http://example.com:8080", BindingGRPC, "/", "example.com:8080"},
		"gRPC behind TLS":             {"https://example.com/x", BindingGRPC, "/", "example.com:443"},
		"gRPC in clear text":          {"http://example.com", BindingGRPC, "/", "example.com:80"},
		"gRPC at an IPv6 address":     {"http://[::1]:8080", BindingGRPC, "/", "[::1]:8080"},
		"gRPC as a URL stays a URL":   {"https://example.com", BindingGRPC, "http://localhost", "https://example.com"},
		"gRPC somewhere else":         {"https://example.com", BindingGRPC, "grpc.example.com:443", "grpc.example.com:443"},
		"gRPC by another name scheme": {"https://example.com", BindingGRPC, "dns:///grpc.example.com", "dns:///grpc.example.com"},
	} {
		if got := Rebase(test.base, Interface{URL: test.address, Binding: test.binding}); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}
