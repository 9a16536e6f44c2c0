package shape

import (
	"bytes"
	"fmt"
)

// ReplaceSection returns doc with what stands between the lines "<!-- begin NAME: …" and "<!-- end NAME -->" replaced.
func ReplaceSection(doc []byte, name string, body []byte) ([]byte, error) {
	begin := bytes.Index(doc, []byte("<!-- begin "+name+":"))
	end := bytes.Index(doc, []byte("<!-- end "+name+" -->"))
	if begin < 0 || end < begin {
		return nil, fmt.Errorf("no section %s", name)
	}
	line := bytes.IndexByte(doc[begin:end], '\n') + begin + 1
	return bytes.Join([][]byte{doc[:line], body, doc[end:]}, nil), nil
}
