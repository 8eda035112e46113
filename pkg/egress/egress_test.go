// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package egress

import "testing"

func TestHostsOnly(t *testing.T) {
	for address, ok := range map[string]bool{
		"10.0.0.1:443": true, "127.0.0.1:8080": true, "[2001:db8::1]:443": true, "[::1]:443": true, "[fd00::1]:443": true,
		"169.254.169.254:80": false, "[fe80::1]:80": false, "[fe80::1%eth0]:80": false, "[::ffff:169.254.169.254]:80": false,
		"[64:ff9b::a9fe:a9fe]:80": false, "[::a9fe:a9fe]:80": false, "[64:ff9b::a00:1]:80": true,
		"0.0.0.0:80": false, "[::]:80": false, "224.0.0.1:80": false, "[ff02::1]:80": false, "nonsense": false,
	} {
		if err := HostsOnly("tcp", address, nil); (err == nil) != ok {
			t.Errorf("%s: %v", address, err)
		}
	}
}
