package sqlite

import (
	"database/sql"
	"fmt"
	"time"

	idem "github.com/idemgen/idem/runtime"
)

// scanner is a row, or rows that stand on one.
type scanner interface{ Scan(dest ...any) error }

// scanWork reads workColumns. now is the time of the reading.
func scanWork(row scanner, now int64) (idem.Work, error) {
	var (
		w                             idem.Work
		id                            string
		token, payloadHash            []byte
		payload, result               []byte
		next, locked, done, expiresAt sql.NullInt64
		created                       int64
		supersededBy                  string
		acknowledged                  sql.NullInt64
	)
	err := row.Scan(
		&id, &w.Kind, &w.Version, &w.Scope, (*string)(&w.State), &token, &w.Attempt, &w.BudgetLeft,
		&w.Payload.Codec, &payload, &payloadHash, &w.PayloadShape, &w.Result.Codec, &result, &w.ExternalRef,
		(*string)(&w.ErrorClass), &w.LastError, &next, &locked, &created, &done, &expiresAt,
		&w.UntilSuccess, &supersededBy, &acknowledged)
	if err != nil {
		return idem.Work{}, err
	}
	if w.ID, err = idem.ParseWorkID(id); err != nil {
		return idem.Work{}, fmt.Errorf("work_log: %w", err)
	}
	if supersededBy != "" {
		if w.SupersededBy, err = idem.ParseWorkID(supersededBy); err != nil {
			return idem.Work{}, fmt.Errorf("work_log: superseded_by: %w", err)
		}
	}
	copy(w.Token[:], token)
	copy(w.PayloadHash[:], payloadHash)
	w.Payload = loadBody(w.Payload.Codec, payload)
	w.Result = loadBody(w.Result.Codec, result)
	w.NextAttemptAt = loadTime(next)
	w.LockedUntil = loadTime(locked)
	w.CreatedAt = fromMicros(created)
	w.DoneAt = loadTime(done)
	w.ExpiresAt = loadTime(expiresAt)
	w.Acknowledged = loadTime(acknowledged)
	w.Forever = done.Valid && !expiresAt.Valid
	w.Now = fromMicros(now)
	return w, nil
}

func scanEffect(row scanner) (idem.EffectRow, error) {
	var (
		e             idem.EffectRow
		hash          []byte
		input, result []byte
		started       int64
		done          sql.NullInt64
		visible       int64
	)
	err := row.Scan(&e.Name, &e.Per, (*string)(&e.Guard), (*string)(&e.State), &e.Key, &e.Epoch, &e.Calls, &hash, &e.PayloadShape,
		&e.Input.Codec, &input, &e.Result.Codec, &result, &e.ExternalRef, &e.LastError, &started, &done, &visible)
	if err != nil {
		return idem.EffectRow{}, err
	}
	copy(e.PayloadHash[:], hash)
	e.Input = loadBody(e.Input.Codec, input)
	e.Result = loadBody(e.Result.Codec, result)
	e.StartedAt = fromMicros(started)
	e.DoneAt = loadTime(done)
	e.VisibleAfter = time.Duration(visible) * time.Microsecond
	return e, nil
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
	case data == nil: // how the driver gives an empty value
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

func loadTime(micros sql.NullInt64) time.Time {
	if !micros.Valid {
		return time.Time{}
	}
	return fromMicros(micros.Int64)
}
