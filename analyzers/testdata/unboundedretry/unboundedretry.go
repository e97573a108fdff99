package unboundedretry

import (
	"context"
	"errors"
	"log"
	"net/http"
	"strings"
	"time"

	"example.com/shop/unboundedretry/forever"
)

const url = "https://pay.example/charges"

type mailer interface{ SendMail(to, text string) error }

func chargeForEver(body string) error {
	for { // want `^retried without end, whatever the error is: loop → http.Post \(give up after some attempts or at a deadline\)$`
		resp, err := http.Post(url, "application/json", strings.NewReader(body))
		if err != nil {
			log.Print(err)
			time.Sleep(time.Second)
			continue
		}
		return resp.Body.Close()
	}
}

func remindForEver(m mailer, to string) {
	for { // want `loop → mailer.SendMail`
		if err := m.SendMail(to, "pay"); err == nil {
			break
		}
		time.Sleep(time.Second)
	}
}

func remindUntil(m mailer, to string) {
	err := errors.New("not yet")
	for err != nil { // want `loop → mailer.SendMail`
		err = m.SendMail(to, "pay")
	}
}

func payOutByStatus(c *http.Client, req *http.Request) {
	for { // want `loop → Client.Post`
		resp, err := c.Post("https://pay.example/payouts", "", nil)
		if err == nil && resp.StatusCode < 300 {
			paid(resp)
			return
		}
		<-time.After(time.Second)
	}
}

func paid(*http.Response) {}

type client struct{ http *http.Client }

func (c *client) again(body string) {
	for {
		if _, err := c.http.Post(url, "", strings.NewReader(body)); err == nil {
			return
		}
	}
}

func (c *client) SendMessage(text string) {
	c.again(text) // want `client.again → Client.Post`
}

func byLibrary(m mailer) {
	forever.Do(func() error { // want `forever.Do → mailer.SendMail`
		return m.SendMail("a@example.com", "pay")
	})
}

// From here on nothing is to be reported.

func byLimitedLibrary(m mailer) {
	forever.Do(func() error {
		return m.SendMail("a@example.com", "pay")
	}, forever.MaxAttempts(3))
}

func counted(m mailer) error {
	for n := 0; ; n++ {
		err := m.SendMail("a@example.com", "pay")
		if err == nil || n > 5 {
			return err
		}
	}
}

func conditioned(m mailer) (err error) {
	for n := 0; n < 3; n++ {
		if err = m.SendMail("a@example.com", "pay"); err == nil {
			return nil
		}
	}
	return err
}

func untilOver(ctx context.Context, m mailer) error {
	for {
		if err := m.SendMail("a@example.com", "pay"); err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Second):
		}
	}
}

func whileAlive(ctx context.Context, m mailer) {
	for ctx.Err() == nil {
		if err := m.SendMail("a@example.com", "pay"); err == nil {
			return
		}
	}
}

func unlessPermanent(m mailer) error {
	for {
		err := m.SendMail("a@example.com", "pay")
		if err == nil {
			return nil
		}
		if !temporary(err) {
			return err
		}
	}
}

func temporary(error) bool { return false }

func consume(m mailer, in chan string) {
	for to := range in {
		for range 2 {
			if err := m.SendMail(to, "pay"); err == nil {
				break
			}
		}
	}
}

type listener interface{ Accept() (mailer, error) }

func serve(l listener) {
	for {
		m, err := l.Accept()
		if err != nil {
			continue
		}
		if err := m.SendMail("a@example.com", "hello"); err == nil {
			return
		}
	}
}

func mailAll(m mailer, all []string) {
	for {
		for _, to := range all {
			if err := m.SendMail(to, "pay"); err != nil {
				log.Print(err)
			}
		}
		time.Sleep(time.Hour)
	}
}
