package storetest

import (
	"bytes"
	"strings"
	"unicode/utf8"

	idem "github.com/idemgen/idem/runtime"
)

func valueTests[Tx any]() []namedTest[Tx] {
	return []namedTest[Tx]{
		{"ResultsThatLookLikeNothingReplayExactly", falsyResults[Tx]},
		{"PayloadsAndInputsThatLookLikeNothingAreKept", falsyPayloads[Tx]},
		{"HugeValuesAreKeptWhole", hugeValues[Tx]},
		{"AnyTextCanBeAnError", anyErrorText[Tx]},
		{"LongErrorsAreCutBetweenTwoRunes", longErrors[Tx]},
		{"NoHashIsNotAHashOfZeros", noHash[Tx]},
		{"LookupDoesNotShareMemoryBetweenCallers", noSharing[Tx]},
	}
}

// falsy are bodies that a careless store loses.
var falsy = map[string]idem.Body{
	"none":     {},
	"null":     {Codec: idem.CodecJSON, Data: []byte(`null`)},
	"false":    {Codec: idem.CodecJSON, Data: []byte(`false`)},
	"zero":     {Codec: idem.CodecJSON, Data: []byte(`0`)},
	"string":   {Codec: idem.CodecJSON, Data: []byte(`""`)},
	"no bytes": {Codec: "raw", Data: []byte{}},
	"one NUL":  {Codec: "raw", Data: []byte{0}},
	"dropped":  {Codec: idem.CodecDropped},
}

func falsyResults[Tx any](h *harness[Tx]) {
	for name, body := range falsy {
		c := claimOf(name)
		h.mustWin(c)
		e := done(c.Fence)
		e.Result = body
		h.wantSame(name+": result of the end", h.end(e).Result, body)
		h.wantSame(name+": result looked up", h.lookup(c.ID).Result, body)
		h.wantSame(name+": result for a duplicate", h.mustNotWin(claimOf(name), idem.StateDone).Result, body)
	}
}

func falsyPayloads[Tx any](h *harness[Tx]) {
	for name, body := range falsy {
		c := claimOf(name)
		c.Payload = body
		h.wantSame(name+": payload of the claim", h.mustWin(c).Work.Payload, body)
		e := started(c.Fence, "mail")
		e.Input, e.Result = body, body
		h.effect(e)
		h.wantSame(name+": payload looked up", h.lookup(c.ID).Payload, body)
		effect := effectsOf(h, name)[0]
		h.wantSame(name+": input", effect.Input, body)
		h.wantSame(name+": result of the effect", effect.Result, body)
	}
}

func hugeValues[Tx any](h *harness[Tx]) {
	huge := idem.Body{Codec: "raw", Data: bytes.Repeat([]byte("0123456789abcde\x00"), 1<<18)} // 4 MiB
	c := claimOf("a")
	c.Payload = huge
	h.mustWin(c)
	e := started(c.Fence, "mail")
	e.Input, e.Result = huge, huge
	h.effect(e)
	h.clock.advance(lease)
	owner := claimOf("a")
	claimed := h.mustWin(owner)
	end := done(owner.Fence)
	end.Result = huge
	h.end(end)
	for what, body := range map[string]idem.Body{
		"payload": claimed.Work.Payload, "input": claimed.Effects[0].Input,
		"result of the effect": claimed.Effects[0].Result, "result": h.lookup(c.ID).Result,
	} {
		if body.Codec != huge.Codec || !bytes.Equal(body.Data, huge.Data) {
			h.Errorf("%s: %d bytes came back as %d, or as others", what, len(huge.Data), len(body.Data))
		}
	}
}

func anyErrorText[Tx any](h *harness[Tx]) {
	c := claimOf("a")
	c.Release, c.CorrelationID = "v1\x00", "trace\xff"
	h.mustWin(c)
	e := started(c.Fence, "mail")
	e.State, e.Error, e.ExternalRef = idem.EffectNotApplied, "a\x00b\xffc", "\xff"
	h.effect(e)
	work := h.end(idem.End{Fence: c.Fence, State: idem.StateFailed, Error: "a\x00b\xffc", ExternalRef: "r\x00"})
	h.wantSame("error", work.LastError, "a\uFFFDb\uFFFDc")
	h.wantSame("reference", work.ExternalRef, "r\uFFFD")
	effect := effectsOf(h, "a")[0]
	h.wantSame("error of the effect", effect.LastError, "a\uFFFDb\uFFFDc")
	h.wantSame("reference of the effect", effect.ExternalRef, "\uFFFD")
}

func longErrors[Tx any](h *harness[Tx]) {
	for name, text := range map[string]string{
		"wide runes":             strings.Repeat("€", 5000),
		"an odd start":           "a" + strings.Repeat("€", 5000),
		"grows when it is clean": strings.Repeat("\xffa", 5000),
	} {
		c := claimOf(name)
		h.mustWin(c)
		got := h.end(idem.End{Fence: c.Fence, State: idem.StateUnknown, Error: text}).LastError
		if len(got) > 4<<10 || len(got) < 4<<10-utf8.UTFMax || !utf8.ValidString(got) {
			h.Errorf("%s: %d bytes are kept as %d, valid: %t", name, len(text), len(got), utf8.ValidString(got))
		}
		h.wantSame(name, h.lookup(c.ID).LastError, got)
	}
}

func noHash[Tx any](h *harness[Tx]) {
	c := claimOf("a")
	c.PayloadHash = idem.Hash{}
	h.wantSame("hash", h.mustWin(c).Work.PayloadHash, idem.Hash{})
	h.clock.advance(lease)
	h.mustNotWin(claimOf("a"), idem.StateRunning) // another payload than none
	h.mustWin(c)
}

func noSharing[Tx any](h *harness[Tx]) {
	c := claimOf("a")
	h.mustWin(c)
	copy(h.lookup(c.ID).Payload.Data, "spoilt by one caller")
	h.wantSame("payload", h.lookup(c.ID).Payload, c.Payload)
	h.wantTime("time in UTC", h.lookup(c.ID).CreatedAt, h.clock.Now())
	h.wantSame("location", h.lookup(c.ID).CreatedAt.Location().String(), "UTC")
}
