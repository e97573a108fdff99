package knowledge_test

import (
	"fmt"

	"github.com/idemgen/idem/contracts/knowledge"
)

func ExampleDeliveryNamed() {
	for _, name := range []string{"shopify", "kafka"} {
		d, _ := knowledge.DeliveryNamed(name)
		if horizon, stated := d.Horizon.Get(); stated {
			fmt.Printf("%s: for %.0f hours\n", d.Title, horizon.Hours())
			continue
		}
		fmt.Printf("%s: the contract has to say redelivers_for\n", d.Title)
	}
	// Output:
	// Shopify: for 4 hours
	// Apache Kafka: the contract has to say redelivers_for
}

func ExampleProviderNamed() {
	p, _ := knowledge.ProviderNamed("stripe")
	fmt.Println(p.Key.Place, p.Key.Name, p.Key.Format)
	fmt.Println("remembered:", p.Key.Remembered)
	fmt.Println("failures:", p.Key.Errors)
	fmt.Println("moves money:", p.MovesMoney())
	// Output:
	// header Idempotency-Key hex
	// remembered: 1d
	// failures: replayed
	// moves money: true
}
