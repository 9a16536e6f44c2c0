package emit

import (
	"github.com/dave/jennifer/jen"

	"github.com/a2agen/a2agen/generator/ir"
)

// scalars are the Go types of kinds that are no messages or enums of a definition.
var scalars = map[ir.Kind]func() *jen.Statement{
	ir.KindString: jen.String, ir.KindBool: jen.Bool, ir.KindInt32: jen.Int32, ir.KindInt64: jen.Int64, ir.KindUint32: jen.Uint32,
	ir.KindUint64: jen.Uint64, ir.KindFloat: jen.Float32, ir.KindDouble: jen.Float64, ir.KindBytes: byteSlice, ir.KindTimestamp: timeType,
	ir.KindDuration: inWire("Duration"), ir.KindListValue: inWire("Value"), ir.KindNullValue: inWire("Null"), ir.KindFieldMask: inWire("FieldMask"),
	ir.KindAny: anyType, ir.KindStruct: inWire("Object"), ir.KindEmpty: inWire("Object"), ir.KindValue: inWire("Value"),
}

// isRaw reports whether Go has bytes of a kind: its own or JSON.
func isRaw(k ir.Kind) bool {
	switch k {
	case ir.KindBytes, ir.KindStruct, ir.KindEmpty, ir.KindValue, ir.KindListValue:
		return true
	}
	return false
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

func anyType() *jen.Statement { return jen.Op("*").Qual(wirePath, "Any") }
