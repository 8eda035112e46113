// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package inputs

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"k8s.io/utils/ptr"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

func TestLogsOf(t *testing.T) {
	web := pod("web", "u1")
	web.Raw = []byte(`{"spec":{"initContainers":[{"name":"init"}],"containers":[{"name":"web"},{"name":"app"}],"ephemeralContainers":[{"name":"debug"}]},
		"status":{"containerStatuses":[{"name":"web","restartCount":2},{"name":"app"}],"initContainerStatuses":[{"name":"init","restartCount":1}]}}`)
	for want, source := range map[string]v1alpha1.LogSource{
		"app/50 web/50":                     {},
		"app/50 web/50 web/50/previous":     {Previous: ptr.To(true)},
		"web/3":                             {Containers: []string{"web", "absent"}, TailLines: ptr.To(int64(3))},
		"web/65536":                         {Containers: []string{"web"}, TailLines: ptr.To(int64(math.MaxInt64))},
		"":                                  {Containers: []string{"absent"}},
		"debug/50 init/50 init/50/previous": {Containers: []string{"init", "debug"}, Previous: ptr.To(true)},
	} {
		logs, err := LogsOf(web, &source)
		var got []string
		for _, log := range logs {
			text := fmt.Sprintf("%s/%d", log.Container, log.Tail)
			if log.Previous {
				text += "/previous"
			}
			got = append(got, text)
		}
		if err != nil || strings.Join(got, " ") != want {
			t.Errorf("the logs are %v, %v, want %s", got, err, want)
		}
	}
	web.Raw = []byte(`{"spec":3}`)
	if _, err := LogsOf(web, &v1alpha1.LogSource{}); err == nil {
		t.Error("it was taken for a Pod")
	}
}

func TestWriteLogs(t *testing.T) {
	for name, test := range map[string]struct {
		logs []Log
		want string
	}{
		"none":     {nil, `{"logs":"","logsByContainer":{},"logsPrevious":"","logsPreviousByContainer":{}}`},
		"one":      {[]Log{{Container: "a", Text: "x\ny"}}, `{"logs":"x\ny","logsByContainer":{"a":"x\ny"},"logsPrevious":"","logsPreviousByContainer":{}}`},
		"several":  {[]Log{{Container: "a", Text: "x"}, {Container: "b", Text: "y\n"}}, `{"logs":"==\u003e a \u003c==\nx\n==\u003e b \u003c==\ny\n","logsByContainer":{"a":"x","b":"y\n"},"logsPrevious":"","logsPreviousByContainer":{}}`},
		"previous": {[]Log{{Container: "a"}, {Container: "a", Previous: true, Text: "x"}}, `{"logs":"","logsByContainer":{"a":""},"logsPrevious":"x","logsPreviousByContainer":{"a":"x"}}`},
		"binary":   {[]Log{{Container: "a", Text: "\xff\x00"}}, `{"logs":"\ufffd\u0000","logsByContainer":{"a":"\ufffd\u0000"},"logsPrevious":"","logsPreviousByContainer":{}}`},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := WriteLogs(test.logs)
			if err != nil || string(got) != test.want {
				t.Errorf("they are %s, %v, want %s", got, err, test.want)
			}
		})
	}
	var many []Log
	for i := range 20 {
		many = append(many, Log{Container: fmt.Sprint(i), Text: strings.Repeat("x", MaxLog)})
	}
	for text, want := range map[string]int{"": 2, "ab\n": 6, "\xff\x00<": 20, "é\u2028": 10} {
		if got := jsonSize(text); got != want {
			t.Errorf("the size of %q is %d, want %d", text, got, want)
		}
	}
	_, err := WriteLogs(many)
	if want := "the logs of the Pod are longer than 2 MiB together; name fewer containers"; err == nil || err.Error() != want {
		t.Errorf("the error is %v, want %s", err, want)
	}
}

// Some nodes answer with a success when they have no log any more.
func TestLostLogs(t *testing.T) {
	for text, want := range map[string]bool{
		"": false, "hello\n": false, "unable to retrieve container logs for containerd://4f3c2d1e": true,
		"unable to retrieve container logs for cri-o://4f3c2d1e\n":                                                                 true,
		`failed to try resolving symlinks in path "/var/log/pods/a/0.log": lstat /var/log/pods/a/0.log: no such file or directory`: true,
		"unable to retrieve container logs for containerd://4f3c2d1e\nbut I go on":                                                 false,
	} {
		if IsLost(text) != want {
			t.Errorf("%q: %v", text, !want)
		}
	}
}
