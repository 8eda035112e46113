// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

// Package findings proves what findings say: small clusters with an expected answer for each object, all on one real API server.
package findings

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// scenario is a small cluster, in a namespace of its own, and what is to be found in it.
type scenario struct {
	// Scenario says in a sentence what it is about, and From where that comes from: an issue, a section of the rules.
	Scenario string `json:"scenario"`
	From     string `json:"from,omitempty"`
	// Since is the minor version of Kubernetes from which on the API server has all its kinds: before, it is left out.
	Since int `json:"since,omitempty"`
	// Objects are manifests, of v1 where they say nothing else. What is namespaced and names no namespace is in the scenario's own. ${ns} stands
	// for that, ${now} and ${now-micro} for the time of the look, ${never} for the schedule of a CronJob that never runs, ${expired} and ${valid} for
	// certificates, and ${uid:Kind/name} for the UID of an object that stands before. ${secrets:...} and ${configmaps:...} stand for
	// themselves.
	//
	// A kubelet is played: what says nothing of its status runs and is ready, or becomes what its annotation "becomes" says: Succeeded, Failed,
	// Pending, Restarting, or the reason why it waits. One with the annotation "deleting" is deleted after it was created.
	Objects []map[string]any `json:"objects"`
	// Expect says of objects, as Kind/name or Kind/namespace/name, what is to be found: types of findings with commas between them, each with
	// a "?" behind it when it is unknown, or a confidence in brackets, or " managed"; "used" when nothing is. Of an object that is not mentioned,
	// nothing is.
	Expect map[string]string `json:"expect"`
	// Reasons are parts of the reasons of what is found of an object, by its key as in Expect.
	Reasons map[string]string `json:"reasons,omitempty"`

	file      string
	namespace string
}

// load reads all scenarios of a directory.
func load(dir string, now time.Time) ([]*scenario, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	if err != nil {
		return nil, err
	}
	var all []*scenario
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		var found []*scenario
		if err := yaml.UnmarshalStrict(text, &found); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		for i, s := range found {
			name := strings.TrimSuffix(filepath.Base(file), ".yaml")
			if found[i], err = s.in(fmt.Sprintf("%s-%d", name, i+1), now); err != nil {
				return nil, fmt.Errorf("%s: %q: %w", file, s.Scenario, err)
			}
			found[i].file = filepath.Base(file)
		}
		all = append(all, found...)
	}
	return all, nil
}

// in is the scenario in a namespace.
func (s *scenario) in(namespace string, now time.Time) (*scenario, error) {
	text, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	replaced := strings.NewReplacer(
		"${ns}", namespace, "${now}", now.UTC().Format(time.RFC3339), "${now-micro}", now.UTC().Format(metav1.RFC3339Micro), "${never}", "0 0 30 2 *",
		"${expired}", expired, "${valid}", valid,
	).Replace(string(text))
	placed := &scenario{}
	if err := json.Unmarshal([]byte(replaced), placed); err != nil {
		return nil, err
	}
	if strings.Contains(strings.NewReplacer("${uid:", "", "${secrets:", "", "${configmaps:", "").Replace(replaced), "${") {
		return nil, errors.New("an unknown ${...} stands in it")
	}
	placed.namespace = namespace
	return placed, nil
}

// expired and valid are certificates until 2021 and until 2099, as Secrets have them.
const (
	expired = "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUJCVENCcTZBREFnRUNBZ0VCTUFvR0NDcUdTTTQ5QkFNQ01Bd3hDakFJQmdOVkJBTVRBWFF3SGhjTk1qQXcKTVRBeE1EQXdNREF3" +
		"V2hjTk1qRXdNVEF4TURBd01EQXdXakFNTVFvd0NBWURWUVFERXdGME1Ga3dFd1lIS29aSQp6ajBDQVFZSUtvWkl6ajBEQVFjRFFnQUVWZkVwNTBSanc5R0ZIT3ViVlJveUg3SmsvSktG" +
		"b0ZVNnpaVmNJeE91Cno2bStxc0hOSEZKemJYSWZrN0Q2ZlFSWlpXdzhFVzhuVzdPMzNsRFRpKzl5YXpBS0JnZ3Foa2pPUFFRREFnTkoKQURCR0FpRUF1dDNQb2xIclZpNlBubjJsU0FV" +
		"M2hGZnF3ekUyQ1l5WkJpWVptWG9KdkFFQ0lRQ2JzRFFJaERWKwpuM1FDRmJXN0ZMSFRyUVhPTHp6dnU5bjR4WFZwT0hwYXlBPT0KLS0tLS1FTkQgQ0VSVElGSUNBVEUtLS0tLQo="
	valid = "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUJCVENCcmFBREFnRUNBZ0VCTUFvR0NDcUdTTTQ5QkFNQ01Bd3hDakFJQmdOVkJBTVRBWFF3SUJjTk1qQXcKTVRBeE1EQXdNREF3" +
		"V2hnUE1qQTVPVEF4TURFd01EQXdNREJhTUF3eENqQUlCZ05WQkFNVEFYUXdXVEFUQmdjcQpoa2pPUFFJQkJnZ3Foa2pPUFFNQkJ3TkNBQVJWOFNublJHUEQwWVVjNjV0VkdqSWZzbVQ4" +
		"a29XZ1ZUck5sVndqCkU2N1BxYjZxd2MwY1VuTnRjaCtUc1BwOUJGbGxiRHdSYnlkYnM3ZmVVTk9MNzNKck1Bb0dDQ3FHU000OUJBTUMKQTBjQU1FUUNJQSt2UU1CTjhObG00NFEvd2lH" +
		"cjJlNzhka0dVL29XOWtVQ0hrcUM1OFJnU0FpQTR3dzFFaWFHOQp6cng3RkZnRmMvblpsamxkaXEzM1RsVWZKUGdMK2ZPL3hnPT0KLS0tLS1FTkQgQ0VSVElGSUNBVEUtLS0tLQo="
)
