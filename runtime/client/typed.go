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

// ForTenant returns the request to send: req, a copy that names the interface's tenant if req names none (R125), or an empty
// request for nil. tenant points to the request's field.
func ForTenant[T any](c *Client, req *T, tenant func(*T) *string) *T {
	if req == nil {
		req = new(T)
	}
	if c.Tenant() == "" || *tenant(req) != "" {
		return req
	}
	named := *req
	*tenant(&named) = c.Tenant()
	return &named
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
