// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// A name may be made of the variables of a container. Where the value of one is not known, it may be anything.
func TestVariablesInTexts(t *testing.T) {
	table, err := BuiltIn()
	if err != nil {
		t.Fatal(err)
	}
	const env = `"env": [{"name": "APP", "value": "orders"}, {"name": "NAME", "value": "$(APP)-a"}, {"name": "POD", "valueFrom": {}}, {"name": "LOOP", "value": "$(LOOP)$(LOOP)"}]`
	for container, want := range map[string]string{ // what stands after "not" is not mentioned
		`"args": ["--extra=$(APP)-extra"], ` + env:                                      "shop/orders-extra not shop/web-extra team/orders-extra",
		env + `, "args": ["--extra=$(NAME)-extra"]`:                                     "shop/orders-a-extra not shop/orders-extra",
		`"command": ["sh", "-c", "cat \"${APP}-extra\""], ` + env:                       "shop/orders-extra not shop/web-extra",
		`"command": ["sh", "-c", "cat $APP-extra"], ` + env:                             "shop/orders-extra not shop/web-extra",
		`"command": ["sh", "-c", "cat team/$APP-extra"], ` + env:                        "team/orders-extra not team/web-extra",
		`"command": ["sh", "-c", "cat \"$APP\"-extra"], ` + env:                         "shop/orders-extra not shop/web-extra",
		`"command": ["sh", "-c", "cat \"${APP}\"'-extra'"], ` + env:                     "shop/orders-extra not shop/web-extra",
		`"command": ["sh", "-c", "cat $APP'-extra'"], ` + env:                           "shop/orders-extra not shop/web-extra",
		`"command": ["sh", "-c", "cat conf-\"${APP}\" x"], ` + env:                      "shop/conf-orders not shop/conf-web",
		`"command": ["sh", "-c", "cat \"$(APP)\"-extra"], ` + env:                       "shop/orders-extra not shop/web-extra",
		`"command": ["sh", "-c", "cat 'conf-'\"$POD\""], ` + env:                        "shop/conf-web not shop/extra",
		`"args": ["{\"a\":\"$(APP)\",\"b\":\"extra\"}"], ` + env:                        "shop/orders shop/extra not shop/orders-extra",
		`"args": ["http://$(APP)-extra.$(POD).svc"], ` + env:                            "team/orders-extra not team/web-extra",
		`"env": [{"name": "X", "value": "abcd-$(Y)-extra"}]`:                            "shop/abcd-1-extra shop/abcd-2-3-extra not shop/web-extra team/abcd-1-extra",
		`"args": ["--extra=$(POD)-extra"], ` + env:                                      "shop/web-extra shop/orders-extra not shop/extras",
		`"args": ["--extra=${X:-a}-extra"]`:                                             "shop/web-extra",
		`"args": ["$(cat /file)-extra", "$1-more"]`:                                     "shop/web-extra shop/web-more not shop/web-less",
		`"command": ["sh", "-c", "cat 'split'ted"]`:                                     "shop/splitted",
		`"command": ["sh", "-c", "cat \"divi\"ded"]`:                                    "shop/divided",
		`"command": ["sh", "-c", "cat back\\-slash one-\\\nname"]`:                      "shop/back-slash shop/one-name",
		"\"command\": [\"sh\", \"-c\", \"cat limits-`date +%u` x\"]":                    "shop/limits-1 not shop/extra",
		`"command": ["sh", "-c", "cat limits-${APP,,}"], ` + env:                        "shop/limits-eu not shop/extra",
		`"command": ["sh", "-c", "cat ${APP%-old}-trimmed"], ` + env:                    "shop/a-trimmed",
		`"args": ["$(LOOP)-extra"], ` + env:                                             "shop/web-extra",
		`"args": ["$(POD)", "$(POD)-a", "$(POD)abc", "$(APP", "$$", "$", "\\"], ` + env: "not shop/web-abc shop/web-a shop/web-extra",
		`"args": ["--db=$(POD)-db", "app-$(POD)"], ` + env:                              "shop/web-db shop/app-web not shop/webdb shop/apps team/web-db",
		`"command": ["sh", "-c", "cat web-${POD:-extra}"], ` + env:                      "shop/web-extra",
		`"args": ["$(ORDERS_SERVICE_PORT) http://$(BIG_SERVICE_SERVICE_HOST):$(BIG_ORDERS_SERVICE_HOST)/ $(DB_SERVICE_HOST)-replica", "--account=$(MY_SERVICE_ACCOUNT)-name"]`: "shop/orders shop/big-service shop/big-orders shop/any-replica shop/web-name not shop/extra",
		`"args": ["a-b$(POD)", "java -jar app.jar"]`:                     "not shop/a-b2 shop/app shop/a-bcd",
		`"args": ["--role=acme:viewer\\nnext", "{\"a\":1} acme:editor"]`: "shop/acme:viewer shop/acme:editor not shop/acme:view",
		`"args": ["$(APP)-extra"]}, {` + env:                             "shop/web-extra",
	} {
		g := New(table, map[schema.GroupKind]bool{})
		raw := `{"metadata": {"name": "p", "namespace": "shop"}, "spec": {"containers": [{` + container + `}]}}`
		kind := object.Kind{GroupVersionKind: podKind.WithVersion("v1"), Namespaced: true}
		g.Add(object.Object{Kind: kind, Namespace: "shop", Name: "p", Raw: []byte(raw)}.Parts())
		mentioned, not, _ := strings.Cut(want, "not")
		for i, names := range []string{mentioned, not} {
			for text := range strings.FieldsSeq(names) {
				namespace, name, _ := strings.Cut(text, "/")
				if is := g.IsMentioned(Name{GroupKind: configMapKind, Namespace: namespace, Name: name}); is != (i == 0) {
					t.Errorf("%s: %s is mentioned: %t", container, text, is)
				}
			}
		}
	}
}

