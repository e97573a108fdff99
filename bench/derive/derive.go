// Package derive measures the derivation of a five-field key against hashing
// alone, and against what people do otherwise: json.Marshal, an RFC 8785 library
// and SHA-256.
package derive

import (
	"context"
	"time"
)

// Shipment is work named by five of its fields.
type Shipment struct {
	Warehouse string `json:"warehouse"`
	OrderID   string `json:"order_id"`
	Carrier   string `json:"carrier"`
	Parcel    int    `json:"parcel"`
	Address   string `json:"address"`
}

// Visit is work named by five fields, a time among them.
type Visit struct {
	Clinic  string    `json:"clinic"`
	Patient string    `json:"patient"`
	Room    int       `json:"room"`
	Type    string    `json:"type"`
	At      time.Time `json:"at"`
}

// None is an answer without content.
type None struct{}

// Ship is the handler of the contract shipment.
func Ship(context.Context, Shipment) (None, error) { return None{}, nil }

// Book is the handler of the contract visit.
func Book(context.Context, Visit) (None, error) { return None{}, nil }
