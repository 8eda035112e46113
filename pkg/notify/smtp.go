// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package notify

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	netmail "net/mail"
	"net/textproto"
	"strconv"
	"strings"

	"github.com/wneessen/go-mail"
)

const (
	standardSMTPPort = 587
	implicitTLSPort  = 465
	// maxMail is how long a mail's text is; the file beside it has all.
	maxMail = 64 << 10
)

func smtpChannel() channel {
	return channel{
		keys: []key{
			{name: "SMTP_RECIPIENTS", holds: "one or more mail addresses, separated by commas", isRight: areAddresses},
			{name: "SMTP_CC", optional: true, holds: "mail addresses, separated by commas", isRight: areAddresses},
			{name: "SMTP_BCC", optional: true, holds: "mail addresses, separated by commas", isRight: areAddresses},
			{
				name:    "SMTP_SENDER",
				holds:   "one mail address",
				isRight: func(value string) bool { _, err := netmail.ParseAddress(value); return err == nil },
			},
			{name: "SMTP_HOST", holds: "the mail server's name, without its port", isRight: func(value string) bool {
				return isWord(value) && !strings.ContainsAny(value, "/@") && strings.Count(value, ":") != 1
			}},
			{
				name:     "SMTP_PORT",
				optional: true,
				holds:    "a port: 587 (the default) for STARTTLS, 465 for TLS from the beginning",
				isRight:  isPort,
			},
			{name: "SMTP_IDENTITY", optional: true, holds: "the user name; without it, the sender's address"},
			{name: "SMTP_PASSWORD", optional: true, hidden: true, holds: "the password; without it, nobody logs in"},
			{
				name:     "SMTP_TLS",
				optional: true,
				holds:    "starttls (the default), implicit (the default with port 465) or none, for a server without TLS",
				isRight:  isTLSMode,
			},
		},
		also: func(v values) []string {
			if v.get("SMTP_TLS") == "none" && v.get("SMTP_PASSWORD") != "" {
				return []string{"SMTP_TLS is none, and SMTP_PASSWORD is never sent without TLS: remove one of them"}
			}
			return nil
		},
		send: sendMail,
	}
}

func areAddresses(value string) bool {
	_, err := netmail.ParseAddressList(value)
	return err == nil
}

func isPort(value string) bool {
	port, err := strconv.ParseUint(value, 10, 16)
	return err == nil && port > 0
}

func isTLSMode(value string) bool {
	return value == "starttls" || value == "implicit" || value == "none"
}

// sendMail sends a mail in plain text, with the report as a file of JSON.
func sendMail(ctx context.Context, c *call, v values, r *report) error {
	message, err := mailOf(v, r)
	if err != nil {
		return permanent("the mail could not be put together; %s", v.check("SMTP_SENDER", "SMTP_RECIPIENTS"))
	}
	ctx, cancel := context.WithTimeout(ctx, 3*c.sender.timeout)
	defer cancel()
	client, err := mailClient(ctx, c, v)
	if err != nil {
		return permanent("the mail server cannot be used; %s", v.check("SMTP_HOST", "SMTP_PORT"))
	}
	err = client.DialAndSendWithContext(ctx, message)
	if err == nil || message.IsDelivered() { // that the server did not say goodbye is of no importance
		return nil
	}
	return mailError(ctx, c.sender, v, err)
}

func mailOf(v values, r *report) (*mail.Msg, error) {
	message := mail.NewMsg(mail.WithNoDefaultUserAgent())
	var errs []error
	errs = append(errs, message.From(v.get("SMTP_SENDER")), message.ToFromString(v.get("SMTP_RECIPIENTS")))
	if cc := v.get("SMTP_CC"); cc != "" {
		errs = append(errs, message.CcFromString(cc))
	}
	if bcc := v.get("SMTP_BCC"); bcc != "" {
		errs = append(errs, message.BccFromString(bcc))
	}
	m := plainText()
	page := m.render(r, true, maxMail, m.length)
	message.Subject(m.text(r.title, maxTitle))
	// The same for every attempt, so that mailboxes know a repeated mail.
	message.SetMessageIDWithValue(r.id + "@kubecleaner")
	message.SetDateWithValue(r.document.NominalTime)
	message.SetGenHeader("Auto-Submitted", "auto-generated")
	message.SetBodyString(mail.TypeTextPlain, m.join(page.sections)+"\n")
	name, content := r.file()
	errs = append(errs, message.AttachReader(name, bytes.NewReader(content), mail.WithFileContentType("application/json")))
	return message, errors.Join(errs...)
}

