package transfers

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	idem "github.com/idemgen/idem/runtime"
)

// Order moves an amount from one account to another.
type Order struct {
	Order  string
	From   string
	To     string
	Amount int64
}

// Receipt is what the paying account has left.
type Receipt struct {
	Left int64
}

// Effects is what a transfer does to the world.
type Effects interface {
	Book(ctx context.Context, order Order) (Receipt, error)
}

// Accounts is the program.
type Accounts struct{}

// Transfer handles an order.
func (a *Accounts) Transfer(ctx context.Context, effects Effects, order Order) (Receipt, error) {
	if order.Amount <= 0 {
		return Receipt{}, idem.Permanent(fmt.Errorf("an amount of %d cannot be moved", order.Amount))
	}
	return effects.Book(ctx, order)
}

// book writes in the transaction that the ledger commits.
func (a *Accounts) book(ctx context.Context, call idem.TxCall[pgx.Tx], order Order) (receipt Receipt, err error) {
	tx := call.Tx()
	err = tx.QueryRow(ctx, `UPDATE accounts SET balance = balance - $2 WHERE name = $1 RETURNING balance`, order.From, order.Amount).Scan(&receipt.Left)
	if err != nil {
		return Receipt{}, fmt.Errorf("account %s: %w", order.From, err)
	}
	if receipt.Left < 0 {
		return Receipt{}, idem.Permanent(fmt.Errorf("account %s has %d too little", order.From, -receipt.Left))
	}
	_, err = tx.Exec(ctx, `UPDATE accounts SET balance = balance + $2 WHERE name = $1`, order.To, order.Amount)
	return receipt, err
}
