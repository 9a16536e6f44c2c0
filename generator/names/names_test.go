package names

import (
	"go/build"
	"go/token"
	"io"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestGoSpellsExportedIdentifiersAsAGoProgrammerWould(t *testing.T) {
	for in, want := range map[string]string{
		"context_id": "ContextID", "context-id": "ContextID", "contextId": "ContextID", "context id": "ContextID", "ContextID": "ContextID",
		"reference_task_ids": "ReferenceTaskIDs", "userURLs": "UserURLs", "https_url": "HTTPSURL",
		"oauth2_metadata_url": "OAuth2MetadataURL", "oauth2MetadataUrl": "OAuth2MetadataURL", "mtls_security_scheme": "MTLSSecurityScheme",
		"OAuth2SecurityScheme": "OAuth2SecurityScheme", "OAuthFlows": "OAuthFlows", "APIKeySecurityScheme": "APIKeySecurityScheme",
		"MutualTlsSecurityScheme": "MutualTLSSecurityScheme", "OpenIdConnectSecurityScheme": "OpenIDConnectSecurityScheme",
		"HTTPAuthSecurityScheme": "HTTPAuthSecurityScheme", "A2AService": "A2AService", "jsonSchema": "JSONSchema", "ui_mode": "UIMode",
		"TASK_STATE_INPUT_REQUIRED": "TaskStateInputRequired", "EMEA": "EMEA", "EMEA_SOUTH": "EMEASouth", "about_us": "AboutUs", "USD": "USD", "pin": "Pin", "int32Value": "Int32Value", "pageSize2Max": "PageSize2Max", "plan-my_trip.now": "PlanMyTripNow",
		"type": "Type", "string": "String", "3d_model": "X3dModel", "_hidden": "Hidden", "": "X", "../../etc/passwd": "EtcPasswd", "a/b\\c": "ABC",
		"天气": "X天气", "prévision": "Prévision", "pre\u0301vision": "Prévision", "ｆｕｌｌ": "Full", "a\x00b\u202ec": "ABC", "\xff\xfe": "X", "😀": "X",
	} {
		if got := Go(in); got != want {
			t.Errorf("Go(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestFileBaseAvoidsNamesThatGoOrWindowsTreatSpecially(t *testing.T) {
	for in, want := range map[string]string{
		"Forecast-Daily": "forecast_daily", "weather_test": "weather_test_file", "weather_windows": "weather_windows_file", "Weather AMD64": "weather_amd64_file",
		"run.linux-arm64": "run_linux_arm64_file", "test": "test", "linux": "linux", "con": "con_file", "COM1": "com1_file", "../../etc/passwd": "etc_passwd",
		".hidden": "hidden", "_x": "x", "": "x", "天气": "u5929u6c14", "Prévision": "prevision", "a__b": "a_b", "userURLs": "user_urls", "doc.go": "doc_go",
	} {
		if got := FileBase(in); got != want {
			t.Errorf("FileBase(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestPackageNamesAreLowerCaseAndNeverReserved(t *testing.T) {
	for in, want := range map[string]string{
		"Weather-Bot": "weatherbot", "go": "gopkg", "internal": "internalpkg", "main": "mainpkg", "": "x", "3d": "x3d", "天气": "u5929u6c14", "string": "stringpkg",
	} {
		if got := Package(in); got != want {
			t.Errorf("Package(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestLongNamesAreCutButStayDifferent(t *testing.T) {
	long := strings.Repeat("word ", 2000)
	for name, f := range map[string]func(string) string{"Go": Go, "FileBase": FileBase, "Package": Package} {
		a, b := f(long+"a"), f(long+"b")
		if a == b {
			t.Errorf("%s: two long texts gave the same name %q", name, a)
		}
		if len(a) > maxName+len("_file") {
			t.Errorf("%s: %d bytes long", name, len(a))
		}
	}
}

func TestScopeNumbersCollisionsInOrder(t *testing.T) {
	s := NewScope("Task", "A2")
	var got []string
	for _, wanted := range []string{"Task", "AB", "AB", "AB", "AB2", "A2"} {
		got = append(got, s.Take(wanted))
	}
	if want := []string{"Task2", "AB", "AB2", "AB3", "AB2_2", "A2_2"}; !slices.Equal(got, want) {
		t.Errorf("names %v, want %v", got, want)
	}
}

func TestScopeNeverNumbersAFileNameIntoASpecialOne(t *testing.T) {
	s := NewScope("com")
	if got := s.Take("com"); special(got) {
		t.Errorf("took %q, which Windows reserves", got)
	}
}

func TestDistinctSourcesGetDistinctNames(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		scope, seen := NewScope(), map[string]bool{}
		for _, in := range rapid.SliceOf(rapid.StringMatching(`[aAbB_\-12 ]{0,4}`)).Draw(t, "sources") {
			name := scope.Take(Go(in))
			if seen[name] {
				t.Fatalf("%q was handed out twice", name)
			}
			seen[name] = true
			if !token.IsIdentifier(name) || !token.IsExported(name) {
				t.Fatalf("%q is not an exported identifier", name)
			}
		}
	})
}

func FuzzNamesAreSafeWhateverTheText(f *testing.F) {
	for _, s := range []string{"context_id", "", "../x", "a_test", "x_windows_amd64", "\xff", "天气", "İx", "ǆ", "ᾳ", "ŉ", "ﬁ_ßa", "type", "1", "ⅷ", "٣", "x\u0301", strings.Repeat("é", 100), "_ _", "CON", "①"} {
		f.Add(s)
	}
	contexts := []build.Context{build.Default, build.Default}
	contexts[0].GOOS, contexts[0].GOARCH = "windows", "amd64"
	contexts[1].GOOS, contexts[1].GOARCH = "linux", "arm64"
	f.Fuzz(func(t *testing.T, s string) {
		if name := Go(s); !token.IsExported(name) || !token.IsIdentifier(name) || len(name) > maxName {
			t.Errorf("Go(%q) = %q", s, name)
		}
		if name := Package(s); !token.IsIdentifier(name) || strings.ToLower(name) != name || len(name) > maxName || strings.Contains(name, "_") {
			t.Errorf("Package(%q) = %q", s, name)
		}
		name := FileBase(s)
		if !token.IsIdentifier("x"+name) || !isLowerASCII(name) || strings.HasPrefix(name, "_") || strings.HasSuffix(name, "_test") || special(name) {
			t.Errorf("FileBase(%q) = %q", s, name)
		}
		for _, c := range contexts {
			c.OpenFile = func(string) (io.ReadCloser, error) { return io.NopCloser(strings.NewReader("package x\n")), nil }
			for _, ext := range []string{".go", ".gen.go"} {
				if ok, err := c.MatchFile("d", name+ext); err != nil || !ok {
					t.Errorf("go build leaves out %s on %s/%s (%v)", name+ext, c.GOOS, c.GOARCH, err)
				}
			}
		}
	})
}

func isLowerASCII(s string) bool {
	return s != "" && utf8.ValidString(s) && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789_") == ""
}
