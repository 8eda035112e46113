// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package servers

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"testing"
)

// Mailbox is a mail server that keeps what it gets. Its certificate is that of net/http/httptest.
type Mailbox struct {
	// TLS is STARTTLS, implicit for TLS from the beginning, or nothing.
	TLS string
	// Open lets everybody send, without a login.
	Open bool
	// Password is what users log in with; every one does when it is empty.
	Password string
	// Refuse are the answers to AUTH, MAIL, RCPT and DATA instead of taking them.
	Refuse map[string]Refusal
	// File is where it keeps mails. Start sets it.
	File string
}

// Refusal is an answer of a mail server. {user} and {password} in its message stand for those of the login.
type Refusal struct {
	Code         int
	EnhancedCode [3]int
	Message      string
}

// Mail is a mail that the server took, or a login that it was to refuse.
type Mail struct {
	User, Password, From string
	To                   []string
	// Secure says whether it came over TLS.
	Secure bool
	Text   []byte
}

// Start serves until the test ends, and returns the port on 127.0.0.1.
func (b *Mailbox) Start(t *testing.T) string {
	t.Helper()
	b.File = filepath.Join(t.TempDir(), "mails")
	_, port, err := net.SplitHostPort(start(t, "mail", b))
	must(t, err)
	return port
}

// Mails are the mails so far. A mail that the client knows to be taken is among them.
func (b *Mailbox) Mails(t *testing.T) (mails []Mail) {
	t.Helper()
	file, err := os.Open(b.File)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	must(t, err)
	defer file.Close()
	for lines := json.NewDecoder(file); ; {
		var mail Mail
		err := lines.Decode(&mail)
		if errors.Is(err, io.EOF) {
			return mails
		}
		must(t, err)
		mails = append(mails, mail)
	}
}
