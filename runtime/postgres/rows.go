package postgres

import (
	"fmt"
	"time"

	idem "github.com/idemgen/idem/runtime"
)

// scanner is a row, or rows that stand on one.
type scanner interface{ Scan(dest ...any) error }

// scanWork reads workColumns, the time of the reading, and one thing more that
// its statement says of the row.
func scanWork(row scanner) (w idem.Work, more bool, err error) {
	var (
		id, supersededBy        string
		token, hash             []byte
		payload, result         []byte
		next, locked, done, exp *time.Time
		acknowledged            *time.Time
	)
	err = row.Scan(
		&id, &w.Kind, &w.Version, &w.Scope, (*string)(&w.State), &token, &w.Attempt, &w.BudgetLeft,
		&w.Payload.Codec, &payload, &hash, &w.PayloadShape, &w.Result.Codec, &result, &w.ExternalRef,
		(*string)(&w.ErrorClass), &w.LastError, &next, &locked, &w.CreatedAt, &done, &exp,
		&w.UntilSuccess, &supersededBy, &acknowledged, &w.Now, &more)
	if err != nil {
		return idem.Work{}, false, err
	}
	if w.ID, err = idem.ParseWorkID(id); err != nil {
		return idem.Work{}, false, fmt.Errorf("work_log: %w", err)
	}
	if supersededBy != "" {
		if w.SupersededBy, err = idem.ParseWorkID(supersededBy); err != nil {
			return idem.Work{}, false, fmt.Errorf("work_log: superseded_by: %w", err)
		}
	}
	copy(w.Token[:], token)
	copy(w.PayloadHash[:], hash)
	w.Payload = loadBody(w.Payload.Codec, payload)
	w.Result = loadBody(w.Result.Codec, result)
	w.NextAttemptAt, w.LockedUntil, w.DoneAt, w.ExpiresAt = loadTime(next), loadTime(locked), loadTime(done), loadTime(exp)
	w.Acknowledged = loadTime(acknowledged)
	w.CreatedAt, w.Now = w.CreatedAt.UTC(), w.Now.UTC()
	w.Forever = done != nil && exp == nil
	return w, more, nil
}

func scanEffect(row scanner) (e idem.EffectRow, err error) {
	var hash, input, result []byte
	var done *time.Time
	var visible int64
	err = row.Scan(&e.Name, &e.Per, (*string)(&e.Guard), (*string)(&e.State), &e.Key, &e.Epoch, &e.Calls, &hash, &e.PayloadShape,
		&e.Input.Codec, &input, &e.Result.Codec, &result, &e.ExternalRef, &e.LastError, &e.StartedAt, &done, &visible)
	if err != nil {
		return idem.EffectRow{}, err
	}
	copy(e.PayloadHash[:], hash)
	e.Input = loadBody(e.Input.Codec, input)
	e.Result = loadBody(e.Result.Codec, result)
	e.StartedAt, e.DoneAt = e.StartedAt.UTC(), loadTime(done)
	e.VisibleAfter = time.Duration(visible) * time.Microsecond
	return e, nil
}

func scanMessage(row scanner) (*idem.SentMessage, error) {
	var (
		m      idem.SentMessage
		id     string
		result []byte
		sent   *time.Time
	)
	err := row.Scan((*string)(&m.State), &id, &m.Effect, &m.Per, &m.Key, &m.Result.Codec, &result, &m.ExternalRef, &m.Error, &sent, &m.ExpiresAt, &m.Until)
	if err != nil {
		return nil, err
	}
	if m.ID, err = idem.ParseWorkID(id); err != nil {
		return nil, fmt.Errorf("sent_messages: %w", err)
	}
	m.Result = loadBody(m.Result.Codec, result)
	m.SentAt, m.ExpiresAt, m.Until = loadTime(sent), m.ExpiresAt.UTC(), m.Until.UTC()
	return &m, nil
}

// storeBody makes the column null exactly if there is no body.
func storeBody(b idem.Body) any {
	switch {
	case b.Codec == idem.CodecNone:
		return nil
	case b.Codec == idem.CodecDropped || b.Data == nil:
		return []byte{}
	}
	return b.Data
}

func loadBody(codec string, data []byte) idem.Body {
	switch {
	case codec == idem.CodecNone || codec == idem.CodecDropped:
		return idem.Body{Codec: codec}
	case data == nil:
		return idem.Body{Codec: codec, Data: []byte{}}
	}
	return idem.Body{Codec: codec, Data: data}
}

func storeHash(h idem.Hash) any {
	if h == (idem.Hash{}) {
		return nil
	}
	return h[:]
}

func loadTime(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.UTC()
}

// toMicros rounds up: what is over zero must not become zero.
func toMicros(d time.Duration) int64 {
	if d <= 0 {
		return 0
	}
	return int64((d-1)/time.Microsecond) + 1
}
