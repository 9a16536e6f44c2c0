package wire

import "testing"

func TestAMessageThatIsWrittenAsNothingIsLeftOut(t *testing.T) {
	text := func(b []byte, x string) ([]byte, error) {
		if x == "bad" {
			return b, NotSet()
		}
		return append(b, x...), nil
	}
	for x, want := range map[string]string{`{}`: "b", `{"c":1}`: `b,"a":{"c":1}`} {
		if b, err := AppendNonEmpty([]byte("b"), nil, `,"a":`, x, text); string(b) != want || err != nil {
			t.Errorf("%s: %s %v", x, b, err)
		}
	}
	if _, err := AppendNonEmpty(nil, nil, `,"a":`, "bad", text); err == nil || err.Error() != "/a: required, but not set" {
		t.Errorf("error %v", err)
	}
}

func TestPointersAndZeroValues(t *testing.T) {
	var none *int
	if Made(&none) == nil || none == nil || Made(&none) != none {
		t.Error("Made does not make once")
	}
	if OrNew(none) != none || OrNew[int](nil) == nil || OrZero(new(7)) != 7 || OrZero[int](nil) != 0 {
		t.Error("OrNew or OrZero")
	}
	if NonZero(0) != nil || *NonZero(7) != 7 {
		t.Error("NonZero")
	}
}
