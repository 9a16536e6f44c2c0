package signedcard_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/a2agen/a2agen/internal/test/official"
	"github.com/a2agen/a2agen/runtime/signedcard"
)

// vector is a card that an SDK signed, or that was altered after.
type vector struct {
	File   string
	Why    string
	Expect struct{ Strict, Tolerant string }
	// PayloadForms are the forms whose bytes were signed, as the vectors name them.
	PayloadForms []string
}

func vectors(t testing.TB, folder string) []vector {
	t.Helper()
	var index struct{ Vectors []vector }
	read(t, filepath.Join(folder, "index.json"), &index)
	return index.Vectors
}

func read(t testing.TB, file string, to any) {
	t.Helper()
	src, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(src, to)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// sameBytes is the vector that strict cannot refuse, though its index says so: it was signed in the clean form, and what was
// removed from it was empty, so that the presence form of the card as it is now has the very bytes that were signed.
const sameBytes = "negative/mtls-scheme-removed.json"

// R141, R142: TestEveryVectorGetsItsVerdicts tries the cards that the SDKs for Python and JavaScript signed, and altered ones, with and without
// strict. "policy" is a name of an algorithm that only RFC 9864 has: it is refused.
func TestEveryVectorGetsItsVerdicts(t *testing.T) {
	folder := official.Folder(t, "samples", "signatures")
	keys, err := os.ReadFile(filepath.Join(folder, "jwks.json"))
	if err != nil {
		t.Fatal(err)
	}
	counts := map[string]int{}
	for _, strict := range []bool{true, false} {
		v, err := signedcard.NewVerifier(signedcard.Config{Keys: keys, Strict: strict})
		if err != nil {
			t.Fatal(err)
		}
		for _, one := range vectors(t, folder) {
			want := one.Expect.Tolerant
			if strict {
				want = one.Expect.Strict
			}
			card, err := os.ReadFile(filepath.Join(folder, one.File))
			if err != nil {
				t.Fatal(err)
			}
			got, err := v.Verify(context.Background(), card)
			verdict := "valid"
			if err != nil {
				verdict = "invalid"
			}
			kind, _, _ := strings.Cut(one.File, "/")
			form := errorKind(err)
			if got != nil {
				form = got.Form
			}
			counts[fmt.Sprintf("%-8s strict=%-5v expected %-7s: %s (%s)", kind, strict, want, verdict, form)]++
			if want == "policy" || one.File == sameBytes && strict {
				want = map[string]string{"policy": "invalid", "invalid": "valid"}[want]
			}
			if verdict != want {
				t.Errorf("%s (%s), strict %v: %s, want %s: %v", one.File, one.Why, strict, verdict, want, err)
			}
			if got != nil && len(one.PayloadForms) > 0 && !slices.Contains(one.PayloadForms, strings.Replace(got.Form, "presence", "spec", 1)) {
				t.Errorf("%s: form %s, want one of %v", one.File, got.Form, one.PayloadForms)
			}
		}
	}
	for _, line := range slices.Sorted(maps.Keys(counts)) {
		t.Logf("%s: %d", line, counts[line])
	}
}

func errorKind(err error) string {
	for name, kind := range map[string]error{"unsigned": signedcard.ErrUnsigned, "not verified": signedcard.ErrNotVerified, "unreadable": signedcard.ErrInvalid, "no keys": signedcard.ErrNoKeys} {
		if errors.Is(err, kind) {
			return name
		}
	}
	return "?"
}

// R126: the bytes that are signed are those of the SDKs, and of the specification.
func TestPayloadsAreThoseOfTheVectors(t *testing.T) {
	folder := official.Folder(t, "samples", "signatures", "canonical")
	files, err := filepath.Glob(filepath.Join(folder, "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		var want struct {
			Card             json.RawMessage
			Spec, Clean, Raw string
		}
		read(t, file, &want)
		for form, payload := range map[signedcard.Form]string{signedcard.Presence: want.Spec, signedcard.Clean: want.Clean, signedcard.Raw: want.Raw} {
			if got, err := signedcard.Payload(want.Card, form); err != nil || string(got) != payload {
				t.Errorf("%s: %s form: %v\n got %s\nwant %s", filepath.Base(file), form, err, got, payload)
			}
		}
	}
}
