// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"net/http"
	"slices"

	"sigs.k8s.io/yaml"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/config/recipes"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

func library(*http.Request, *person) (int, any, error) {
	all, err := recipes.All()
	rows := make([]LibraryRow, 0, len(all))
	for i := range all {
		row, errRow := libraryRow(&all[i])
		err = firstOf(err, errRow)
		rows = append(rows, row)
	}
	return http.StatusOK, rows, err
}

func libraryRow(recipe *recipes.Recipe) (LibraryRow, error) {
	var c v1alpha1.Cleaner
	err := yaml.Unmarshal([]byte(recipe.Cleaner), &c)
	row := LibraryRow{
		ID: recipe.Name, Title: recipe.Name, Description: recipe.Summary(), Action: string(c.EffectiveAction()),
		Kinds: []string{},
	}
	for _, s := range c.Spec.ResourcePolicySet.ResourceSelectors {
		if !slices.Contains(row.Kinds, s.Kind) {
			row.Kinds = append(row.Kinds, s.Kind)
		}
	}
	return row, err
}

func libraryItem(r *http.Request, _ *person) (int, any, error) {
	all, err := recipes.All()
	if err != nil {
		return 0, nil, err
	}
	i := slices.IndexFunc(all, func(recipe recipes.Recipe) bool { return recipe.Name == r.PathValue("name") })
	if i < 0 {
		return 0, nil, notFound("there is no recipe %q in the library", r.PathValue("name"))
	}
	row, err := libraryRow(&all[i])
	return http.StatusOK, LibraryItem{row, all[i].Cleaner}, err
}

// reportPath is where a Report is; without a name, where all are.
func reportPath(name string) string {
	kind := object.Kind{GroupVersionKind: v1alpha1.GroupVersion.WithKind("Report"), Resource: "reports"}
	return kind.Path("", name)
}

func (s *Server) listReports(r *http.Request, p *person) (int, any, error) {
	rows := []ReportRow{}
	err := eachOf[v1alpha1.ReportList](r.Context(), p, reportPath(""), fewLarge, func(report *v1alpha1.Report) {
		rows = append(rows, ReportRow{report.Name, report.Spec.Action, len(report.Spec.ResourceInfo), report.Spec.Message})
	})
	return http.StatusOK, rows, err
}

// report is a Report without the objects themselves.
func (s *Server) report(r *http.Request, p *person) (int, any, error) {
	var report v1alpha1.Report
	if err := p.api.Read(r.Context(), reportPath(r.PathValue("name")), &report); err != nil {
		return 0, nil, err
	}
	report.ManagedFields = nil
	for i := range report.Spec.ResourceInfo {
		report.Spec.ResourceInfo[i].FullResource = nil
	}
	return http.StatusOK, report, nil
}
