package idem

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"reflect"
	"slices"
	"strings"
	"syscall"
)

// Permanent marks err: trying again cannot help. The work becomes dead, an
// effect refused. Nil stays nil.
func Permanent(err error) error { return mark(ClassPermanent, err) }

// NotApplied marks err: the call has certainly done nothing, so it may be made
// again whatever its guard. That is to hold for every try that the function and its
// client have made: where the provider replays stored failures, the next call has
// another key. Nil stays nil.
func NotApplied(err error) error { return mark(ClassNotApplied, err) }

// Unknown marks err: the call may have been applied. Nil stays nil.
func Unknown(err error) error { return mark(ClassUnknown, err) }

// HTTPStatus gives err the status of an HTTP answer, by which the ledger tells a
// refusal from what may have happened all the same: 402 and 422 are refused for
// good, 429 has done nothing, 503 may have been applied. Errors that already have
// a method StatusCode or HTTPStatusCode need no help. Nil stays nil.
func HTTPStatus(status int, err error) error {
	if err == nil {
		return nil
	}
	return &httpError{status, err}
}

type httpError struct {
	status int
	error
}

func (e *httpError) StatusCode() int { return e.status }
func (e *httpError) Unwrap() error   { return e.error }

type marked struct {
	class Class
	error
}

func (m *marked) Unwrap() error { return m.error }

func mark(class Class, err error) error {
	if err == nil {
		return nil
	}
	return &marked{class, err}
}

// reading is how the errors of one contract are read: its own lists first, then
// what is known of common errors.
type reading struct {
	permanent, transient []ErrorMatch
}

// named are all errors that the contract names.
func (r reading) named() []ErrorMatch { return slices.Concat(r.permanent, r.transient) }

// callClass says what the error of an effect's call means for a repeat of the
// call. What nobody has classified may have been applied.
func (r reading) callClass(err error) Class {
	switch class := (reading{calls(r.permanent), r.transient}).class(err, mostUncertain); class {
	case "", ClassTransient:
		return ClassUnknown
	default:
		return class
	}
}

// calls makes a list of permanent errors say nothing about a call that was cut
// off: "never again" is no evidence that it did nothing, as an SDK shows that
// wraps its timeouts in the error that it gives for everything.
func calls(permanent []ErrorMatch) []ErrorMatch {
	certain := make([]ErrorMatch, len(permanent))
	for i, m := range permanent {
		is := m.is
		certain[i] = ErrorMatch{Name: m.Name, value: m.value, is: func(err error) bool { return is(err) && !cutOff(err) }}
	}
	return certain
}

// handlerClass says whether a handler that returned err is to be run again.
// What nobody has classified is tried again.
func (r reading) handlerClass(err error) Class {
	if class := r.class(err, mostRetryable); class != "" {
		return class
	}
	return ClassTransient
}

// class walks down to what says most: a mark, a joined error (whose parts are
// read one by one) or this package's own error; then it asks the contract's
// lists and at last the table of common errors.
func (r reading) class(err error, combine func(a, b Class) Class) Class {
	for e := err; e != nil; e = errors.Unwrap(e) {
		if m, ok := e.(*marked); ok {
			return m.class
		}
		if parts := joined(e); len(parts) > 0 {
			class := r.class(parts[0], combine)
			for _, part := range parts[1:] {
				class = combine(class, r.class(part, combine))
			}
			return class
		}
		if own, ok := e.(*Error); ok {
			if own.Reason == ErrEffectRefused {
				// From now on it is answered from its row, whatever its cause was: one
				// that may pass later, if the effect had no call left.
				return ClassPermanent
			}
			if class := r.listed(err); class != "" {
				return class
			}
			return own.class()
		}
	}
	if m, ok := errors.AsType[*marked](err); ok {
		return m.class
	}
	if class := r.listed(err); class != "" {
		return class
	}
	if own, ok := errors.AsType[*Error](err); ok { // beside another error, in a fmt.Errorf
		return own.class()
	}
	return commonClass(err)
}

func (r reading) listed(err error) Class {
	for _, m := range r.permanent {
		if m.is(err) {
			return ClassPermanent
		}
	}
	for _, m := range r.transient {
		if m.is(err) {
			// "Try again" is no evidence that a call which was cut off did nothing.
			if cutOff(err) {
				return ClassUnknown
			}
			return ClassNotApplied
		}
	}
	return ""
}

// saidNotApplied tells whether an error that means that nothing was applied has that
// from a mark, and not from what is known of common errors. Of several errors in
// one, each has to.
func saidNotApplied(err error) bool {
	for e := err; e != nil; e = errors.Unwrap(e) {
		if m, ok := e.(*marked); ok {
			return m.class == ClassNotApplied
		}
		if parts := joined(e); len(parts) > 0 {
			return !slices.ContainsFunc(parts, func(part error) bool { return !saidNotApplied(part) })
		}
	}
	m, ok := errors.AsType[*marked](err) // beside another error, in a fmt.Errorf
	return ok && m.class == ClassNotApplied
}

