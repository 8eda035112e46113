// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package notify

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"io"
	"log"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net"
	"net/http/httptest"
	"net/mail"
	"strings"
	"sync"
	"testing"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"
)

const smtpPassword = "canary-smtp-password"

// mailbox is a mail server that keeps what it gets.
type mailbox struct {
	// refuse are the answers to AUTH, RCPT and DATA instead of taking them.
	refuse map[string]*smtp.SMTPError
	// open lets everybody send.
	open    bool
	address string

	mutex sync.Mutex
	mails []mailed
}

type mailed struct {
	user, from string
	to         []string
	secure     bool
	text       []byte
}

// certificate is one of a test server's, for 127.0.0.1, and its authority.
func certificate(t *testing.T) (*tls.Config, *x509.CertPool) {
	t.Helper()
	server := httptest.NewTLSServer(nil)
	defer server.Close()
	return &tls.Config{Certificates: server.TLS.Certificates, MinVersion: tls.VersionTLS12}, authorityOf(server)
}

// start serves on loopback: with a configuration of TLS by STARTTLS or, if implicit, from the beginning.
func (b *mailbox) start(t *testing.T, config *tls.Config, implicit bool) map[string]string {
	t.Helper()
	server := smtp.NewServer(b)
	server.Domain, server.AllowInsecureAuth, server.ErrorLog = "localhost", true, log.New(io.Discard, "", 0)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	b.address = listener.Addr().String()
	switch {
	case implicit:
		listener = tls.NewListener(listener, config)
	case config != nil:
		server.TLSConfig = config
	}
	done := make(chan struct{})
	go func() { defer close(done); _ = server.Serve(listener) }()
	t.Cleanup(func() { _ = server.Close(); <-done })
	_, port, err := net.SplitHostPort(b.address)
	must(t, err)
	keys := map[string]string{
		"SMTP_HOST": "127.0.0.1", "SMTP_PORT": port, "SMTP_SENDER": "Cleaner <canary-sender@example.com>", "SMTP_PASSWORD": smtpPassword,
		"SMTP_RECIPIENTS": "canary-one@example.com, Two <canary-two@example.com>", "SMTP_CC": "canary-cc@example.com", "SMTP_BCC": "canary-bcc@example.com",
	}
	if implicit {
		keys["SMTP_TLS"] = "implicit" // the port is not 465
	}
	return keys
}

func (b *mailbox) NewSession(c *smtp.Conn) (smtp.Session, error) {
	_, secure := c.TLSConnectionState()
	return &session{box: b, mail: mailed{secure: secure}}, nil
}

type session struct {
	box  *mailbox
	mail mailed
}

func (s *session) AuthMechanisms() []string {
	if s.box.open {
		return nil
	}
	return []string{sasl.Plain}
}

func (s *session) Auth(string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(_, user, password string) error {
		if refusal := s.box.refuse["AUTH"]; refusal != nil {
			return refusal
		}
		if password != smtpPassword {
			return errors.New("wrong password")
		}
		s.mail.user = user
		return nil
	}), nil
}

func (s *session) Mail(from string, _ *smtp.MailOptions) error {
	if s.mail.user == "" && !s.box.open {
		return smtp.ErrAuthRequired
	}
	if refusal := s.box.refuse["MAIL"]; refusal != nil {
		return refusal
	}
	s.mail.from = from
	return nil
}

func (s *session) Rcpt(to string, _ *smtp.RcptOptions) error {
	if refusal := s.box.refuse["RCPT"]; refusal != nil {
		return refusal
	}
	s.mail.to = append(s.mail.to, to)
	return nil
}

func (s *session) Data(r io.Reader) (err error) {
	if refusal := s.box.refuse["DATA"]; refusal != nil {
		return refusal
	}
	if s.mail.text, err = io.ReadAll(r); err != nil {
		return err
	}
	s.box.mutex.Lock()
	defer s.box.mutex.Unlock()
	s.box.mails = append(s.box.mails, s.mail)
	return nil
}

func (s *session) Reset()        {}
func (s *session) Logout() error { return nil }

// read takes a mail apart.
func read(t *testing.T, text []byte) (header mail.Header, body string, file []byte) {
	t.Helper()
	message, err := mail.ReadMessage(strings.NewReader(string(text)))
	must(t, err)
	subject, err := new(mime.WordDecoder).DecodeHeader(message.Header.Get("Subject"))
	must(t, err)
	message.Header["Subject"] = []string{subject}
	_, parameters, err := mime.ParseMediaType(message.Header.Get("Content-Type"))
	must(t, err)
	reader := multipart.NewReader(message.Body, parameters["boundary"])
	for {
		part, err := reader.NextRawPart()
		if errors.Is(err, io.EOF) {
			return message.Header, body, file
		}
		must(t, err)
		var content io.Reader = quotedprintable.NewReader(part)
		if part.Header.Get("Content-Transfer-Encoding") == "base64" {
			content = base64.NewDecoder(base64.StdEncoding, part)
		}
		decoded, err := io.ReadAll(content)
		must(t, err)
		if part.FileName() != "" {
			file = decoded
			continue
		}
		body = strings.ReplaceAll(string(decoded), "\r\n", "\n")
	}
}

// script is a mail server that answers each line with the next of its answers, and hangs up behind the last one.
func script(t *testing.T, answers ...string) map[string]string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	done := make(chan struct{})
	go func() {
		defer close(done)
		connection, err := listener.Accept()
		if err != nil {
			return
		}
		defer connection.Close()
		lines := bufio.NewReader(connection)
		for _, answer := range answers {
			_, _ = io.WriteString(connection, answer+"\r\n")
			for {
				line, err := lines.ReadString('\n')
				if err != nil {
					return
				}
				if !strings.HasPrefix(answer, "354") || line == ".\r\n" { // behind 354 comes the mail
					break
				}
			}
		}
	}()
	t.Cleanup(func() { _ = listener.Close(); <-done })
	_, port, err := net.SplitHostPort(listener.Addr().String())
	must(t, err)
	return map[string]string{"SMTP_HOST": "127.0.0.1", "SMTP_PORT": port, "SMTP_TLS": "none", "SMTP_SENDER": "a@example.com", "SMTP_RECIPIENTS": "b@example.com"}
}

// silent is a mail server that greets nobody.
func silent(t *testing.T) map[string]string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0") // which accepts by itself
	must(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	_, port, err := net.SplitHostPort(listener.Addr().String())
	must(t, err)
	return map[string]string{"SMTP_HOST": "127.0.0.1", "SMTP_PORT": port, "SMTP_SENDER": "a@example.com", "SMTP_RECIPIENTS": "b@example.com"}
}
