package effectorder

import (
	"context"

	"example.com/shop/jobs"
)

func (s *service) work(j *jobs.Job) error {
	ctx := context.Background()
	if err := s.mail.Send(ctx, j.To); err != nil {
		s.store.MarkFailed(ctx, j.ID)
		return nil // want `the job counts as done though the effect has failed: mailer.Send → error → return nil \(return the error, or record the failure and return the error of that\)`
	}
	return s.store.MarkSent(ctx, j.ID)
}

func (s *service) workKept(j *jobs.Job) error {
	ctx := context.Background()
	if err := s.mail.Send(ctx, j.To); err != nil {
		if err := s.store.MarkFailed(ctx, j.ID); err != nil {
			return err
		}
		return nil
	}
	return s.store.MarkSent(ctx, j.ID)
}
