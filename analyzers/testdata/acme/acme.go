// Package acme is somebody's own client, about which its directives speak.
package acme

// Client has no visible implementation.
type Client interface {
	// Charge takes money.
	//
	//idem:effect class=money
	Charge(amount int) error

	Token() string //idem:volatile
}

// Event comes in.
type Event struct {
	Name string
	Slot string //idem:volatile kind=received
	//idem:key
	Reference string
}

// Mint asks a server.
//
//idem:volatile kind=random
func Mint() (string, error) { return "", nil }

// Send has a key whose name does not say so.
//
//idem:key param=ref
//idem:effect class=third-party repeat=safe
func Send(ref, text string) {}

// Post must not be repeated under another reference.
//
//idem:key param=ref
//idem:effect class=message
func Post(ref, text string) {}

// Log sends what does not count.
//
//idem:pure
func Log(c Client) { _ = c.Charge(0) }

// Pay is seen to have an effect.
func Pay(c Client) error { return c.Charge(1) }

// Consume is called by a library that nobody knows.
//
//idem:handler means=queue
func Consume(e Event) {}