// class is what an error of this package means to a handler that returns it.
func (e *Error) class() Class {
	if e.Class != "" {
		return e.Class
	}
	switch e.Reason {
	case ErrEffectRefused, ErrGivenUp, ErrDead, ErrPayloadMismatch, ErrIdentity, ErrContract, ErrInTransaction:
		return ClassPermanent
	}
	return ClassTransient
}

var wrapErrorsType = reflect.TypeOf(fmt.Errorf("%w%w", io.EOF, io.EOF))

func joined(err error) []error {
	multi, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return nil
	}
	if _, own := err.(*Error); own || reflect.TypeOf(err) == wrapErrorsType {
		return nil
	}
	return multi.Unwrap()
}

// mostRetryable: a batch is tried again if any of its parts may be.
func mostRetryable(a, b Class) Class {
	return first(a, b, "", ClassTransient, ClassNotApplied, ClassUnknown)
}

// mostUncertain: a call may have been applied if any of its parts may have been.
func mostUncertain(a, b Class) Class {
	return first(a, b, "", ClassUnknown, ClassTransient, ClassNotApplied)
}

func first(a, b Class, order ...Class) Class {
	for _, class := range order {
		if a == class || b == class {
			return class
		}
	}
	return ClassPermanent
}

// cutOff reports that a call ended without an answer, so that it may have been
// applied. Of several errors in one, such as those of two tries, any counts.
func cutOff(err error) bool {
	if parts := wrapped(err); len(parts) > 0 {
		return slices.ContainsFunc(parts, cutOff)
	}
	if notSent(err) {
		return false
	}
	// What fails on a connection that was made may have failed after the request
	// had gone out.
	if op, ok := errors.AsType[*net.OpError](err); ok && (op.Op == "read" || op.Op == "write") {
		return true
	}
	var timeout net.Error
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) ||
		errors.As(err, &timeout) && timeout.Timeout()
}

// notSent reports that a call ended before anything was sent. err wraps no more
// than one error at a time.
func notSent(err error) bool {
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Op == "dial" {
		return true
	}
	_, dns := errors.AsType[*net.DNSError](err)
	return dns || errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, driver.ErrBadConn)
}

// wrapped returns what the first error on the way down wraps that wraps several,
// or nothing.
func wrapped(err error) []error {
	for ; err != nil; err = errors.Unwrap(err) {
		if multi, ok := err.(interface{ Unwrap() []error }); ok {
			return multi.Unwrap()
		}
	}
	return nil
}

// commonClass knows the errors of context, net, syscall and databases, and those
// that carry an HTTP status or an SQLSTATE. Of several in one, the first try may
// have been applied although the second could not be sent.
func commonClass(err error) Class {
	if parts := wrapped(err); len(parts) > 0 {
		classes := make([]Class, len(parts))
		for i, part := range parts {
			classes[i] = commonClass(part)
		}
		for _, class := range []Class{ClassUnknown, ClassNotApplied, ClassPermanent} {
			if slices.Contains(classes, class) {
				return class
			}
		}
		return ""
	}
	switch {
	case err == nil:
		return ""
	case notSent(err):
		return ClassNotApplied
	case cutOff(err):
		return ClassUnknown
	}
	if status := httpStatus(err); status != 0 {
		return statusClass(status)
	}
	if state, ok := errors.AsType[interface {
		error
		SQLState() string
	}](err); ok {
		return sqlStateClass(state.SQLState())
	}
	return ""
}

func httpStatus(err error) int {
	if e, ok := errors.AsType[interface {
		error
		StatusCode() int
	}](err); ok {
		return e.StatusCode()
	}
	if e, ok := errors.AsType[interface {
		error
		HTTPStatusCode() int
	}](err); ok {
		return e.HTTPStatusCode()
	}
	return 0
}

// statusClass reads an HTTP status, by number so that nobody pulls in net/http
// who does not speak HTTP. A refusal for who asks (401, 403) or for how
// often (425, 429) has applied nothing and may pass later; 409 is also what a
// provider answers while the first call with the same key is still under way, and
// 499 what a proxy answers for a call that it was told to give up.
func statusClass(status int) Class {
	switch status {
	case 401, 403, 425, 429:
		return ClassNotApplied
	case 408, 409, 499:
		return ClassUnknown
	}
	switch {
	case status >= 400 && status < 500:
		return ClassPermanent
	case status >= 500, status >= 300:
		return ClassUnknown
	}
	return ""
}

// sqlStateClass reads the first two characters of an SQLSTATE (SQL:2023 and
// PostgreSQL, appendix A).
func sqlStateClass(state string) Class {
	switch {
	case state == "40003":
		return ClassUnknown // statement completion unknown
	case strings.HasPrefix(state, "40"), strings.HasPrefix(state, "53"), strings.HasPrefix(state, "55"):
		return ClassNotApplied // rolled back, out of resources, object not ready
	case strings.HasPrefix(state, "22"), strings.HasPrefix(state, "23"), strings.HasPrefix(state, "42"):
		return ClassPermanent // bad data, constraint, bad statement
	case strings.HasPrefix(state, "08"), strings.HasPrefix(state, "57"):
		return ClassUnknown // connection, operator intervention
	}
	return ""
}
