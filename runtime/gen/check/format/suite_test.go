package format

import (
	"strconv"
	"strings"
	"testing"
)

// Cases of the official suite of JSON Schema that came after the state which docs/decisions/06-schemas-and-contracts.md counts.
func TestFormatsOfTheNewestSuite(t *testing.T) {
	for format, cases := range map[string]map[string]bool{
		"time": {
			"12:34:56-00:00": true, "08:30:06z": true, "23:29:60+23:30": true, "08:30:06+0130": false, "08:30:06+01": false, "08:30:06Z\n": false, "24:59:00+01:00": false,
			"01:02:03Z+00:30": false, "08:30:06#00:20": false, "1২:00:00Z": false, "01:01:01,1111": false, "008:030:006Z": false, "8:0030:6Z": false,
		},
		"uri": {
			"http://-.~_!$&'()*+,;=:%40:80%2f::::::@example.com": true, "http://087.10.0.1/": true, "http://999.999.999.999/": true, "http://a.com:": true, "http://a.com:999999999": true,
			"http://:80": true, "http://@a.com": true, "http://user@": true, "http://!$&'()*+,;=.com": true, "http://example.com.": true, "http://exa~mple.com/": true, "http://under_score.com/": true,
			"ldap://[2001:db8::7]/c=GB?objectClass?one": true, "http://a.com:8:0": false, "http://a.com::": false, "1http://example.com": false, "ht_tp://example.com": false,
			"http://example.com:abc/path": false, "http://example.com/%6G": false, "http://example.com/%A": false, "http://example.com/%": false, "https://[@example.org/test.txt": false,
			":// should fail": false, "bar,baz:foo": false, "http://[::1": false, "http://::1]/": false,
		},
		"ipv6": {
			"1:2::192.168.0.1": true, "1000:1000:1000:1000:1000:1000:255.255.255.255": true, "::ffff:256.1.1.1": false, "1:2::192.16৪.0.1": false, "fe80::a%eth1": false, "1::2:192.168.ff.1": false,
			"100:100:100:100:100:100:100:255.255.255.255": false, "::1  ": false,
		},
		"email": {
			"test@255.255.255.255": true, "test@c--n.com": true, "test@io": true, "a@iana.org ": false, "test@iana.org\n": false, "test@iana.org.": false, "test@a[255.255.255.255]": false,
			"a@[1.2.3]": false, "a@[]": false, "test(comment)@iana.org": false, "a\u00e9@iana.org": false, "a\uff20iana.org": false, "[1.2.3.4]@iana.org": false, "test\\@test@iana.org": false,
		},
	} {
		for s, ok := range cases {
			if Valid(format, s) != ok {
				t.Errorf("%s %q: %v", format, s, !ok)
			}
		}
	}
}

func FuzzFormat(f *testing.F) {
	names := []string{"date-time", "date", "byte", "time", "duration", "uuid", "uri", "uri-reference", "email", "hostname", "ipv4", "ipv6", "json-pointer", "regex"}
	for i, s := range []string{"2024-01-01T00:00:00Z", "2024-02-30", "P1Y", "a@b.c", "::1", "/a~0", "\"@x", "23:59:60+00:00", "%", "["} {
		f.Add(i, s)
	}
	f.Fuzz(func(t *testing.T, i int, s string) {
		name := names[uint(i)%uint(len(names))]
		if Valid(name, s) && name == "duration" && !strings.HasPrefix(s, "P") {
			t.Error(strconv.Quote(s))
		}
	})
}
