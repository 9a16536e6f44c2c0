package a2awires

import (
	"reflect"
	"strconv"
	"time"

	"pgregory.net/rapid"

	"github.com/a2agen/a2agen/generator/names"
	"github.com/a2agen/a2agen/runtime/wire"
	"github.com/a2agen/a2agen/spec"
)

// cases are the types that each union takes.
var cases = map[reflect.Type][]any{
	reflect.TypeFor[PartContent]():                {PartText(""), PartRaw{}, PartURL(""), PartData{}, &UnknownPartContent{}},
	reflect.TypeFor[SendMessageResponsePayload](): {&Task{}, &Message{}},
	reflect.TypeFor[StreamResponsePayload]():      {&Task{}, &Message{}, &TaskStatusUpdateEvent{}, &TaskArtifactUpdateEvent{}},
	reflect.TypeFor[SecuritySchemeKind](): {&APIKeySecurityScheme{}, &HTTPAuthSecurityScheme{}, &OAuth2SecurityScheme{},
		&OpenIDConnectSecurityScheme{}, &MutualTLSSecurityScheme{}, &UnknownSecuritySchemeKind{}},
	reflect.TypeFor[OAuthFlow](): {&AuthorizationCodeOAuthFlow{}, &ClientCredentialsOAuthFlow{}, &ImplicitOAuthFlow{},
		&PasswordOAuthFlow{}, &DeviceCodeOAuthFlow{}, &UnknownOAuthFlow{}},
}

// mayBeNil are the message fields that may be nil; all others are required.
var mayBeNil = map[string]bool{
	"TaskStatus.Message": true, "AgentCard.Provider": true, "SendMessageRequest.Configuration": true,
	"SendMessageConfiguration.TaskPushNotificationConfig": true, "TaskPushNotificationConfig.Authentication": true,
}

// notEmpty are the lists that must have an element.
var notEmpty = map[string]bool{"Message.Parts": true, "Artifact.Parts": true, "AgentCard.SupportedInterfaces": true}

// newer are the fields, as "Task.ID", that 1.0 does not have: the versions before it do not either.
var newer = func() map[string]bool {
	fields := map[string]bool{}
	for _, version := range []string{spec.Versions()[0], "1.0"} {
		doc, err := spec.Shipped(version)
		if err != nil {
			panic(err)
		}
		for _, m := range doc.Messages {
			for _, f := range m.Fields {
				fields[names.Go(m.Name)+"."+names.Go(f.Name)] = version != "1.0"
			}
		}
	}
	return fields
}()

// unheard are the types of what newer peers may send, where older versions have no words for it.
var unheard = map[reflect.Type]any{
	reflect.TypeFor[SendMessageResponsePayload](): &UnknownSendMessageResponsePayload{},
	reflect.TypeFor[StreamResponsePayload]():      &UnknownStreamResponsePayload{},
}

// old is the version that random draws values for. Tests of one version set it; they do not run at the same time.
var old = "0.3"

// newest is the version that has all that the types have.
const newest = "1.0"

// random draws a value of type t that can be written. where names the field it is for.
func random(t *rapid.T, typ reflect.Type, where string) reflect.Value {
	v := reflect.New(typ).Elem()
	switch x := v.Addr().Interface().(type) {
	case *time.Time:
		if rapid.Bool().Draw(t, "set") {
			*x = time.Unix(rapid.Int64Range(-62135596799, 253402300799).Draw(t, "seconds"), rapid.Int64Range(0, 999999999).Draw(t, "nanos")).UTC()
		}
		return v
	case *wire.Value:
		*x = randomJSON(t)
		return v
	case *PartData:
		*x = PartData(randomJSON(t))
		return v
	case *wire.Object:
		if rapid.Bool().Draw(t, "set") {
			*x = wire.Object(`{"k":` + string(randomJSON(t)) + `}`)
		}
		return v
	case *PartRaw:
		*x = append(PartRaw{}, rapid.SliceOf(rapid.Byte()).Draw(t, "bytes")...)
		return v
	case *AgentInterface:
		if old == newest {
			break
		}
		n := rapid.Uint16().Draw(t, "interface")
		*x = AgentInterface{URL: "https://example.com/" + strconv.Itoa(int(n)), ProtocolBinding: rapid.SampledFrom([]string{"JSONRPC", "GRPC", "HTTP+JSON"}).Draw(t, "binding"), ProtocolVersion: old}
		return v
	case *APIKeySecurityScheme:
		if old == newest {
			break
		}
		*x = APIKeySecurityScheme{Description: rapid.String().Draw(t, "description"), Name: "key", Location: rapid.SampledFrom([]string{"header", "query", "cookie"}).Draw(t, "in")}
		return v
	case *TaskState:
		*x = rapid.SampledFrom([]TaskState{TaskStateWorking, TaskStateAuthRequired, "TASK_STATE_NEW", "42"}).Draw(t, "state")
		return v
	case *Role:
		*x = rapid.SampledFrom([]Role{RoleUser, RoleAgent, "ROLE_NEW", "-7"}).Draw(t, "role")
		return v
	}
	fill(t, v, where)
	return v
}

