package contracts

import (
	"go/token"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestEffectNamesBecomeGoNames(t *testing.T) {
	for _, test := range []struct{ effect, method, call string }{
		{"send_receipt", "SendReceipt", "sendReceipt"},
		{"mark_paid", "MarkPaid", "markPaid"},
		{"crm_id", "CRMID", "crmID"},
		{"id", "ID", "id"},
		{"url_of_id", "URLOfID", "urlOfID"},
		{"get_http_url", "GetHTTPURL", "getHTTPURL"},
		{"https_get", "HTTPSGet", "httpsGet"},
		{"post_json", "PostJSON", "postJSON"},
		{"send_v2", "SendV2", "sendV2"},
		{"step_2_done", "Step2Done", "step2Done"},
		{"identity", "Identity", "identity"},
		{"a", "A", "a"},
		{"a_b_c", "ABC", "aBC"},
		{"utf8_text", "UTF8Text", "utf8Text"},
		{"ids", "Ids", "ids"},
		{"trailing_", "Trailing", "trailing"},
		{"send__mail", "SendMail", "sendMail"},
	} {
		if got := MethodName(test.effect); got != test.method {
			t.Errorf("method of %s: got %s, want %s", test.effect, got, test.method)
		}
		e := Effect{Name: Value[string]{V: test.effect}}
		if e.Method() != test.method || e.CallName() != test.call {
			t.Errorf("%s: got %s and %s, want %s and %s", test.effect, e.Method(), e.CallName(), test.method, test.call)
		}
		e.Call = Value[string]{V: "other", Set: true}
		if e.CallName() != "other" {
			t.Errorf("%s: call is not heeded", test.effect)
		}
	}
}

func TestGoNamesBecomeEffectNames(t *testing.T) {
	for method, effect := range map[string]string{
		"SendReceipt": "send_receipt", "sendReceipt": "send_receipt", "CRMID": "crm_id", "crmID": "crm_id", "ID": "id",
		"GetHTTPURL": "get_http_url", "HTTPSGet": "https_get", "URLOfID": "url_of_id", "HTTPServerID": "http_server_id",
		"SendV2": "send_v2", "Step2Done": "step2_done", "UTF8Text": "utf8_text", "A": "a", "ABC": "a_b_c", "DoXYZNow": "do_x_y_z_now", "": "",
	} {
		if got := EffectName(method); got != effect {
			t.Errorf("%s: got %s, want %s", method, got, effect)
		}
	}
}

func TestTheEffectOfAMethodLeadsBackToIt(t *testing.T) {
	words := append(slices.Sorted(maps.Keys(initialisms)), "send", "receipt", "a", "x", "v2", "mail", "identity", "s", "he", "2")
	rapid.Check(t, func(t *rapid.T) {
		effect := ""
		for i, w := range rapid.SliceOfN(rapid.SampledFrom(words), 1, 5).Draw(t, "words") {
			if i > 0 {
				effect += "_"
			}
			effect += w
		}
		if !nameForm.MatchString(effect) {
			t.Skip("no name of an effect")
		}
		method := MethodName(effect)
		if !token.IsIdentifier(method) || !token.IsExported(method) {
			t.Fatalf("%s: %s is no exported Go name", effect, method)
		}
		if back := MethodName(EffectName(method)); back != method {
			t.Fatalf("%s is %s, whose effect %s is %s", effect, method, EffectName(method), back)
		}
	})
}
