// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package notify

import (
	"bufio"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net"
	"net/http/httptest"
	"net/mail"
	"strings"
	"testing"

	"github.com/kubecleaner/kubecleaner/test/testenv/servers"
)

const smtpPassword = "canary-smtp-password"

// mailAuthority signed the certificate of the mail server.
func mailAuthority(t *testing.T) *x509.CertPool {
	t.Helper()
	server := httptest.NewTLSServer(nil)
	defer server.Close()
	return authorityOf(server)
}

// startMail starts a mail server and returns the Secret's keys for it.
func startMail(t *testing.T, box *servers.Mailbox) map[string]string {
	t.Helper()
	box.Password = smtpPassword
	keys := map[string]string{
		"SMTP_HOST": "127.0.0.1", "SMTP_PORT": box.Start(t), "SMTP_SENDER": "Cleaner <canary-sender@example.com>", "SMTP_PASSWORD": smtpPassword,
		"SMTP_RECIPIENTS": "canary-one@example.com, Two <canary-two@example.com>", "SMTP_CC": "canary-cc@example.com", "SMTP_BCC": "canary-bcc@example.com",
	}
	if box.TLS == "implicit" {
		keys["SMTP_TLS"] = "implicit" // the port is not 465
	}
	return keys
}

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
