package wire

import (
	"reflect"
	"testing"
	"unsafe"
)

func TestCasesAreToldByTagOrShape(t *testing.T) {
	tagged := &Tagged{Tag: "kind", Aliases: []string{"type"}, Cases: []Tag{{Tag: "a"}, {Tag: "b", Shape: []string{"x", "y"}}, {Shape: []string{"x"}}}}
	for _, tt := range []struct {
		src  string
		i    int
		tag  string
		fail bool
	}{
		{`{"kind":"a","x":1}`, 0, "a", false}, {`{"y":1,"x":2}`, 1, "", false}, {`{"x":{"kind":"a"}}`, 2, "", false}, {`{"type":"b"}`, 1, "b", false},
		{`{"kind":"z","x":1}`, -1, "z", false}, {`{"kind":null,"x":1,"y":null}`, 2, "", false}, {`{}`, -1, "", true}, {`7`, -1, "", true}, {`{"x":`, -1, "", true},
	} {
		var r Reader
		r.Reset([]byte(tt.src))
		i, tag := r.findCase(tagged)
		if i != tt.i || tag != tt.tag || (r.Err() != nil) != tt.fail {
			t.Errorf("%s: %d %q %v", tt.src, i, tag, r.Err())
		}
		if r.Err() == nil && r.Offset() != 0 {
			t.Errorf("%s was read", tt.src)
		}
	}
}

// animal is written as what it is.
type animal struct{ kind any }

type cat struct{ name string }

type unknownAnimal struct {
	name  string
	value Value
}

var catCodec = Codec[cat]{Consts: `,"kind":"cat"`, Fields: []Field{{Name: "name", At: unsafe.Offsetof(cat{}.name)}}}

var animalCodec = Codec[animal]{
	Tagged: &Tagged{Tag: "kind", Cases: []Tag{{Tag: "cat"}}},
	Oneofs: []Oneof{{Of: &Union[any]{
		Case: func(x any) (number int, text string, value any) {
			switch x := x.(type) {
			case *cat:
				return 1, "", x
			case *unknownAnimal:
				return UnknownCase, x.name, x.value
			}
			return 0, "", nil
		},
		Make: func(number int, text string, raw []byte, pointer any) any {
			if number == 1 {
				return pointer.(*cat)
			}
			return &unknownAnimal{text, raw}
		},
	}}},
	Fields: []Field{{Name: "cat", Oneof: 1, Case: 1, Type: TypeMessage, Of: &catCodec}},
}

func TestAMapKeepsThoseThatTheWireHas(t *testing.T) {
	type zoo struct{ animals map[string]*animal }
	codec := Codec[zoo]{Fields: []Field{{Name: "animals", Type: TypeMessage, Of: &animalCodec, Shape: Mapped, Container: Map[*animal]{}}}}
	x, err := Decode([]byte(`{"animals":{"b":{"kind":"cat","name":"Tom"},"a":{"kind":"dog","age":3}}}`), codec.Read)
	if err != nil {
		t.Fatal(err)
	}
	x.animals["none"], x.animals["empty"] = nil, &animal{}
	x.animals["stranger"] = &animal{&unknownAnimal{"owl", Value(`{"kind":"bat"}`)}}
	got, err := codec.Append(nil, x)
	if want := `{"animals":{"a":{"kind":"dog","age":3},"b":{"kind":"cat","name":"Tom"}}}`; err != nil || string(got) != want {
		t.Errorf("%s %v, want %s", got, err, want)
	}
	if _, err := animalCodec.Append(nil, x.animals["stranger"]); err == nil || err.Error() != "exactly one of cat is required" {
		t.Errorf("%v", err)
	}
}

type (
	firstCase  struct{}
	secondCase struct{}
	otherCase  struct {
		Name  string
		Value Value
	}
	theCase interface{ isCase() }
)

func (*firstCase) isCase()  {}
func (*secondCase) isCase() {}
func (*otherCase) isCase()  {}

// TestCasesThatAreMessagesAreAListOfTheirTypes takes cases apart and makes them again: as they are, nil, and unknown.
func TestCasesThatAreMessagesAreAListOfTheirTypes(t *testing.T) {
	cases := Union[theCase]{Messages: []theCase{(*firstCase)(nil), (*secondCase)(nil), (*otherCase)(nil)}}
	for name, test := range map[string]struct {
		of     theCase
		number int
		text   string
		value  any
	}{
		"none":        {nil, 0, "", nil},
		"first":       {new(firstCase), 1, "", new(firstCase)},
		"second":      {new(secondCase), 2, "", new(secondCase)},
		"nil pointer": {(*secondCase)(nil), 2, "", (*secondCase)(nil)},
		"unknown":     {&otherCase{"third", Value("3")}, UnknownCase, "third", Value("3")},
	} {
		number, text, value := cases.get(unsafe.Pointer(&test.of))
		if number != test.number || text != test.text || !reflect.DeepEqual(value, test.value) {
			t.Errorf("%s: %d %q %#v", name, number, text, value)
		}
		if number == 0 {
			continue
		}
		var again theCase
		if raw, ok := value.(Value); ok {
			cases.set(unsafe.Pointer(&again), number, text, raw, nil)
		} else {
			cases.set(unsafe.Pointer(&again), number, "", nil, value)
		}
		if !reflect.DeepEqual(again, test.of) {
			t.Errorf("%s: made again it is %#v", name, again)
		}
	}
	if _, _, _, ok := cases.apart("text"); ok {
		t.Error("what is no case was taken for one")
	}
}
