// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package process

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

const canaryNamespace = "canaries"

// canaries are values that nobody may see but who was meant to, and where each was planted.
type canaries struct {
	t       *testing.T
	planted map[string]string
}

// plant returns a value of its own.
func (n *canaries) plant(where string) string {
	number := len(n.planted)
	sum := sha256.Sum256([]byte(strconv.Itoa(number)))
	value := fmt.Sprintf("cnry%03d%s", number, hex.EncodeToString(sum[:10]))
	n.planted[value[:7]] = where
	return value
}

// plantCanaries creates the objects that hold them: four of each kind for each use.
func plantCanaries(t *testing.T, c client.Client) *canaries {
	t.Helper()
	n := &canaries{t: t, planted: map[string]string{}}
	must(t, c.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: canaryNamespace}}))
	must(t, ignoreExists(c.Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: canaryNamespace, Name: "default"}})))
	for _, use := range []string{"scan", "delete", "change", "denied", "report", "s3"} {
		for i := range 4 {
			name := fmt.Sprintf("%s-%d", use, i)
			must(t, c.Create(t.Context(), n.secret(name, use)))
			must(t, c.Create(t.Context(), n.configMap(name, use)))
			must(t, c.Create(t.Context(), n.pod(name, use)))
		}
	}
	return n
}

func (n *canaries) meta(kind, name, use string, applied any) metav1.ObjectMeta {
	text, err := json.Marshal(applied)
	must(n.t, err)
	return metav1.ObjectMeta{
		Namespace: canaryNamespace, Name: name, Labels: map[string]string{"use": use},
		Annotations: map[string]string{corev1.LastAppliedConfigAnnotation: string(text), "example.com/note": n.plant("an annotation of " + kind + " " + name)},
	}
}

func (n *canaries) secret(name, use string) *corev1.Secret {
	was := n.plant("data in last-applied-configuration of Secret " + name)
	applied := map[string]any{
		"data":       map[string]string{"password": base64.StdEncoding.EncodeToString([]byte(was))},
		"stringData": map[string]string{"token": n.plant("stringData in last-applied-configuration of Secret " + name)},
	}
	return &corev1.Secret{
		ObjectMeta: n.meta("Secret", name, use, applied),
		Data:       map[string][]byte{"password": []byte(n.plant("data of Secret " + name))},
		StringData: map[string]string{
			"token": n.plant("stringData of Secret " + name),
			"file":  "key: " + n.plant("the first line of Secret "+name) + "\nother-key: " + n.plant("the second line of Secret "+name) + "\n",
		},
	}
}

func (n *canaries) configMap(name, use string) *corev1.ConfigMap {
	applied := map[string]any{"data": map[string]string{"value": n.plant("last-applied-configuration of ConfigMap " + name)}}
	return &corev1.ConfigMap{ObjectMeta: n.meta("ConfigMap", name, use, applied), Data: map[string]string{"value": n.plant("data of ConfigMap " + name)}}
}

func (n *canaries) pod(name, use string) *corev1.Pod {
	env := []corev1.EnvVar{{Name: "PASSWORD", Value: n.plant("env of Pod " + name)}}
	applied := map[string]any{"spec": map[string]any{"env": []corev1.EnvVar{{Name: "PASSWORD", Value: n.plant("last-applied-configuration of Pod " + name)}}}}
	return &corev1.Pod{
		ObjectMeta: n.meta("Pod", name, use, applied),
		Spec:       corev1.PodSpec{AutomountServiceAccountToken: new(bool), Containers: []corev1.Container{{Name: "main", Image: "none", Env: env}}},
	}
}

var (
	canary     = regexp.MustCompile(`cnry\d{3}`)
	wrapped    = regexp.MustCompile(`([A-Za-z0-9+/]{60,76})\r?\n`)
	inBase64   = regexp.MustCompile(`[A-Za-z0-9+/_-]{12,}`)
	inHex      = regexp.MustCompile(`[0-9A-Fa-f]{14,}`)
	inDecimals = regexp.MustCompile(`\d{2,3}(?:[ ,]+\d{2,3}){6,}`)
	numbers    = regexp.MustCompile(`\d+`)
)

// find returns where the canaries in a text were planted. They are found also behind base64, in bytes, in a form or in a mail.
func (n *canaries) find(text string) []string {
	var found []string
	seen := map[string]bool{}
	look := func(text string) {
		for _, name := range canary.FindAllString(text, -1) {
			if !seen[name] && n.planted[name] != "" {
				found = append(found, n.planted[name])
			}
			seen[name] = true
		}
	}
	for _, text := range plainForms(text) {
		look(text)
		for _, encoded := range inBase64.FindAllString(text, -1) {
			decoded := decodeBase64(encoded)
			look(decoded)
			for _, again := range inBase64.FindAllString(decoded, -1) {
				look(decodeBase64(again))
			}
		}
		for _, encoded := range inHex.FindAllString(text, -1) {
			decoded, _ := hex.DecodeString(encoded[:len(encoded)/2*2])
			look(string(decoded))
		}
		for _, list := range inDecimals.FindAllString(text, -1) {
			var decoded []byte
			for _, number := range numbers.FindAllString(list, -1) {
				code, _ := strconv.Atoi(number)
				decoded = append(decoded, byte(code))
			}
			look(string(decoded))
		}
	}
	return found
}

// plainForms are a text, what it is without the line breaks of mails, and what it is as a form.
func plainForms(text string) []string {
	forms := []string{text, wrapped.ReplaceAllString(strings.NewReplacer("=\r\n", "", "=\n", "").Replace(text), "$1")}
	if strings.Contains(text, "%") {
		if form, err := url.QueryUnescape(text); err == nil {
			forms = append(forms, form)
		}
	}
	return forms
}

func decodeBase64(text string) string {
	text = strings.NewReplacer("-", "+", "_", "/").Replace(text)
	decoded, _ := base64.StdEncoding.DecodeString(text[:len(text)/4*4])
	return string(decoded)
}

// addObjects adds what the operator wrote into the cluster for everybody to read.
func (n *canaries) addObjects(c client.Client, sinks map[string]string) {
	n.t.Helper()
	for _, kind := range []schema.GroupVersionKind{
		{Group: "apps.projectsveltos.io", Version: "v1alpha1", Kind: "Cleaner"},
		{Group: "apps.projectsveltos.io", Version: "v1alpha1", Kind: "CleanerRun"},
		{Group: "apps.projectsveltos.io", Version: "v1alpha1", Kind: "Report"},
		{Group: "events.k8s.io", Version: "v1", Kind: "Event"},
	} {
		var list unstructured.UnstructuredList
		list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
		must(n.t, c.List(n.t.Context(), &list))
		text, err := yaml.Marshal(list.Items)
		must(n.t, err)
		sinks["the "+kind.Kind+"s"] = string(text)
	}
}

// show prints the neighbourhood of what was found.
func (n *canaries) show(sinks map[string]string) {
	for name, text := range sinks {
		for i, at := range canary.FindAllStringIndex(text, -1) {
			if i == 4 {
				break
			}
			n.t.Logf("%s: ...%s...", name, text[max(0, at[0]-300):min(len(text), at[1]+60)])
		}
	}
}
