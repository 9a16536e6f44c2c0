package a2awires

import (
	"bytes"
	"testing"
)

// FuzzOlderWires: reading never panics, and what is read and can be written is then written the same for ever.
func FuzzOlderWires(f *testing.F) {
	for _, seed := range []string{
		oldCard, `{"kind":"task","id":"t","contextId":"c","status":{"state":"working","timestamp":"2026-01-01"},"artifacts":[{"artifactId":"a","parts":[{"kind":"data","data":{"value":1},"metadata":{"data_part_compat":true}}]}]}`,
		`{"taskId":"t","contextId":"c","status":{"state":"completed","message":{"parts":[{"kind":"file","file":{"bytes":"_-8","mimeType":"a"}}]}},"final":true}`,
		`{"id":"t","sessionId":"s","message":{"role":"user","parts":[{"type":"text","text":"x"}]},"pushNotification":{"url":"u","authentication":{"schemes":[]}}}`,
		`{"id":"t","artifact":{"index":1,"parts":[{"text":"x"}],"append":true}}`, `{"message":{"parts":[{"kind":"x"}]},"configuration":{"blocking":false}}`,
		`{"name":"n","url":"u","version":"1","capabilities":{},"skills":[{"inputModes":["text"]}],"authentication":{"schemes":["a","a"]},"defaultInputModes":null}`,
		`{"taskId":"t","pushNotificationConfig":{"url":"u"}}`, `[{"taskId":"t","pushNotificationConfig":{"url":"u"}}]`, `{"kind":{},"type":1}`, `{}`, `[`, `null`, `"x"`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		for version, codecs := range oldWires {
			for _, c := range codecs {
				x, err := c.read(src)
				if err != nil {
					continue
				}
				once, err := c.append(nil, x)
				if err != nil {
					continue // such as a kind of event that is not known
				}
				y, err := c.read(once)
				if err != nil {
					t.Fatalf("%s %s: %s was written as %s, which is refused: %v", version, c.typ.Name(), src, once, err)
				}
				twice, err := c.append(nil, y)
				if err != nil || !bytes.Equal(once, twice) {
					t.Fatalf("%s %s: %s was written as %s and then as %s (%v)", version, c.typ.Name(), src, once, twice, err)
				}
			}
		}
	})
}
