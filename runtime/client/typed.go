package client

import (
	"fmt"
	"iter"
	"reflect"

	"github.com/a2agen/a2agen/runtime"
)

// As gives the result of [Client.Call] its generated type. It takes both results, so that emitted methods are one line.
func As[T any](v any, err error) (T, error) {
	var none T
	if err != nil {
		return none, err
	}
	v = runtime.Generated(v)
	t, ok := v.(T)
	if !ok {
		return none, invalid("result", fmt.Errorf("%T instead of %v", v, reflect.TypeFor[T]()))
	}
	return t, nil
}

// complete returns the request to send: a copy that names the interface's tenant if the request has a field for one and
// names none (R125), or an empty request for nil.
func (c *Client) complete(request any) any {
	v := reflect.ValueOf(request)
	if v.Kind() != reflect.Pointer || v.Type().Elem().Kind() != reflect.Struct {
		return request
	}
	if v.IsNil() {
		v = reflect.New(v.Type().Elem())
	}
	if c.Tenant() == "" {
		return v.Interface()
	}
	tenant := v.Elem().FieldByName("Tenant")
	if tenant.Kind() != reflect.String || tenant.String() != "" {
		return v.Interface()
	}
	named := reflect.New(v.Type().Elem())
	named.Elem().Set(v.Elem())
	named.Elem().FieldByName("Tenant").SetString(c.Tenant())
	return named.Interface()
}

// Each gives the items of [Client.Stream] their generated type.
func Each[T any](items iter.Seq2[any, error]) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for v, err := range items {
			t, err := As[T](v, err)
			if !yield(t, err) || err != nil {
				return
			}
		}
	}
}
