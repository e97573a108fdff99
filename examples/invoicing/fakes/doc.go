// Package fakes has the services that the invoicing program calls: a payment
// provider that honours idempotency keys, a CRM whose search lags behind, and a
// chat service that remembers nothing. They are HTTP handlers, to be served for
// real, which go wrong when told to and count what they applied: what happened,
// as opposed to what the caller was told.
package fakes
