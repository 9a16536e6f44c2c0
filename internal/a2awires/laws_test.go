package a2awires

import (
	"bytes"
	"encoding/json"
	"io"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/a2agen/a2agen/runtime/wire"
)

func bytesReader(src []byte) io.Reader { return bytes.NewReader(src) }

func cutDot(name string) (whole, member string, ok bool) { return strings.Cut(name, ".") }

// decoded is src as encoding/json has it, with the digits of numbers.
func decoded(t interface{ Fatalf(string, ...any) }, src []byte) any {
	d := json.NewDecoder(bytes.NewReader(src))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%v: %s", err, src)
	}
	return v
}

// TestModelThroughAnOlderWire draws values of the hub: what is written is valid by the published schema, and reads as the
// value minus the declared losses, which are written as nothing the second time.
func TestModelThroughAnOlderWire(t *testing.T) {
	for version, codecs := range oldWires {
		old = version
		schemas := schemas(t, version)
		for _, c := range codecs {
			t.Run(version+"/"+c.typ.Name(), func(t *testing.T) {
				rapid.Check(t, func(t *rapid.T) {
					x := random(t, c.typ, "").Addr().Interface()
					src, err := c.append(nil, x)
					if err != nil {
						t.Fatalf("encode %+v: %v", x, err)
					}
					if err := schemas[c.def].Validate(decoded(t, src)); err != nil {
						t.Fatalf("%s is not valid: %v", src, err)
					}
					y, err := c.read(src)
					if err != nil {
						t.Fatalf("decode %s: %v", src, err)
					}
					lose(version, reflect.ValueOf(x))
					if !reflect.DeepEqual(x, y) {
						t.Fatalf("%s came back different:\n%s", src, cmp.Diff(x, y))
					}
				})
			})
		}
	}
}

// lose takes out of x what the version is declared to lose on writing.
func lose(version string, v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return
		}
		if version == "0.1" && v.Kind() == reflect.Pointer {
			defer lose01(v.Interface())()
		}
		switch x := v.Interface().(type) {
		case *Part:
			losePart(x)
		case *TaskStatus:
			x.State = TaskState(knownOr(string(x.State), ""))
		case *Message:
			x.Role = Role(knownOr(string(x.Role), string(RoleAgent)))
		case *SendMessageRequest:
			if x.Configuration == nil && version != "0.1" {
				x.Configuration = &SendMessageConfiguration{}
			}
			if x.Configuration != nil && x.Configuration.TaskPushNotificationConfig != nil {
				x.Configuration.TaskPushNotificationConfig.TaskID = ""
			}
		case *ListTaskPushNotificationConfigsRequest:
			x.PageSize, x.PageToken = 0, ""
		case *ListTaskPushNotificationConfigsResponse:
			x.NextPageToken = ""
		case *AuthorizationCodeOAuthFlow:
			x.PKCERequired = false
		case *OAuthFlows:
			switch x.Flow.(type) {
			case *DeviceCodeOAuthFlow, *UnknownOAuthFlow:
				x.Flow = nil
			}
		case *AgentCard:
			loseCard(version, x)
		case *AgentSkill:
			if version == "0.2" {
				x.SecurityRequirements = nil
			}
		case *OAuth2SecurityScheme:
			if version == "0.2" {
				x.OAuth2MetadataURL = ""
			}
		}
		if e := v.Elem(); e.Kind() == reflect.Struct {
			if f := e.FieldByName("Tenant"); f.IsValid() {
				f.SetString("")
			}
		}
		lose(version, v.Elem())
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				lose(version, v.Field(i))
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			lose(version, v.Index(i))
		}
	case reflect.Map:
		for _, k := range v.MapKeys() {
			lose(version, v.MapIndex(k))
		}
	}
}

// knownOr is name if it is a value of 1.0, else other.
func knownOr(name, other string) string {
	if strings.HasSuffix(name, "_NEW") || !strings.HasPrefix(name, "TASK_STATE_") && !strings.HasPrefix(name, "ROLE_") {
		return other
	}
	return name
}

func losePart(x *Part) {
	switch c := x.Content.(type) {
	case PartText, PartData:
		x.Filename, x.MediaType = "", ""
	case *UnknownPartContent:
		var data wire.Object
		if err := data.Set(c.Name, c.Value); err != nil {
			panic(err)
		}
		x.Content, x.Filename, x.MediaType = PartData(data), "", ""
	}
}

func loseCard(version string, x *AgentCard) {
	for name, s := range x.SecuritySchemes {
		switch s.Scheme.(type) {
		case *UnknownSecuritySchemeKind:
			delete(x.SecuritySchemes, name)
		case *MutualTLSSecurityScheme:
			if version == "0.2" {
				delete(x.SecuritySchemes, name)
			}
		}
	}
	if version == "0.2" {
		x.Signatures = nil
	}
	if len(x.SecuritySchemes) == 0 {
		x.SecuritySchemes = nil
	}
	var list []*AgentInterface // each once
	for _, i := range x.SupportedInterfaces {
		seen := false
		for _, j := range list {
			seen = seen || *i == *j
		}
		if !seen {
			list = append(list, i)
		}
	}
	x.SupportedInterfaces = list
}
