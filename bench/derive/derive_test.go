package derive

import (
	"crypto/sha256"
	"encoding/json"
	"testing"
	"time"

	"github.com/gowebpki/jcs"
	idem "github.com/idemgen/idem/runtime"
)

var (
	shipment = Shipment{Warehouse: "warehouse-north-2", OrderID: "450789469", Carrier: "parcel-express", Parcel: 3, Address: "12 Harbour Street, 0150 Oslo"}
	visit    = Visit{Clinic: "clinic-east", Patient: "p-1700423", Room: 12, Type: "follow_up", At: time.Date(2026, 11, 3, 9, 30, 0, 0, time.FixedZone("CET", 3600))}
)

const (
	shipmentPreimage = `shipment:v1:{"address":"12 Harbour Street, 0150 Oslo","carrier":"parcel-express","order_id":"450789469","parcel":3,"warehouse":"warehouse-north-2"}`
	visitPreimage    = `visit:v1:{"at":"2026-11-03T08:30:00Z","clinic":"clinic-east","patient":"p-1700423","room":12,"type":"follow_up"}`
)

// canonicalJSON is what people do with the libraries there are.
func canonicalJSON(b *testing.B, prefix string, v any) idem.WorkID {
	text, err := json.Marshal(v)
	if err != nil {
		b.Fatal(err)
	}
	if text, err = jcs.Transform(text); err != nil {
		b.Fatal(err)
	}
	return idem.HashWorkID(append([]byte(prefix), text...))
}

// measure interleaves the ways in slices of a thousand, so that all meet the same
// machine, and reports their times and ratios.
func measure(b *testing.B, preimage string, derive func() idem.WorkID, json func() idem.WorkID) {
	pre := []byte(preimage)
	if want := idem.HashWorkID(pre); derive() != want {
		b.Fatal("the derivation and the preimage differ: the comparison would be unfair")
	}
	if allocs := testing.AllocsPerRun(100, func() { derive() }); allocs != 0 {
		b.Errorf("%v allocations", allocs)
	}
	var took [3]time.Duration
	n := 0
	for b.Loop() {
		ways := [3]func(){
			func() { sinkID = derive() },
			func() { sinkSum = sha256.Sum256(pre) },
			func() { sinkID = json() },
		}
		for i, way := range ways {
			start := time.Now()
			for range 1000 {
				way()
			}
			took[i] += time.Since(start)
		}
		n += 1000
	}
	b.ReportMetric(float64(took[0].Nanoseconds())/float64(n), "derive-ns")
	b.ReportMetric(float64(took[1].Nanoseconds())/float64(n), "sha256-ns")
	b.ReportMetric(float64(took[0])/float64(took[1]), "derive/sha256")
	b.ReportMetric(float64(took[2])/float64(took[0]), "json+jcs/derive")
	b.ReportMetric(0, "ns/op")
}

// The compiler must not see that nobody reads the results.
var (
	sinkID  idem.WorkID
	sinkSum [sha256.Size]byte
)

func must(b *testing.B, id idem.WorkID, err error) idem.WorkID {
	if err != nil {
		b.Fatal(err)
	}
	return id
}

func BenchmarkFiveFields(b *testing.B) {
	measure(b, shipmentPreimage,
		func() idem.WorkID { id, err := shipmentID(shipment); return must(b, id, err) },
		func() idem.WorkID { return canonicalJSON(b, "shipment:v1:", shipment) })
}

func BenchmarkFiveFieldsWithATime(b *testing.B) {
	utc := visit
	utc.At = utc.At.UTC()
	measure(b, visitPreimage,
		func() idem.WorkID { id, err := visitID(visit); return must(b, id, err) },
		func() idem.WorkID { return canonicalJSON(b, "visit:v1:", utc) })
}
