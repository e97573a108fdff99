package matrix

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// CreateAmounts is the table of the scenario "row". That an amount is added twice
// no key of it prevents.
const CreateAmounts = `create table amounts (account text primary key, amount bigint not null)`

// AddAmount adds to an account.
const AddAmount = `insert into amounts values ($1, 1) on conflict (account) do update set amount = amounts.amount + 1`

// Amount says how often something was added.
func Amount(ctx context.Context, conn *pgx.Conn, account string) (n int, err error) {
	err = conn.QueryRow(ctx, `select coalesce(sum(amount), 0)::bigint from amounts where account = $1`, account).Scan(&n)
	return n, err
}
