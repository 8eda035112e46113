// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/cluster"
)

// TestOutcomesThatAreNotListed: a list that is not whole says so, and why. The Secrets with the rest are kept no longer
// than the copies, and not everybody may read them.
func TestOutcomesThatAreNotListed(t *testing.T) {
	c := admin(t)
	team := namespace(t, c)
	of := cleaner(t, c, team, nil)
	const where = cluster.DefaultOperatorNamespace
	listed := []v1alpha1.ObjectOutcome{outcome("shop", "old", v1alpha1.OutcomeMatched)}
	acted := record(t, c, of, 0, v1alpha1.CleanerRunStatus{
		Phase: v1alpha1.RunCompleted, Objects: listed, ObjectsOmitted: 5,
		Intent: &v1alpha1.RunIntent{Namespace: where, Attempt: "1", Objects: 5, Parts: 1},
	}).Name
	scan := record(t, c, of, time.Hour, v1alpha1.CleanerRunStatus{
		Phase: v1alpha1.RunCompleted, Objects: listed, ObjectsOmitted: 5,
		OtherObjects: &v1alpha1.RunParts{Namespace: where, Attempt: "1", Objects: 5, Parts: 1},
	}).Name
	visitors := people(t, c, team)
	for _, test := range []struct {
		who, run string
		want     Error
	}{
		{"admin", acted, Error{"5 objects of run " + acted + " cannot be listed: ", "they are kept no longer than the run's copies", ""}},
		{"admin", scan, Error{"1 of 6 objects are listed", "kept for the latest two such runs of a Cleaner", ""}},
		{"editor", acted, Error{"5 objects of run " + acted, "they are Secrets in namespace ", "get secrets in namespace " + where}},
		{"editor", scan, Error{"5 objects of run " + scan, "they are Secrets in namespace ", "get secrets in namespace " + where}},
	} {
		var got Outcomes
		visitors[test.who].wants(http.StatusOK, http.MethodGet, "runs/"+test.run+"/outcomes", nil, &got)
		if why := got.Unread; got.Total != 1 || why == nil || !strings.HasPrefix(why.Error, test.want.Error) ||
			!strings.Contains(why.Hint, test.want.Hint) || why.Missing != test.want.Missing {
			t.Errorf("%s of run %s: %d objects, and %+v", test.who, test.run, got.Total, why)
		}
	}
}
