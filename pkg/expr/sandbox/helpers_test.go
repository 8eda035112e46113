// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/clock"

	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// now is the frozen clock of all tests: a Sunday.
var now = time.Date(2026, 3, 1, 9, 5, 7, 0, time.UTC)

// programs is where the test programs are.
var programs string

func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "forge" {
		os.Exit(forge(os.Args[2]))
	}
	code, err := testMain(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(code)
}

func testMain(m *testing.M) (code int, err error) {
	if programs, err = os.MkdirTemp("", "kubecleaner-sandbox-"); err != nil {
		return 1, err
	}
	defer func() { _ = os.RemoveAll(programs) }()
	if err := os.Chmod(programs, 0o755); err != nil {
		return 1, err
	}
	build := exec.CommandContext(context.Background(), "go", "build", "-trimpath", "-o", programs+string(filepath.Separator),
		"./testdata/child", "./testdata/probe")
	build.Env = append(os.Environ(), "CGO_ENABLED=0") // as in the image
	if output, err := build.CombinedOutput(); err != nil {
		return 1, fmt.Errorf("building the children: %w\n%s", err, output)
	}
	if code = m.Run(); code != 0 {
		return code, nil
	}
	if err := goleak.Find(); err != nil {
		return 1, err
	}
	return 0, nil
}

func newPool(t testing.TB, config Config) *Pool {
	t.Helper()
	if config.Command == nil {
		config.Command = []string{filepath.Join(programs, "child")}
	}
	config.Clock = clock.RealClock{}
	p := New(config)
	t.Cleanup(p.Close)
	return p
}

func open(t testing.TB, p *Pool, options Options) *Session {
	t.Helper()
	options.Now = now
	s := p.Open(options)
	t.Cleanup(s.Close)
	return s
}

// short is for scripts that use up their time.
var short = Options{ObjectTimeout: 200 * time.Millisecond, AggregateTimeout: 400 * time.Millisecond}

var configMapKind = object.Kind{GroupVersionKind: schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}, Resource: "configmaps", Namespaced: true}

func newObject(t testing.TB, k object.Kind, raw string) object.Object {
	t.Helper()
	o, err := object.New(k, []byte(raw))
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// configMap is a ConfigMap with one key.
func configMap(t testing.TB, name, value string) object.Object {
	t.Helper()
	return newObject(t, configMapKind, `{"metadata":{"namespace":"default","name":"`+name+`","uid":"uid-`+name+`","resourceVersion":"1"},`+
		`"data":{"k":"`+value+`"}}`)
}

// pod is a Pod of about 4.5 KB.
func pod(t testing.TB, i int) object.Object {
	t.Helper()
	var fields, env strings.Builder
	for n := range 46 {
		fmt.Fprintf(&fields, `,"f:field%02d":{".":{},"f:inner":{},"f:name%02d":{"f:value":{}}}`, n, n)
	}
	for n := range 12 {
		fmt.Fprintf(&env, `,{"name":"SETTING_%02d","value":"the value of setting number %02d"}`, n, n)
	}
	phase := "Running"
	if i%10 == 0 {
		phase = "Succeeded"
	}
	kind := object.Kind{GroupVersionKind: schema.GroupVersionKind{Version: "v1", Kind: "Pod"}, Resource: "pods", Namespaced: true}
	return newObject(t, kind, fmt.Sprintf(`{"metadata":{"name":"pod-%d","namespace":"ns-%d","uid":"0f1e2d3c-%d","resourceVersion":"%d",`+
		`"creationTimestamp":"2026-02-01T00:00:00Z","labels":{"app":"web","tier":"front"},"managedFields":[{"manager":"kubelet",`+
		`"operation":"Update","fieldsV1":{"f:status":{}%s}}]},"spec":{"nodeName":"node-1","restartPolicy":"Never","containers":[{"name":"main",`+
		`"image":"registry.example.com/team/app:1.2.3","env":[{"name":"A","value":"b"}%s],"resources":{"limits":{"cpu":"1","memory":"1Gi"}}}],`+
		`"tolerations":[{"key":"node.kubernetes.io/not-ready","operator":"Exists","effect":"NoExecute","tolerationSeconds":300}]},`+
		`"status":{"phase":%q,"podIP":"10.0.0.1","startTime":"2026-02-01T00:00:00Z","containerStatuses":[{"name":"main","ready":true,`+
		`"restartCount":0,"image":"registry.example.com/team/app:1.2.3","state":{"running":{"startedAt":"2026-02-01T00:00:00Z"}}}]}}`,
		i, i%20, i, i, fields.String(), env.String(), phase))
}

func is[T error](err error) bool {
	var target T
	return errors.As(err, &target)
}

func budgetKind(err error) BudgetKind {
	var budget *BudgetError
	if errors.As(err, &budget) {
		return budget.Kind
	}
	return ""
}
