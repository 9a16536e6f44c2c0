package emit

import (
	"github.com/dave/jennifer/jen"

	"github.com/a2agen/a2agen/generator/ir"
)

// scalar is a kind of values that are no messages or enums: in Go, in JSON and in protobuf.
type scalar struct {
	goType func() *jen.Statement
	zero   zero
	json   string // wire.Reader has a method of this name, and the function that appends it has Append before it
	fails  bool   // what appends it to JSON also returns an error
	proto  protoScalar
}

// protoScalar is how the runtime reads and writes a kind as protobuf.
type protoScalar struct {
	method   string // of the reader and of the writer
	wireType int
	fails    bool // writing returns an error
	merges   bool // reading takes the value so far
}

// Wire types of protobuf.
const (
	varintType    = 0
	fixed64Type   = 1
	delimitedType = 2
	groupType     = 3
	fixed32Type   = 5
)

// zero is how a value is told from the zero value, which is left out where a field has no presence.
type zero int

const (
	zeroNumber zero = iota // 0
	zeroText               // ""
	zeroBool               // false
	zeroLength             // no bytes or elements
	zeroStruct             // a struct without anything in it
	zeroNil                // nil
)

var scalars = map[ir.Kind]scalar{
	ir.KindString:    {jen.String, zeroText, "String", false, protoScalar{"String", delimitedType, false, false}},
	ir.KindBool:      {jen.Bool, zeroBool, "Bool", false, protoScalar{"Bool", varintType, false, false}},
	ir.KindInt32:     {jen.Int32, zeroNumber, "Int32", false, protoScalar{"Int32", varintType, false, false}},
	ir.KindInt64:     {jen.Int64, zeroNumber, "Int64", false, protoScalar{"Int64", varintType, false, false}},
	ir.KindUint32:    {jen.Uint32, zeroNumber, "Uint32", false, protoScalar{"Uint32", varintType, false, false}},
	ir.KindUint64:    {jen.Uint64, zeroNumber, "Uint64", false, protoScalar{"Uint64", varintType, false, false}},
	ir.KindFloat:     {jen.Float32, zeroNumber, "Float32", false, protoScalar{"Float32", fixed32Type, false, false}},
	ir.KindDouble:    {jen.Float64, zeroNumber, "Float64", false, protoScalar{"Float64", fixed64Type, false, false}},
	ir.KindBytes:     {byteSlice, zeroLength, "Bytes", false, protoScalar{"Bytes", delimitedType, false, false}},
	ir.KindTimestamp: {timeType, zeroStruct, "Timestamp", true, protoScalar{"Timestamp", delimitedType, true, true}},
	ir.KindDuration:  {inWire("Duration"), zeroStruct, "Duration", true, protoScalar{"Duration", delimitedType, true, true}},
	ir.KindListValue: {inWire("Value"), zeroLength, "ListValue", true, protoScalar{"ListValue", delimitedType, true, true}},
	ir.KindNullValue: {inWire("Null"), zeroNumber, "NullValue", false, protoScalar{"NullValue", varintType, false, false}},
	ir.KindFieldMask: {inWire("FieldMask"), zeroLength, "FieldMask", true, protoScalar{"FieldMask", delimitedType, false, true}},
	ir.KindAny:       {anyType, zeroNil, "Any", true, protoScalar{"Any", delimitedType, true, true}},
	ir.KindStruct:    {inWire("Object"), zeroLength, "Struct", true, protoScalar{"Struct", delimitedType, true, true}},
	ir.KindEmpty:     {inWire("Object"), zeroLength, "Struct", true, protoScalar{"Empty", delimitedType, true, false}},
	ir.KindValue:     {inWire("Value"), zeroLength, "Value", true, protoScalar{"Value", delimitedType, true, true}},
}

// typeNames are the kinds in the runtime's tables.
var typeNames = map[ir.Kind]string{
	ir.KindString: "String", ir.KindBool: "Bool", ir.KindInt32: "Int32", ir.KindInt64: "Int64", ir.KindUint32: "Uint32",
	ir.KindUint64: "Uint64", ir.KindFloat: "Float", ir.KindDouble: "Double", ir.KindBytes: "Bytes", ir.KindTimestamp: "Timestamp",
	ir.KindDuration: "Duration", ir.KindStruct: "Struct", ir.KindEmpty: "Empty", ir.KindValue: "Value", ir.KindListValue: "ListValue",
	ir.KindNullValue: "Null", ir.KindFieldMask: "FieldMask", ir.KindEnum: "Enum", ir.KindMessage: "Message", ir.KindAny: "Any",
}

// inWire is a type of runtime/wire; what follows are other types of kinds.
func inWire(name string) func() *jen.Statement {
	return func() *jen.Statement { return jen.Qual(wirePath, name) }
}

func byteSlice() *jen.Statement { return jen.Index().Byte() }

func timeType() *jen.Statement { return jen.Qual("time", "Time") }

func anyType() *jen.Statement { return jen.Op("*").Qual(protoPath, "Any") }

// notZero is the condition that x, a value of kind k, is not the zero value.
func notZero(k ir.Kind, x jen.Code) *jen.Statement {
	s := scalars[k]
	switch s.zero {
	case zeroText:
		return jen.Add(x).Op("!=").Lit("")
	case zeroBool:
		return jen.Add(x)
	case zeroLength:
		return jen.Len(x).Op(">").Lit(0)
	case zeroStruct:
		return jen.Add(x).Op("!=").Parens(s.goType().Values())
	case zeroNil:
		return notNil(x)
	}
	return jen.Add(x).Op("!=").Lit(0)
}
