package audit_test

import (
	"bytes"
	"context"
	"image"
	"image/png"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/idemgen/idem/analyzers/audit"
)

func shopPage(t *testing.T) string {
	t.Helper()
	var b bytes.Buffer
	if err := audit.HTML(&b, shop(t)); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestThePageNeedsNothingElseAndRunsNothing(t *testing.T) {
	text := shopPage(t)
	for _, no := range []string{"<script", "<link", "<img", "<iframe", "src=", "@import", "url(", "javascript:", "onclick"} {
		if strings.Contains(strings.ToLower(text), no) {
			t.Errorf("the page has %s", no)
		}
	}
	if !strings.Contains(text, "&lt;script&gt;alert(1)&lt;/script&gt;") {
		t.Error("the hostile name is not shown as text")
	}
}

func TestThePageHasTheStructureThatReadersByEarNeed(t *testing.T) {
	text := shopPage(t)
	for _, want := range []string{`<html lang="en">`, "<header>", "<main ", "<footer>", "<nav aria-label=", `scope="col"`, "<caption>", `class="skip"`} {
		if !strings.Contains(text, want) {
			t.Errorf("the page has no %s", want)
		}
	}
	last := 0
	for _, m := range regexp.MustCompile(`<h([1-6])`).FindAllStringSubmatch(text, -1) {
		level, err := strconv.Atoi(m[1])
		if err != nil {
			t.Fatal(err)
		}
		if level > last+1 {
			t.Errorf("a heading of level %d after one of level %d", level, last)
		}
		last = level
	}
	ids := map[string]bool{}
	for _, m := range regexp.MustCompile(` id="([^"]+)"`).FindAllStringSubmatch(text, -1) {
		if ids[m[1]] {
			t.Errorf("two elements have the id %s", m[1])
		}
		ids[m[1]] = true
	}
	for _, m := range regexp.MustCompile(`(?:href="#|aria-labelledby=")([^"]+)"`).FindAllStringSubmatch(text, -1) {
		if !ids[m[1]] {
			t.Errorf("nothing has the id %s", m[1])
		}
	}
}

// TestColoursCanBeTold holds the contrast of text against both of its grounds in
// both themes: 4.5 to 1, as WCAG 2 asks of text.
func TestColoursCanBeTold(t *testing.T) {
	themes := regexp.MustCompile(`(?s):root \{(.*?)\}`).FindAllStringSubmatch(shopPage(t), -1)
	if len(themes) != 2 {
		t.Fatalf("%d themes", len(themes))
	}
	for i, theme := range themes {
		colours := map[string]float64{}
		for _, m := range regexp.MustCompile(`--(\w+): #([0-9a-f]{3,6})`).FindAllStringSubmatch(theme[1], -1) {
			colours[m[1]] = luminance(t, m[2])
		}
		for _, text := range []string{"ink", "soft", "link", "money", "inbox", "external", "internal", "none", "bad", "good"} {
			for _, ground := range []string{"paper", "card"} {
				a, b := colours[text], colours[ground]
				if ratio := (max(a, b) + 0.05) / (min(a, b) + 0.05); ratio < 4.5 {
					t.Errorf("theme %d: %s on %s has a contrast of %.1f", i, text, ground, ratio)
				}
			}
		}
	}
}

func luminance(t *testing.T, hex string) float64 {
	t.Helper()
	if len(hex) == 3 {
		hex = string([]byte{hex[0], hex[0], hex[1], hex[1], hex[2], hex[2]})
	}
	var l float64
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		n, err := strconv.ParseUint(hex[2*i:2*i+2], 16, 8)
		if err != nil {
			t.Fatal(err)
		}
		c := float64(n) / 255
		if c <= 0.04045 {
			c /= 12.92
		} else {
			c = math.Pow((c+0.055)/1.055, 2.4)
		}
		l += weight * c
	}
	return l
}

// TestThePageFitsAPhoneAndFollowsTheTheme draws the page in a browser. It needs
// Chromium, and says so where there is none.
func TestThePageFitsAPhoneAndFollowsTheTheme(t *testing.T) {
	browser := chromium()
	if browser == "" {
		t.Skip("no Chromium is installed (package chromium): the page was not drawn")
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "audit.html")
	if err := os.WriteFile(file, []byte(shopPage(t)), 0o644); err != nil {
		t.Fatal(err)
	}
	light := draw(t, browser, dir, file, 1000, false)
	if r, g, b, _ := light.At(5, 5).RGBA(); r+g+b != 3*0xffff {
		t.Errorf("the ground of the light page is %x %x %x", r, g, b)
	}
	dark := draw(t, browser, dir, file, 1000, true)
	if r, g, b, _ := dark.At(5, 5).RGBA(); r+g+b > 0x4000 {
		t.Errorf("the ground of the dark page is %x %x %x", r, g, b)
	}
	// A page that is wider than the window would be cut off: the text at the edge.
	narrow := draw(t, browser, dir, file, 500, false)
	width := narrow.Bounds().Dx()
	for y := range narrow.Bounds().Dy() {
		if r, g, b, _ := narrow.At(width-2, y).RGBA(); r+g+b != 3*0xffff {
			t.Fatalf("something reaches the edge of a narrow window at %d", y)
		}
	}
}

func chromium() string {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

func draw(t *testing.T, browser, dir, file string, width int, dark bool) image.Image {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 90*time.Second)
	defer cancel()
	shot := filepath.Join(dir, "shot.png")
	args := []string{"--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--user-data-dir=" + filepath.Join(dir, "profile"),
		"--window-size=" + strconv.Itoa(width) + ",3000", "--screenshot=" + shot}
	if dark {
		args = append(args, "--blink-settings=preferredColorScheme=0")
	}
	if out, err := exec.CommandContext(ctx, browser, append(args, "file://"+file)...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	f, err := os.Open(shot)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	img, err := png.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(shot); err != nil {
		t.Fatal(err)
	}
	return img
}
