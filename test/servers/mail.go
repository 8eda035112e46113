// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http/httptest"
	"os"
	"strings"
	"sync"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"
)

// mailbox is a mail server that writes what it gets into a file; Mailbox in test/testenv/servers explains its fields.
type mailbox struct {
	TLS, Password, File string
	Open                bool
	Refuse              map[string]*smtp.SMTPError

	mutex sync.Mutex
}

// mail is one line of the file.
type mail struct {
	User, Password, From string
	To                   []string
	Secure               bool
	Text                 []byte
}

func (b *mailbox) serve(listener net.Listener) error {
	// For the certificate that every program with this package has, so the test knows it.
	certified := httptest.NewTLSServer(nil)
	certified.Close()
	config := &tls.Config{Certificates: certified.TLS.Certificates, MinVersion: tls.VersionTLS12}
	server := smtp.NewServer(b)
	server.Domain, server.AllowInsecureAuth, server.ErrorLog = "localhost", true, log.New(io.Discard, "", 0)
	switch b.TLS {
	case "":
	case "STARTTLS":
		server.TLSConfig = config
	case "implicit":
		listener = tls.NewListener(listener, config)
	default:
		return fmt.Errorf("there is no TLS %q", b.TLS)
	}
	return server.Serve(listener)
}

// keep writes a mail before the client gets its answer, so the client finds it in the file.
func (b *mailbox) keep(m mail) error {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	line, err := json.Marshal(m)
	if err != nil {
		return err
	}
	file, err := os.OpenFile(b.File, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(append(line, '\n'))
	return errors.Join(err, file.Close())
}

// NewSession begins a connection.
func (b *mailbox) NewSession(c *smtp.Conn) (smtp.Session, error) {
	_, secure := c.TLSConnectionState()
	return &session{box: b, mail: mail{Secure: secure}}, nil
}

var _ smtp.AuthSession = (*session)(nil)

type session struct {
	box      *mailbox
	mail     mail
	loggedIn bool
}

// refusal is the answer to a command if it is refused.
func (s *session) refusal(command string) error {
	refused, ok := s.box.Refuse[command]
	if !ok {
		return nil
	}
	answer := *refused
	answer.Message = strings.NewReplacer("{user}", s.mail.User, "{password}", s.mail.Password).Replace(answer.Message)
	return &answer
}

// AuthMechanisms are the ways to log in.
func (s *session) AuthMechanisms() []string {
	if s.box.Open {
		return nil
	}
	return []string{sasl.Plain}
}

// Auth logs in.
func (s *session) Auth(string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(_, user, password string) error {
		if s.box.Password != "" && password != s.box.Password {
			return errors.New("wrong password")
		}
		s.mail.User, s.mail.Password = user, password
		if refused := s.refusal("AUTH"); refused != nil {
			return cmp.Or(s.box.keep(s.mail), refused)
		}
		s.loggedIn = true
		return nil
	}), nil
}

// Mail takes the sender.
func (s *session) Mail(from string, _ *smtp.MailOptions) error {
	if !s.loggedIn && !s.box.Open {
		return smtp.ErrAuthRequired
	}
	s.mail.From = from
	return s.refusal("MAIL")
}

// Rcpt takes a recipient.
func (s *session) Rcpt(to string, _ *smtp.RcptOptions) error {
	s.mail.To = append(s.mail.To, to)
	return s.refusal("RCPT")
}

// Data takes the text.
func (s *session) Data(r io.Reader) (err error) {
	if refused := s.refusal("DATA"); refused != nil {
		return refused
	}
	if s.mail.Text, err = io.ReadAll(r); err != nil {
		return err
	}
	return s.box.keep(s.mail)
}

// Reset has nothing to do: a client sends one mail over a connection.
func (s *session) Reset() {}

// Logout has nothing to do.
func (s *session) Logout() error { return nil }
