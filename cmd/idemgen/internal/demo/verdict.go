package demo

import (
	"fmt"
	"net/http"
	"slices"
)

// tally is what an outcome comes to, in orders unless the name says otherwise.
type tally struct {
	charges, receipts         int   // sent to the provider and applied there
	chargedTwice, mailedTwice int   // or more often
	chargedThrice             int   // or more often: the double delivery alone does not explain it
	overcharged               int64 // cents
	lost                      int   // never charged, and reported to nobody
	receiptUnknown            int   // recorded as given up
	unknown                   []unknown
}

// unknown is an order of which nobody can know whether it was charged; except
// for this process, which is the provider as well.
type unknown struct {
	order, workID string
	charged       bool
}

func (o *outcome) tally() tally {
	var t tally
	for _, order := range o.orders {
		charges, receipts := o.books.charges[order.ID], o.books.receipts[order.ID]
		t.charges += charges
		t.receipts += receipts
		if charges > copies {
			t.chargedThrice++
		}
		if charges > 1 {
			t.chargedTwice++
			t.overcharged += o.books.charged[order.ID] - order.Cents
		}
		if receipts > 1 {
			t.mailedTwice++
		}
		workID, asked := o.asked(order.ID)
		switch {
		case asked:
			t.unknown = append(t.unknown, unknown{order.ID, workID, charges > 0})
		case charges == 0:
			t.lost++
		case o.receiptGivenUp(order.ID):
			t.receiptUnknown++
		}
	}
	return t
}

// asked tells whether an order was left to a person.
func (o *outcome) asked(id string) (workID string, asked bool) {
	for _, a := range o.answers[id] {
		if a.Status == http.StatusConflict {
			return a.WorkID, true
		}
	}
	return "", false
}

func (o *outcome) receiptGivenUp(id string) bool {
	return slices.ContainsFunc(o.answers[id], func(a answer) bool { return a.Status == http.StatusOK && a.MailID == "" })
}

// check holds the outcome of the generated handler against its contract, order
// by order.
func (o *outcome) check(honoursKeys bool) error {
	for _, order := range o.orders {
		if err := o.checkOrder(order, honoursKeys); err != nil {
			return fmt.Errorf("%w: %s: %w", ErrBroken, order.ID, err)
		}
	}
	return nil
}

func (o *outcome) checkOrder(order order, honoursKeys bool) error {
	charges, receipts := o.books.charges[order.ID], o.books.receipts[order.ID]
	_, asked := o.asked(order.ID)
	for _, a := range o.answers[order.ID] {
		if a.Error != "" && a.Status == http.StatusOK {
			return fmt.Errorf("it was given up: %s", a.Error)
		}
	}
	switch {
	case charges > 1:
		return fmt.Errorf("charged %d times", charges)
	case charges == 1 && o.books.charged[order.ID] != order.Cents:
		return fmt.Errorf("charged %d cents in place of %d", o.books.charged[order.ID], order.Cents)
	case receipts > 1:
		return fmt.Errorf("%d receipts were mailed", receipts)
	case len(o.answers[order.ID]) != copies:
		return fmt.Errorf("%d of its %d webhooks were answered", len(o.answers[order.ID]), copies)
	case asked && honoursKeys:
		return fmt.Errorf("a person is asked, although the provider honours keys")
	case asked:
		return nil
	case charges == 0:
		return fmt.Errorf("it was acknowledged and never charged")
	case receipts == 0 && !o.receiptGivenUp(order.ID):
		return fmt.Errorf("it was acknowledged without a receipt, and the ledger says that there was one")
	}
	return nil
}
