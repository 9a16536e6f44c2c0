package wire

// These functions append a member: its key, which is a comma, the name and a colon, then its value, unless the member is to
// be left out. They take the error so far and return it: after the first error nothing is written, so that generated code
// has one line a member and checks the error at the end.

// appender appends a value that may be one that cannot be written.
type appender[T any] = func(b []byte, x T) ([]byte, error)

// AppendText appends a string unless it is empty.
func AppendText(b []byte, key, x string) []byte {
	if x == "" {
		return b
	}
	return AppendString(append(b, key...), x)
}

// AppendPlain appends a value unless it is zero.
func AppendPlain[T comparable](b []byte, key string, x T, value func([]byte, T) []byte) []byte {
	if x == *new(T) {
		return b
	}
	return value(append(b, key...), x)
}

// AppendSet appends what x points to, if anything.
func AppendSet[T any](b []byte, key string, x *T, value func([]byte, T) []byte) []byte {
	if x == nil {
		return b
	}
	return value(append(b, key...), *x)
}

// AppendRequired appends a value that is always written.
func AppendRequired[T any](b []byte, err error, key string, x T, value appender[T]) ([]byte, error) {
	return AppendMember(b, err, key, true, x, value)
}

// AppendMember appends a value if it is set.
func AppendMember[T any](b []byte, err error, key string, set bool, x T, value appender[T]) ([]byte, error) {
	if err != nil || !set {
		return b, err
	}
	if b, err = value(append(b, key...), x); err != nil {
		return b, In(err, nameOf(key))
	}
	return b, nil
}

// AppendMemberSet appends what x points to, if anything.
func AppendMemberSet[T any](b []byte, err error, key string, x *T, value appender[T]) ([]byte, error) {
	if x == nil {
		return b, err
	}
	return AppendMember(b, err, key, true, *x, value)
}

// AppendMemberList appends a list if it is set.
func AppendMemberList[T any](b []byte, err error, key string, set bool, x []T, elem appender[T]) ([]byte, error) {
	if err != nil || !set {
		return b, err
	}
	if b, err = AppendList(append(b, key...), x, elem); err != nil {
		return b, In(err, nameOf(key))
	}
	return b, nil
}

// AppendNonEmpty appends a value unless it is written as an empty object.
func AppendNonEmpty[T any](b []byte, err error, key string, x T, value appender[T]) ([]byte, error) {
	start := len(b)
	b, err = AppendRequired(b, err, key, x, value)
	if err == nil && string(b[start+len(key):]) == "{}" {
		b = b[:start]
	}
	return b, err
}

// AppendMemberMap appends a map if it is set.
func AppendMemberMap[T any](
	b []byte, err error, key string, set bool, x map[string]T, value appender[T],
) ([]byte, error) {
	return AppendMember(b, err, key, set, x, func(b []byte, x map[string]T) ([]byte, error) {
		return AppendMap(b, x, value)
	})
}

// AppendMemberKeyedMap is AppendMemberMap for keys that are not strings.
func AppendMemberKeyedMap[K mapKey, T any](
	b []byte, err error, key string, set bool, x map[K]T, value appender[T],
) ([]byte, error) {
	return AppendMember(b, err, key, set, x, func(b []byte, x map[K]T) ([]byte, error) {
		return AppendKeyedMap(b, x, value)
	})
}

// OrNew is x, a new message if it is nil.
func OrNew[T any](x *T) *T { return Made(&x) }

// OrZero is what p points to, the zero value if it is nil.
func OrZero[T any](p *T) (x T) {
	if p != nil {
		x = *p
	}
	return x
}

// AppendMessage appends a message by its method.
func AppendMessage[T interface {
	AppendJSON([]byte) ([]byte, error)
}](b []byte, x T) ([]byte, error) {
	return x.AppendJSON(b)
}

// AppendUnknown appends the case of a oneof that the definition does not know.
func AppendUnknown(b []byte, err error, name string, x Value) ([]byte, error) {
	if err != nil {
		return b, err
	}
	if b, err = AppendValue(AppendKey(b, name), x); err != nil {
		return b, In(err, name)
	}
	return b, nil
}

// Need is the error of the required member name if it is not set.
func Need(err error, set bool, name string) error {
	if err != nil || set {
		return err
	}
	return In(NotSet(), name)
}

// NeedItems is the error of the list name of n elements if it has fewer than least.
func NeedItems(err error, n, least int, name string) error {
	if err != nil || n >= least {
		return err
	}
	return In(TooFew(least), name)
}

// NeedCase is the error of an object of whose alternatives none is set.
func NeedCase(err error, names ...string) error {
	if err != nil {
		return err
	}
	return NoCase(names...)
}

// nameOf is the name in a member's key.
func nameOf(key string) string {
	var r Reader
	r.Reset([]byte(key[1 : len(key)-1]))
	return r.String()
}
