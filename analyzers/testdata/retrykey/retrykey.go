package retrykey

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/http"
	"strings"
	"time"

	"github.com/google/uuid"
)

const url = "https://pay.example/charges"

func chargeUntilItWorks(body string) error {
	for attempt := 0; attempt < 3; attempt++ { // want `^retried without a key: an attempt that failed may have succeeded: loop → http.Post \(send the same key with each attempt\)$`
		resp, err := http.Post(url, "application/json", strings.NewReader(body))
		if err == nil {
			return resp.Body.Close()
		}
		time.Sleep(time.Second)
	}
	return errors.New("gave up")
}

// The request is made in a literal, and the error decided about below.
func sendPayment(ctx context.Context, body string) error {
	retry := 0
	for { // want `loop → http.NewRequestWithContext`
		err := func() error {
			req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(body))
			if err != nil {
				return err
			}
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				return err
			}
			return resp.Body.Close()
		}()
		if err != nil {
			if retry < 5 {
				retry++
				continue
			}
			return err
		}
		break
	}
	return nil
}

// The request is made before the loop, and the status decides as well.
func sendWebhook(req *http.Request, c *http.Client) error {
	req, err := http.NewRequest("POST", url, nil)
	if err != nil {
		return err
	}
	for i := range 5 { // want `loop → http.NewRequest`
		resp, err := c.Do(req)
		if err == nil && resp.StatusCode < 300 {
			return nil
		}
		time.Sleep(time.Duration(i) * time.Second)
	}
	return errors.New("gave up")
}

type mailer interface{ SendMail(to, text string) error }

func remind(m mailer, to string) (err error) {
	for _, delay := range []time.Duration{0, time.Second} { // want `loop → mailer.SendMail`
		time.Sleep(delay)
		if err = m.SendMail(to, "pay"); err != nil {
			log.Print(err)
			continue
		}
		return nil
	}
	return err
}

func remindUntil(m mailer, to string) {
	err := errors.New("not yet")
	for err != nil { // want `loop → mailer.SendMail`
		err = m.SendMail(to, "pay")
	}
}

func remindSwitch(m mailer, to string) error {
	for n := 0; ; n++ { // want `loop → mailer.SendMail`
		err := m.SendMail(to, "pay")
		switch {
		case err == nil:
			return nil
		case n > 5:
			return err
		}
	}
}

// A helper whose name says nothing, for functions whose names do.
type client struct{ http *http.Client }

func (c *client) again(body string) (err error) {
	for range 3 {
		if err = c.once(body); err == nil {
			return nil
		}
	}
	return err
}

func (c *client) once(body string) error {
	resp, err := c.http.Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		return err
	}
	return resp.Body.Close()
}

func (c *client) SendMessage(text string) error {
	return c.again(text) // want `client.again → client.once → Client.Post`
}

func (c *client) GetMe() error { return c.again("") }

// Helpers by name.
func retryTimes(n int, f func() error) (err error) {
	for range n {
		if err = f(); err == nil {
			return nil
		}
	}
	return err
}

func pay(m mailer) error {
	return retryTimes(3, func() error { // want `retrykey.retryTimes → mailer.SendMail`
		return m.SendMail("a@example.com", "paid")
	})
}

// The key is made by each attempt.
func chargeWithNewKeys(body string) error {
	for range 3 {
		req, err := http.NewRequest("POST", url, strings.NewReader(body))
		if err != nil {
			return err
		}
		req.Header.Set("Idempotency-Key", uuid.NewString()) // want `^each attempt gets another key: uuid.NewString → Idempotency-Key \(make the key before the first attempt\)$`
		if _, err = http.DefaultClient.Do(req); err == nil {
			return nil
		}
	}
	return errors.New("gave up")
}

// A transport sends whatever comes in again.
type transport struct{ base http.RoundTripper }

func (t *transport) RoundTrip(req *http.Request) (resp *http.Response, err error) {
	for range 3 { // want `loop → retrykey.chargeUntilItWorks → http.Post`
		if resp, err = t.base.RoundTrip(req); err == nil {
			return resp, nil
		}
	}
	return nil, err
}

// From here on nothing is to be reported.

type careful struct{ base http.RoundTripper }

func (t *careful) RoundTrip(req *http.Request) (resp *http.Response, err error) {
	if req.Method != http.MethodGet {
		return t.base.RoundTrip(req)
	}
	for range 3 {
		if resp, err = t.base.RoundTrip(req); err == nil {
			return resp, nil
		}
	}
	return nil, err
}

func chargeWithOneKey(invoice, body string) error {
	for range 3 {
		req, err := http.NewRequest("POST", url, strings.NewReader(body))
		if err != nil {
			return err
		}
		req.Header.Set("Idempotency-Key", "charge:"+invoice)
		if _, err = http.DefaultClient.Do(req); err == nil {
			return nil
		}
	}
	return errors.New("gave up")
}

func remindAll(m mailer, all []string) {
	for _, to := range all {
		if err := m.SendMail(to, "pay"); err != nil {
			log.Print(err)
			continue
		}
	}
}

func firstThatWorks(m mailer, all []string) error {
	for i := 0; i < len(all); i++ {
		if err := m.SendMail(all[i], "pay"); err == nil {
			return nil
		}
	}
	return errors.New("none works")
}

