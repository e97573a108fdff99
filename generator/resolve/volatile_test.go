package resolve

import (
	"go/token"
	"go/types"
	"testing"
)

func TestVolatileNamesAreRecognisedWordByWord(t *testing.T) {
	now := types.NewNamed(types.NewTypeName(token.NoPos, types.NewPackage("time", "time"), "Time", nil), types.NewStruct(nil, nil), nil)
	text := types.Typ[types.String]
	for _, test := range []struct {
		name, wire string
		t          types.Type
		want       bool
	}{
		{"ReceivedAt", "", now, true},
		{"CreatedAt", "", text, true},
		{"UpdatedOn", "", text, true},
		{"ModifiedTime", "", text, true},
		{"ProcessedTimestamp", "", text, true},
		{"LastModified", "", text, true},
		{"DateCreated", "", text, true},
		{"Created", "", now, true},
		{"At", "created_at", now, true},
		{"When", "received-at", text, true},
		{"RequestID", "", text, true},
		{"XRequestID", "", text, true},
		{"TraceID", "", text, true},
		{"SpanId", "", text, true},
		{"CorrelationID", "", text, true},
		{"RunID", "", text, true},
		{"ExecutionID", "", text, true},
		{"JobID", "", text, true},
		{"Handle", "receipt_handle", text, true},
		{"MessageReceiptID", "", text, true},
		{"Attempt", "", text, true},
		{"AttemptID", "", text, true},
		{"PaymentAttemptID", "", text, false},
		{"DeliveryAttempt", "", text, true},
		{"RetryCount", "", text, true},
		{"ApproximateReceiveCount", "", text, true},
		{"Nonce", "", text, true},
		{"RandomSeed", "", text, true},
		{"Hostname", "", text, true},
		{"WorkerHost", "", text, true},
		{"PID", "", text, true},

		{"CreatedBy", "", text, false},
		{"Created", "", text, false},
		{"UpdatedFields", "", text, false},
		{"PayoutRequestID", "", text, false},
		{"PrintJobID", "", text, false},
		{"JobTitle", "", text, false},
		{"Host", "host_id", text, true},
		{"HostID", "", text, false},
		{"PatientID", "pid", text, false},
		{"ReceiptID", "", text, false},
		{"DeliveryNumber", "", text, false},
		{"CreditNoteID", "", text, false},
		{"At", "", now, false},
		{"DueDate", "", now, false},
		{"Announced", "", text, false},
		{"ID", "id", text, false},
		{"", "", text, false},
		{"_", "_", text, false},
	} {
		if got := volatile(test.name, test.wire, test.t); (got != "") != test.want {
			t.Errorf("volatile(%q, %q) = %q, want volatile %v", test.name, test.wire, got, test.want)
		}
	}
}
