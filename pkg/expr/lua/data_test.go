// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package lua

import (
	"testing"

	utilclock "k8s.io/utils/clock"

	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// The data of an object is there for its chunk and its function, can be changed, and is gone with the next object.
func TestDataGlobals(t *testing.T) {
	program, err := Compile(`before = #events
		function evaluate()
			local said = before .. " " .. tostring(events[1] and events[1].reason) .. " " .. logs .. " " .. tostring(metrics.load)
			for i, e in ipairs(events) do said = said .. " " .. i .. e.reason end
			table.insert(events, {reason = "mine"}) metrics.load = 7 logs = "mine"
			return {matching = true, message = said .. " " .. #events .. " " .. tostring(rawequal(_G.events, events))}
		end`)
	if err != nil {
		t.Fatal(err)
	}
	session := program.NewSession(Options{Clock: utilclock.RealClock{}})
	defer session.Close()
	o := object.Object{Raw: []byte(`{"metadata":{"name":"a","uid":"1"}}`)}
	for _, test := range []struct{ data, want string }{
		{`{"events":[{"reason":"A","count":3},{"reason":"B"}],"logs":"line","metrics":{"load":0.5}}`, "2 A line 0.5 1A 2B 3 true"},
		{``, "0 nil  nil 1 true"},
		{`{"events":[]}`, "0 nil  nil 1 true"},
		{`{"events":[{"reason":"C"}]}`, "1 C  nil 1C 2 true"},
	} {
		match, err := session.EvaluateWith(t.Context(), o, object.JSON(test.data))
		if err != nil || match.Message != test.want {
			t.Errorf("with %s the script says %q, %v, want %q", test.data, match.Message, err, test.want)
		}
	}
}