func mailClient(ctx context.Context, c *call, v values) (*mail.Client, error) {
	host := v.get("SMTP_HOST")
	port, err := strconv.Atoi(v.or("SMTP_PORT", strconv.Itoa(standardSMTPPort)))
	if err != nil {
		return nil, err
	}
	mode := v.get("SMTP_TLS")
	if mode == "" && port == implicitTLSPort {
		mode = "implicit"
	}
	config := c.sender.tls.Clone()
	config.ServerName = host
	options := []mail.Option{
		mail.WithPort(
			port,
		),
		mail.WithTimeout(c.sender.timeout),
		mail.WithTLSConfig(config),
		mail.WithDialContextFunc(dialMail(ctx, c, mode == "implicit", config)),
	}
	switch mode {
	case "implicit":
		options = append(options, mail.WithSSL())
	case "none":
		options = append(options, mail.WithTLSPolicy(mail.NoTLS))
	default:
		options = append(options, mail.WithTLSPolicy(mail.TLSMandatory))
	}
	if password := v.get("SMTP_PASSWORD"); password != "" {
		user := v.get("SMTP_IDENTITY")
		if sender, err := netmail.ParseAddress(v.get("SMTP_SENDER")); user == "" && err == nil {
			user = sender.Address
		}
		options = append(
			options,
			mail.WithUsername(user),
			mail.WithPassword(password),
			mail.WithOpportunisticSMTPAuth(
				mail.SMTPAuthSCRAMSHA256,
				mail.SMTPAuthPlain,
				mail.SMTPAuthLogin,
				mail.SMTPAuthCramMD5,
			),
		)
	}
	return mail.NewClient(host, options...)
}

// dialMail connects as all channels do. The connection ends with the time for the notification, whatever the server
// does.
func dialMail(ctx context.Context, c *call, implicit bool, config *tls.Config) mail.DialContextFunc {
	return func(dialing context.Context, network, address string) (net.Conn, error) {
		dialed, err := c.dial(dialing, network, address)
		if err != nil {
			return nil, err
		}
		context.AfterFunc(ctx, func() { _ = dialed.Close() })
		connection := &terse{Conn: dialed, left: maxMailAnswer}
		if !implicit {
			return connection, nil
		}
		secured := tls.Client(connection, config)
		if err := secured.HandshakeContext(dialing); err != nil {
			_ = connection.Close()
			return nil, err
		}
		return secured, nil
	}
}

// maxMailAnswer bounds all that a mail server may say in one conversation, in bytes. It says short lines, but a library
// waits for the end of a line however long that is.
const maxMailAnswer = 256 << 10

// terse is a connection that breaks off when the other side says too much.
type terse struct {
	net.Conn
	left int
}

func (b *terse) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, io.ErrUnexpectedEOF
	}
	n, err := b.Conn.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}

// smtpLoginWanted is what a server answers to a mail of somebody who has to log in before (RFC 4954, 6).
const smtpLoginWanted = 530

// mailError says why a mail was not taken, by the server's codes: what it says besides may quote addresses.
func mailError(ctx context.Context, s *Sender, v values, err error) *Error {
	var (
		refusal *mail.SendError
		reply   *textproto.Error
	)
	code, enhanced := 0, ""
	switch {
	case ctx.Err() != nil:
	case errors.As(err, &refusal):
		code, enhanced = refusal.ErrorCode(), refusal.EnhancedStatusCode()
	case errors.As(err, &reply):
		code = reply.Code
	case strings.Contains(err.Error(), "does not support STARTTLS"):
		return permanent(
			"the mail server does not offer STARTTLS; %s: port 465 uses TLS from the start; with SMTP_TLS none, anybody in the network can read the mails",
			v.check("SMTP_PORT"),
		)
	case strings.Contains(err.Error(), "not support SMTP AUTH"), errors.Is(err, mail.ErrNoSupportedAuthDiscovered):
		return permanent("the mail server offers no way to log in that is known here; without SMTP_PASSWORD nobody logs in")
	}
	if code == 0 {
		return unreachable(ctx, err, s.timeout)
	}
	text := fmt.Sprintf("the mail server answered %d", code)
	if enhanced = shortCode(enhanced); enhanced != "" {
		text += " " + enhanced
	}
	if code < 500 {
		return passing("%s", text)
	}
	hint := v.check("SMTP_SENDER", "SMTP_RECIPIENTS")
	if refusal == nil || code == smtpLoginWanted {
		hint = v.check("SMTP_IDENTITY", "SMTP_PASSWORD")
	}
	return permanent("%s; %s", text, hint)
}
