package demo

import (
	"net/http"
	"strings"
	"testing"
)

// acknowledged is what a well-behaved handler answers to both copies.
func acknowledged() []answer {
	return []answer{{Status: http.StatusOK, MailID: "mail_1"}, {Status: http.StatusOK, MailID: "mail_1"}}
}

func TestTheVerdictFindsEveryBreach(t *testing.T) {
	parked := []answer{{Status: http.StatusConflict, WorkID: "w"}, {Status: http.StatusConflict, WorkID: "w"}}
	givenUp := []answer{{Status: http.StatusOK}, {Status: http.StatusOK}}
	for name, test := range map[string]struct {
		charges, receipts int
		cents             int64
		answers           []answer
		withoutKeys       bool
		want              string // empty: no breach
	}{
		"all is well":                            {1, 1, 100, acknowledged(), false, ""},
		"charged twice":                          {2, 1, 200, acknowledged(), false, "charged 2 times"},
		"another amount":                         {1, 1, 90, acknowledged(), false, "90 cents in place of 100"},
		"two receipts":                           {1, 2, 100, acknowledged(), false, "2 receipts"},
		"lost":                                   {0, 0, 0, acknowledged(), false, "never charged"},
		"a receipt that the ledger made up":      {1, 0, 100, acknowledged(), false, "without a receipt"},
		"a receipt that is recorded as given up": {1, 0, 100, givenUp, false, ""},
		"one webhook was not answered":           {1, 1, 100, acknowledged()[:1], false, "1 of its 2 webhooks"},
		"buried":                                 {1, 1, 100, []answer{{Status: http.StatusOK, Error: "dead"}}, false, "given up: dead"},
		"unknown in spite of keys":               {1, 0, 100, parked, false, "honours keys"},
		"unknown without keys, charged":          {1, 0, 100, parked, true, ""},
		"unknown without keys, not charged":      {0, 0, 0, parked, true, ""},
		"unknown without keys, charged twice":    {2, 0, 200, parked, true, "charged 2 times"},
	} {
		t.Run(name, func(t *testing.T) {
			o := &outcome{orders: []order{{ID: "o", Cents: 100}}, books: newBooks(), answers: map[string][]answer{"o": test.answers}}
			if test.charges > 0 {
				o.books.charges["o"], o.books.charged["o"] = test.charges, test.cents
			}
			if test.receipts > 0 {
				o.books.receipts["o"] = test.receipts
			}
			err := o.check(!test.withoutKeys)
			switch {
			case test.want == "" && err != nil:
				t.Errorf("got %v, want no breach", err)
			case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

func TestTheTallyTellsUnknownFromLost(t *testing.T) {
	parked := []answer{{Status: http.StatusConflict, WorkID: "w"}}
	o := &outcome{
		orders:  []order{{ID: "twice", Cents: 100}, {ID: "four times", Cents: 100}, {ID: "lost"}, {ID: "asked"}, {ID: "asked, charged", Cents: 100}, {ID: "unmailed", Cents: 100}},
		books:   newBooks(),
		answers: map[string][]answer{"twice": acknowledged(), "four times": acknowledged(), "lost": acknowledged(), "asked": parked, "asked, charged": parked, "unmailed": {{Status: http.StatusOK}}},
	}
	for id, n := range map[string]int{"twice": 2, "four times": 4, "asked, charged": 1, "unmailed": 1} {
		o.books.charges[id], o.books.charged[id] = n, int64(n)*100
	}
	o.books.receipts["twice"], o.books.receipts["four times"] = 1, 3
	got := o.tally()
	if got.charges != 8 || got.chargedTwice != 2 || got.chargedThrice != 1 || got.overcharged != 400 {
		t.Errorf("charges: %+v", got)
	}
	if got.receipts != 4 || got.mailedTwice != 1 || got.receiptUnknown != 1 || got.lost != 1 {
		t.Errorf("receipts and losses: %+v", got)
	}
	want := []unknown{{"asked", "w", false}, {"asked, charged", "w", true}}
	if len(got.unknown) != 2 || got.unknown[0] != want[0] || got.unknown[1] != want[1] {
		t.Errorf("unknown: got %v, want %v", got.unknown, want)
	}
}