func fill(t *rapid.T, v reflect.Value, where string) {
	typ := v.Type()
	switch typ.Kind() {
	case reflect.String:
		v.SetString(rapid.String().Draw(t, "string"))
	case reflect.Bool:
		v.SetBool(rapid.Bool().Draw(t, "bool"))
	case reflect.Int32:
		v.SetInt(int64(rapid.Int32().Draw(t, "int32")))
	case reflect.Pointer:
		isMessage := typ.Elem().Kind() == reflect.Struct
		if (!isMessage || mayBeNil[where]) && rapid.Bool().Draw(t, "nil") {
			return
		}
		v.Set(reflect.New(typ.Elem()))
		v.Elem().Set(random(t, typ.Elem(), where))
	case reflect.Slice:
		least := 0
		if notEmpty[where] {
			least = 1
		}
		for range rapid.IntRange(least, 3).Draw(t, "length") {
			v.Set(reflect.Append(v, random(t, typ.Elem(), "")))
		}
	case reflect.Map:
		for range rapid.IntRange(0, 3).Draw(t, "entries") {
			if v.IsNil() {
				v.Set(reflect.MakeMap(typ))
			}
			v.SetMapIndex(reflect.ValueOf(rapid.String().Draw(t, "name")), random(t, typ.Elem(), ""))
		}
	case reflect.Interface:
		known := cases[typ]
		if one := unheard[typ]; one != nil && old == newest {
			known = append(known[:len(known):len(known)], one)
		}
		c := reflect.TypeOf(rapid.SampledFrom(known).Draw(t, "case"))
		v.Set(random(t, c, ""))
	case reflect.Struct:
		if typ.NumField() == 2 && typ.Field(0).Name == "Name" && typ.Field(1).Type == reflect.TypeFor[wire.Value]() {
			v.Field(0).SetString("unheard of " + strconv.Itoa(rapid.IntRange(0, 9).Draw(t, "name")))
			v.Field(1).SetBytes([]byte(`{"deep":[1.50,"x"]}`))
			return
		}
		for i := range typ.NumField() {
			if old != newest && newer[typ.Name()+"."+typ.Field(i).Name] {
				continue
			}
			v.Field(i).Set(random(t, typ.Field(i).Type, typ.Name()+"."+typ.Field(i).Name))
		}
	default:
		t.Fatalf("%s: no random %s", where, typ)
	}
}

// randomJSON draws a compact JSON value.
func randomJSON(t *rapid.T) wire.Value {
	switch rapid.IntRange(0, 3).Draw(t, "json") {
	case 0:
		return wire.Value(rapid.SampledFrom([]string{"null", "true", "0", "-1.50e+300", "9007199254740993", `""`, "{}", "[]"}).Draw(t, "scalar"))
	case 1:
		return wire.AppendString(nil, rapid.String().Draw(t, "text"))
	case 2:
		return wire.Value(`[` + string(randomJSON(t)) + `,` + string(randomJSON(t)) + `]`)
	default:
		return wire.Value(`{"a b":` + string(randomJSON(t)) + `}`)
	}
}
