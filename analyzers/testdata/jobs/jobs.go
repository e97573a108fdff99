// Package jobs delivers work.
package jobs

// Delivery is a message that comes again until it is acknowledged.
type Delivery struct{ To string }

// Ack says that it need not.
func (d *Delivery) Ack() {}

// Job is work from a queue.
type Job struct{ ID, To string }

// Queue takes messages.
type Queue interface {
	Publish(d *Delivery) error
}
