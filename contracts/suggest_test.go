package contracts

import (
	"strings"
	"testing"
)

func TestNearWordsAreSuggested(t *testing.T) {
	fields := []string{"ShopifyOrderID", "PaymentID", "Customer", "CustomerID", "URL", "no_op", "return_original"}
	for word, want := range map[string]string{
		"ShopifyOrderId":  "ShopifyOrderID",
		"shopifyorderid":  "ShopifyOrderID",
		"ShopfyOrderID":   "ShopifyOrderID",
		"PaymetnID":       "PaymentID",
		"Payment_ID":      "PaymentID",
		"payment":         "PaymentID",
		"Custmer":         "Customer",
		"Url":             "URL",
		"no":              "no_op",
		"returnOriginal":  "return_original",
		"return-original": "return_original",
		"zebra":           "",
		"X":               "",
		"":                "",
		"URL":             "", // nothing to correct
		"cust":            "", // two begin with it
	} {
		if got := Suggest(word, fields); got != want {
			t.Errorf("%q: got %q, want %q", word, got, want)
		}
	}
	if Suggest(strings.Repeat("a", 1<<20), []string{strings.Repeat("a", 1<<20-1)}) != "" {
		t.Error("a suggestion was sought for a word of 1 MiB")
	}
	if got := DidYouMean("Url", fields); got != " (did you mean URL?)" {
		t.Errorf("got %q", got)
	}
	if got := DidYouMean("zebra", fields); got != "" {
		t.Errorf("got %q", got)
	}
}
