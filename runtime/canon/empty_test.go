package canon

import (
	"testing"
	"time"
)

func TestWhatSaysNothingIsEmpty(t *testing.T) {
	for in, want := range map[string]bool{
		``: true, `""`: true, `null`: true, `[]`: true, `{}`: true, `"0001-01-01T00:00:00Z"`: true,
		`{"a":""}`: true, `{"a":null,"b":[],"c":{}}`: true, `{"a":{"b":{"c":""}},"d":null}`: true, `{"a\"}":""}`: true, `{"\\":""}`: true, `{"":""}`: true,
		`0`: false, `-1`: false, `false`: false, `true`: false, `"a"`: false, `" "`: false, `"\""`: false, `"null"`: false,
		`[null]`: false, `[""]`: false, `[[]]`: false, `{"a":0}`: false, `{"a":"","b":false}`: false, `{"a":{"b":"","c":"x"}}`: false, `{"a":[""]}`: false,
		`"0001-01-01T00:00:00.5Z"`: false, `"0001-01-01T00:00:01Z"`: false,
	} {
		if got := Empty([]byte(in)); got != want {
			t.Errorf("Empty(%s) = %v", in, got)
		}
	}
}

func TestTheZeroTimeIsEmptyInEveryZone(t *testing.T) {
	for _, at := range []time.Time{{}, time.Time{}.In(time.FixedZone("", 3600)), time.Time{}.Local()} {
		text, err := AppendTime(nil, at, time.Nanosecond)
		if err != nil || !Empty(text) {
			t.Errorf("%s, %v", text, err)
		}
	}
}

func TestAKeyOfOneFieldIsTextWithoutQuotes(t *testing.T) {
	for in, want := range map[string]string{
		`"a"`: `a`, `""`: ``, `1001`: `1001`, `true`: `true`, `null`: `null`, `["a"]`: `["a"]`, `{"a":"b"}`: `{"a":"b"}`,
		`"a\"\\\b\f\n\r\tb"`: "a\"\\\b\f\n\r\tb", `"\u0001\u001f"`: "\x01\x1f", `"é😀"`: "é😀", `"9007199254740993"`: "9007199254740993",
		`"\/\u00e9\ud83d\ude00x"`: "/é😀x", // not canonical, but an Appender may write it
	} {
		if got := string(Unquote([]byte("kind:v1:"+in), len("kind:v1:"))); got != "kind:v1:"+want {
			t.Errorf("Unquote(%s) = %q", in, got)
		}
	}
}
