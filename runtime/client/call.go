package client

import (
	"context"
	"reflect"

	"github.com/a2agen/a2agen/runtime"
)

// Call runs an operation that has one result. request and result are the generated ones. A request that names no
// tenant gets that of the interface. Errors: *runtime.Error from the agent, *HTTPError, or those of transport and
// context.
func (c *Client) Call(ctx context.Context, m Method, request any, opts ...CallOption) (any, error) {
	cl := c.newCall(opts)
	cl.safe = c.agent.keys && cl.key != ""
	ctx, done := cl.policy.limit(ctx)
	defer done()
	result, err := byNewest(ctx, c.cards.current(ctx, c), "", cl, func(c *Client) (any, error) {
		return c.ask(ctx, patient, m, c.complete(request), cl)
	})
	if err != nil {
		return nil, err
	}
	return runtime.Generated(result), nil
}

// byNewest makes a call by the client for the newest card, which is c, and once more by the next one if it failed because the card changed
// and nothing of it was carried out.
func byNewest[T any](ctx context.Context, c *Client, skill string, cl *call, do func(*Client) (T, error)) (T, error) {
	v, err := do(c)
	if err == nil {
		return v, nil
	}
	next, err := c.cards.failed(ctx, c, skill, cl, err)
	if next == nil {
		return v, err
	}
	return do(next)
}

// complete returns the request to send: a copy with the interface's tenant if the request has a field for one and
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
