// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
)

// heartbeat is how often a stream that has nothing to say shows that it is alive.
const heartbeat = 15 * time.Second

// stream is an answer of server-sent events. Each must be taken by the client in time.
type stream struct {
	w     http.ResponseWriter
	now   func() time.Time
	mutex sync.Mutex
}

func (s *stream) write(text string) error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	control := http.NewResponseController(s.w)
	if err := control.SetWriteDeadline(s.now().Add(writeIn)); err != nil {
		return err
	}
	if _, err := s.w.Write([]byte(text)); err != nil {
		return err
	}
	return control.Flush()
}

// send sends an event. JSON has no line breaks outside of strings, where they are escaped.
func (s *stream) send(event string, data any) error {
	text, err := json.Marshal(data)
	if err != nil {
		return err
	}
	return s.write(fmt.Sprintf("event: %s\ndata: %s\n\n", event, text))
}

func (s *stream) fail(err error) { _ = s.send("error", failureOf(err).Body) }

// streams is what fills a stream, as a person.
type streams func(ctx context.Context, p *person, to *stream)

// streaming reads the request, and then streams as its person. The stream stays alive until that ends or the client is
// gone. Nothing can be read of a request when the answer has begun.
func (s *Server) streaming(read func(r *http.Request) (streams, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var handler streams
		var user authenticationv1.UserInfo
		p, err := s.personOf(r)
		if err == nil {
			user, err = p.review(r.Context())
		}
		if err == nil {
			handler, err = read(r)
		}
		if err != nil {
			s.sendError(w, err)
			return
		}
		leave, err := s.streamed.join(accountOf(user))
		if err != nil {
			s.sendError(w, err)
			return
		}
		defer leave()
		w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		to := &stream{w: w, now: s.Now}
		if to.write(": begin\n\n") != nil {
			return
		}
		ctx, cancel := context.WithCancel(r.Context())
		var beats sync.WaitGroup
		beats.Go(func() {
			to.beat(ctx, s.Ending)
			cancel()
		})
		handler(ctx, p, to)
		cancel()
		beats.Wait()
	})
}

// beat shows that the stream is alive, until it ends, the client is gone or the server is ending.
func (s *stream) beat(ctx context.Context, ending <-chan struct{}) {
	ticker := time.NewTicker(heartbeat)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ending:
			return
		case <-ticker.C:
			if s.write(": alive\n\n") != nil {
				return
			}
		}
	}
}

// lines calls each with every line that is written.
type lines struct {
	each func(string)
	rest []byte
}

// maxLine bounds what is kept of a line that does not end.
const maxLine = 4096

func (l *lines) Write(text []byte) (int, error) {
	l.rest = append(l.rest, text...)
	for {
		end := bytes.IndexByte(l.rest, '\n')
		if end < 0 && len(l.rest) < maxLine {
			return len(text), nil
		}
		if end < 0 {
			end = maxLine - 1
		}
		l.each(string(l.rest[:end]))
		l.rest = l.rest[end+1:]
	}
}