func consume(m mailer, in chan string) {
	for {
		to := <-in
		if err := m.SendMail(to, "pay"); err != nil {
			continue
		}
		if to == "" {
			return
		}
	}
}

type queue interface {
	Receive() (string, error)
	Next() mailer
}

func serve(m mailer, q queue) {
	for {
		to, err := q.Receive()
		if err != nil {
			return
		}
		if err := m.SendMail(to, "pay"); err == nil {
			return
		}
	}
}

func pool(q queue) error {
	for range 3 {
		if err := q.Next().SendMail("a@example.com", "pay"); err == nil {
			return nil
		}
	}
	return errors.New("all have failed")
}

var errRateLimited = errors.New("rate limited")

func whenRefused(m mailer) error {
	for {
		err := m.SendMail("a@example.com", "pay")
		if errors.Is(err, errRateLimited) {
			time.Sleep(time.Second)
			continue
		}
		return err
	}
}

func conflictIsSuccess(body string) error {
	for range 3 {
		resp, err := http.Post(url, "application/json", strings.NewReader(body))
		if err == nil && (resp.StatusCode < 300 || resp.StatusCode == http.StatusConflict) {
			return nil
		}
	}
	return errors.New("gave up")
}

func put(c *http.Client, body string) error {
	for range 3 {
		req, err := http.NewRequest(http.MethodPut, url, strings.NewReader(body))
		if err != nil {
			return err
		}
		if _, err = c.Do(req); err == nil {
			return nil
		}
	}
	return errors.New("gave up")
}

func askModel(body string) error {
	for range 3 {
		if _, err := http.Post("https://llm.example/v1/chat/completions", "application/json", strings.NewReader(body)); err == nil {
			return nil
		}
	}
	return errors.New("gave up")
}

type store interface{ DeleteInvoice(id string) error }

func erase(s store, id string) error {
	for range 3 {
		if err := s.DeleteInvoice(id); err == nil {
			return nil
		}
	}
	return errors.New("gave up")
}

type order struct{ IdempotencyKey, Text string }

type shop interface{ PayOrder(o *order) error }

func place(s shop, o *order) error {
	for range 3 {
		if err := s.PayOrder(o); err == nil {
			return nil
		}
	}
	return errors.New("gave up")
}

func onceOnly(m mailer, texts []string) error {
	for n := 0; n < 3; n++ {
		if err := m.SendMail("a@example.com", fmt.Sprint(n)); err != nil {
			return err
		}
	}
	return nil
}

func (c *client) EditMessageReplyMarkup(text string) error { return c.again(text) }

type cluster interface{ CreateNode(name string) error }

func grow(c cluster) error {
	for range 3 {
		if err := c.CreateNode("a"); err == nil {
			return nil
		}
	}
	return errors.New("gave up")
}

type secondMailer interface {
	SendMail(to, idempotencyKey string) error
}

func remindAgain(m secondMailer, to, invoice string) (err error) {
	for range 3 {
		if err = m.SendMail(to, "remind:"+invoice); err == nil {
			return nil
		}
	}
	return err
}

// A function that is handed over by its name.

func (c *client) chargeCustomer() error {
	_, err := c.http.Post(url, "application/json", nil)
	return err
}

func (c *client) chargeAgain() error {
	return retryTimes(3, c.chargeCustomer) // want `retrykey.retryTimes → client.chargeCustomer → Client.Post`
}

func (c *client) ping() error {
	_, err := c.http.Post(url, "application/json", nil)
	return err
}

func (c *client) pingAgain() error { return retryTimes(3, c.ping) }

// A message that carries its own ID tells who gets it that it has come before.

type orderEvent struct{ ID, Text string }

type publisher interface{ PublishEvent(e *orderEvent) error }

func announce(p publisher, e *orderEvent) (err error) {
	for range 3 {
		if err = p.PublishEvent(e); err == nil {
			return nil
		}
	}
	return err
}

type dispatcher interface {
	DispatchJob(runID, text string) error
}

func dispatch(d dispatcher, runID string) (err error) {
	for range 3 {
		if err = d.DispatchJob(runID, "text"); err == nil {
			return nil
		}
	}
	return err
}

func permanent(err error) error { return err }

var errCredentials = errors.New("invalid credentials")

func whenCredentialsAreOld(m mailer) error {
	return retryTimes(3, func() error {
		err := m.SendMail("a@example.com", "pay")
		if err == nil || errors.Is(err, errCredentials) {
			return err
		}
		return permanent(err)
	})
}

func sendSettings(c *client) error {
	return retryTimes(3, func() error {
		_, err := c.http.Post(url, "application/json", nil)
		return err
	})
}

type acceptedError struct{ error }

func whenAccepted(m mailer) error {
	for range 3 {
		err := m.SendMail("a@example.com", "pay")
		if err == nil {
			return nil
		}
		var accepted *acceptedError
		if errors.As(err, &accepted) {
			continue
		}
		return err
	}
	return errors.New("gave up")
}

func whenLost(m mailer) error {
	for range 3 { // want `loop → mailer.SendMail`
		err := m.SendMail("a@example.com", "pay")
		if err == nil {
			return nil
		}
		var netErr *acceptedError
		if errors.As(err, &netErr) {
			continue
		}
		return err
	}
	return errors.New("gave up")
}
