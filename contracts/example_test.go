package contracts_test

import (
	"fmt"

	"github.com/idemgen/idem/contracts"
)

func ExampleParse() {
	src := `contracts:
  order_paid:
    version: 1
    statement: An order is marked paid once per payment.
    handler: (*Orders).MarkPaid
    identity: {key: PaymentID}
    window: 90
    response: {when_done: return_original, while_running: {wait: 3s}, other_payload: error}
`
	_, diagnostics := contracts.Parse("billing/orders.idem.yaml", []byte(src))
	fmt.Print(diagnostics.Text())
	// Output:
	// billing/orders.idem.yaml:7:13: window: 90 has no unit (did you mean 90d?)
	//   7 |     window: 90
	//     |             ^^
}

func ExampleFile_Errorf() {
	file, _ := contracts.Parse("billing/orders.idem.yaml", []byte(`contracts:
  order_paid:
    identity: {key: PaymentId}
`))
	key := file.Contracts[0].Identity.Key[0]
	d := file.Errorf(key.Pos, "identity.key", "type OrderPaid has no field %s%s", key.V, contracts.DidYouMean(key.V, []string{"Amount", "PaymentID"})).
		At("billing/orders.go", 21, 6, "OrderPaid is declared here")
	fmt.Print(d.Text())
	// Output:
	// billing/orders.idem.yaml:3:21: identity.key: type OrderPaid has no field PaymentId (did you mean PaymentID?)
	//   3 |     identity: {key: PaymentId}
	//     |                     ^^^^^^^^^
	//   billing/orders.go:21:6: OrderPaid is declared here
}
