// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package egress

import (
	"errors"
	"strings"
	"testing"
)

func TestHosts(t *testing.T) {
	var hosts Hosts
	if err := hosts.Set(" Localhost, [::1],10.0.0.1,,"); err != nil || hosts.String() != "10.0.0.1,::1,localhost" {
		t.Errorf("%v %v", &hosts, err)
	}
	for _, list := range []string{"http://a", "a:80", "a b", "a,http://b"} {
		if err := hosts.Set(list); err == nil || !strings.Contains(err.Error(), "is neither a host name nor an IP address: write hosts without scheme and port") {
			t.Errorf("%s: %v", list, err)
		}
	}
}

// What a proxy connects to can be judged by its name only.
func TestCheckName(t *testing.T) {
	for host, want := range map[string]error{
		"example.com": nil, "10.96.0.10": nil, "hook.team-a.svc": nil, "fd00::1": nil, "3m.example.com": nil, "allowed.localhost": nil,
		"localhost": ErrOwnMachine, "LOCALHOST.": ErrOwnMachine, "x.localhost": ErrOwnMachine, "127.0.0.1": ErrOwnMachine, "[::1]": ErrOwnMachine, "::ffff:7f00:1": ErrOwnMachine,
		"2130706433": ErrNotAHost, "0x7f000001": ErrNotAHost, "127.1": ErrNotAHost, "0177.0.0.1": ErrNotAHost, "169.254.169.254": ErrNotAHost, "0.0.0.0": ErrNotAHost, "[fe80::1]": ErrNotAHost,
	} {
		if err := (Hosts{"allowed.localhost": true}).CheckName(host); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", host, err, want)
		}
	}
}
