package client

import "reflect"

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
