package catalogue

import (
	"strings"
	"testing"
)

func TestNamesAreSplitIntoWords(t *testing.T) {
	for name, want := range map[string]string{
		"markAsSent":  "mark as sent",
		"SendSMS":     "send sms",
		"SetNX":       "set nx",
		"HTTPPost":    "http post",
		"sent_at":     "sent at",
		"OrderV2Sent": "order v2 sent",
		"":            "",
	} {
		if got := strings.Join(Words(name), " "); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
}

func TestNamesSayWhetherAMethodActs(t *testing.T) {
	for name, want := range map[string]bool{
		"SendMessage": true, "Charge": true, "notifyAll": true, "CreateRefund": true,
		"GetCharge": false, "Sender": false, "CreateChatCompletion": false, "CreateToken": false, "Close": false,
	} {
		if got := NamesAct(name); got != want {
			t.Errorf("%s: got %v", name, got)
		}
	}
}