// Variables that stand in each other many times must not take hours, also where they are empty.
func TestExpandingEnds(t *testing.T) {
	var variables []string
	for i := range 7 {
		variables = append(variables, fmt.Sprintf(`{name: V%d, value: "%s"}`, i, strings.Repeat(fmt.Sprintf("$V%d", i+1), 50)))
	}
	o := loaded(t, `{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: shop}, spec: {containers: [{name: a, args: ["`+strings.Repeat("$V0", 50)+`", "$V0"], env: [`+
		strings.Join(variables, ", ")+`, {name: V7, value: ""}]}]}}`)[0]
	var env *environment
	for container := range object.JSON(o.Raw).At("spec", "containers").Elements() {
		env = environmentOf(container)
	}
	env.expand(nil, []byte(strings.Repeat("$V0", 50)), 0)
	if env.replaced != maxReplaced {
		t.Errorf("%d variables were replaced, want %d", env.replaced, maxReplaced)
	}
	table, err := BuiltIn()
	if err != nil {
		t.Fatal(err)
	}
	g := New(table, nil)
	g.Add(o.Parts())
	for name, want := range map[string]bool{"ConfigMap shop/anything": true, "ConfigMap team/anything": false} {
		if got := g.IsMentioned(named(name)); got != want {
			t.Errorf("%s is mentioned: %t, want %t", name, got, want)
		}
	}
}

// Beyond so many patterns of a namespace, any name of the kind counts as named there, and nowhere else.
func TestManyPatterns(t *testing.T) {
	g := New(tableOf(t), nil)
	for i := range maxCompared + 1 {
		g.name(Edge{To: Name{secretKind, "shop", fmt.Sprintf("a*%d", i)}, Strength: Reads}, g.user(Name{Name: "a"}), false)
	}
	for name, want := range map[string]bool{"Secret shop/any": true, "Secret team/any": false, "Secret team/a-1": false} {
		if use := g.Use(named(name)); use.Read != want {
			t.Errorf("%s: %+v", name, use)
		}
	}
}

// Beyond so many patterns of a namespace, any name counts as mentioned there, and nowhere else.
func TestManyMentionedPatterns(t *testing.T) {
	var m mentions
	for i := range maxPatterns + 1 {
		m.addPattern("shop", fmt.Sprintf("*-x%d", i))
	}
	m.addWord("shop", []byte("other-word")) // which does not make it forget
	for _, name := range []string{"ConfigMap shop/anything", "ConfigMap team/anything"} {
		if got, want := m.has(named(name)), strings.Contains(name, "shop"); got != want {
			t.Errorf("%s is mentioned: %t, want %t", name, got, want)
		}
	}
}

// A command whose end is too far away may become any text.
func TestLongCommands(t *testing.T) {
	for text, want := range map[string]bool{
		"$(" + strings.Repeat("a", maxVariable) + ")-x": true,
		"`" + strings.Repeat("a", maxVariable) + "`-x":  true,
		strings.Repeat("$(", maxVariable):               true,
		"$(" + strings.Repeat("a", 5000) + ")-x":        false,
		strings.Repeat("a", 2*maxVariable):              false,
		"$(":                                            false,
	} {
		env := &environment{}
		if env.expand(nil, []byte(text), 0); env.isExhausted() != want {
			t.Errorf("%.10s, %d bytes long: exhausted %t, want %t", text, len(text), env.isExhausted(), want)
		}
	}
}
