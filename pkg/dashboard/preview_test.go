// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestPreview asks over a connection: a server that has begun its answer cannot read the request any more.
func TestPreview(t *testing.T) {
	c := admin(t)
	shop := namespace(t, c)
	create(t, c, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: shop, Name: "settings"}})
	of := cleaner(t, c, shop, nil)
	v := visit(t, env.Config)
	yaml := fmt.Sprintf("apiVersion: apps.projectsveltos.io/v1alpha1\nkind: Cleaner\nmetadata: {name: x}\nspec:\n  schedule: '@daily'\n"+
		"  resourcePolicySet: {resourceSelectors: [{group: '', kind: ConfigMap, version: v1, namespace: %s}]}\n", shop)
	for name, asked := range map[string]Preview{"of a Cleaner": {Name: of.Name}, "of a manifest": {YAML: yaml}} {
		status, answer := v.ask(http.MethodPost, "preview", asked)
		if status != http.StatusOK || !strings.Contains(answer, "event: result\n") || !strings.Contains(answer, `"considered":1`) {
			t.Errorf("%s: %d %s", name, status, answer)
		}
	}
	wrong := Preview{YAML: strings.Replace(yaml, "group: '', ", "", 1)}
	if _, answer := v.ask(http.MethodPost, "preview", wrong); !strings.Contains(answer, "resourceSelectors[0].group: is missing") {
		t.Errorf("of a wrong manifest: %s", answer)
	}
	if status, answer := v.ask(http.MethodPost, "preview", Preview{}); status != http.StatusBadRequest {
		t.Errorf("of nothing: %d %s", status, answer)
	}
}

// TestPreviewOfWhatMayNotBeRead: somebody who may not list the kind is told the right, and not that 0 objects match.
func TestPreviewOfWhatMayNotBeRead(t *testing.T) {
	user, err := env.AddUser("stranger")
	must(t, err)
	asked := Preview{YAML: "apiVersion: apps.projectsveltos.io/v1alpha1\nkind: Cleaner\nmetadata: {name: x}\nspec:\n  schedule: '@daily'\n" +
		"  resourcePolicySet: {resourceSelectors: [{group: apps, kind: Deployment, version: v1, namespace: default}]}\n"}
	_, answer := visit(t, user.Config()).ask(http.MethodPost, "preview", asked)
	if !strings.Contains(answer, "event: error\n") || !strings.Contains(answer, `"missing":"list deployments.apps in namespace default"`) {
		t.Errorf("it is answered: %s", answer)
	}
	for _, wrong := range []string{"event: result", "--as USER"} {
		if strings.Contains(answer, wrong) {
			t.Errorf("it says %q: %s", wrong, answer)
		}
	}
}
