// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package lua

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// unusedConfigMaps is written as published scripts are: globals without local, helpers inside evaluate, pairs on lists.
const unusedConfigMaps = `
    function getKey(namespace, name)
      return namespace .. ":" .. name
    end

    function evaluate()
      local hs = {}
      hs.message = ""

      local configMaps = {}
      local pods = {}
      local unusedConfigMaps = {}

      function getConfigMaps(pod)
        if pod.spec.containers ~= nil then
          for _, container in pairs(pod.spec.containers) do
            if container.env ~= nil then
              for _, env in pairs(container.env) do
                if env.valueFrom ~= nil and env.valueFrom.configMapKeyRef ~= nil then
                  key = getKey(pod.metadata.namespace, env.valueFrom.configMapKeyRef.name)
                  podConfigMaps[key] = true
                end
              end
            end
            if container.envFrom ~= nil then
              for _, envFrom in pairs(container.envFrom) do
                if envFrom.configMapRef ~= nil then
                  key = getKey(pod.metadata.namespace, envFrom.configMapRef.name)
                  podConfigMaps[key] = true
                end
              end
            end
          end
        end
        if pod.spec.volumes ~= nil then
          for _, volume in pairs(pod.spec.volumes) do
            if volume.configMap ~= nil then
              key = getKey(pod.metadata.namespace, volume.configMap.name)
              podConfigMaps[key] = true
            end
          end
        end
      end

      for _, resource in ipairs(resources) do
        local kind = resource.kind
        if kind == "ConfigMap" then
          table.insert(configMaps, resource)
        elseif kind == "Pod" then
          table.insert(pods, resource)
        end
      end

      podConfigMaps = {}
      for _, pod in ipairs(pods) do
        getConfigMaps(pod)
      end

      for _, configMap in ipairs(configMaps) do
        key = getKey(configMap.metadata.namespace, configMap.metadata.name)
        if not podConfigMaps[key] then
          table.insert(unusedConfigMaps, configMap)
        end
      end

      if #unusedConfigMaps > 0 then
        hs.resources = {}
        for _, unused in ipairs(unusedConfigMaps) do
          table.insert(hs.resources, {resource = unused, message = "unused " .. unused.metadata.name})
        end
      end
      return hs
    end
`

func TestPublishedUnusedConfigMaps(t *testing.T) {
	pod := newObject(t, kind("", "v1", "Pod"), `{"metadata":{"namespace":"default","name":"p","uid":"p","resourceVersion":"1"},
		"spec":{"containers":[{"name":"c","env":[{"name":"E","valueFrom":{"configMapKeyRef":{"name":"env","key":"k"}}}],
		"envFrom":[{"configMapRef":{"name":"envfrom"}}]}],"volumes":[{"name":"v","configMap":{"name":"volume"}},{"name":"w","emptyDir":{}}]}}`)
	objects := []object.Object{
		configMap(t, "env"), configMap(t, "idle"), configMap(t, "envfrom"), pod, configMap(t, "volume"), configMap(t, "old"),
	}
	s := session(t, unusedConfigMaps)
	for range 2 {
		got, err := s.Aggregate(t.Context(), collection(objects...))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]Selected{{1, "unused idle"}, {5, "unused old"}}, got); diff != "" {
			t.Error(diff)
		}
	}
	if got, err := s.Aggregate(t.Context(), collection(objects[2:5]...)); got != nil || err != nil {
		t.Errorf("all in use: %v, %v", got, err)
	}
}

const completedJobs = `
    function convertTimestampString(timestampStr)
      local convertedTimestamp = {}
      for year, month, day, hour, min, sec in string.gmatch(timestampStr, "(%d+)-(%d+)-(%d+)T(%d+):(%d+):(%d+)Z") do
        convertedTimestamp = {year=year, month=month, day=day, hour=hour, min=min, sec=sec}
      end
      local y, m = timestampStr:match("(%d+)-(%d+)")
      assert(y == convertedTimestamp.year and m == convertedTimestamp.month)
      return os.time(convertedTimestamp)
    end

    function evaluate()
      hs = {}
      hs.matching = false
      local limit = 24 * 60 * 60
      local currentTime = os.time(os.date("!*t"))
      if obj.status ~= nil then
        if obj.status.completionTime ~= nil and obj.status.succeeded > 0 then
          age = os.difftime(currentTime, convertTimestampString(obj.status.completionTime))
          if age > limit then
            hs.matching = true
            hs.message = "completed " .. math.floor(age / 3600) .. " hours ago"
          end
        end
      end
      return hs
    end
`

func TestPublishedCompletedJobs(t *testing.T) {
	s := session(t, completedJobs)
	job := func(status string) object.Object {
		return newObject(t, kind("batch", "v1", "Job"),
			`{"metadata":{"namespace":"default","name":"j","uid":"j","resourceVersion":"1"}`+status+`}`)
	}
	done := func(ago time.Duration) string {
		return fmt.Sprintf(`,"status":{"succeeded":1,"completionTime":%q}`, now.Add(-ago).Format(time.RFC3339))
	}
	for status, want := range map[string]Match{
		done(25 * time.Hour):      {true, "completed 25 hours ago"},
		done(24 * time.Hour):      {false, ""},
		done(30 * 24 * time.Hour): {true, "completed 720 hours ago"},
		`,"status":{"active":1}`:  {false, ""},
		``:                        {false, ""},
	} {
		got, err := s.Evaluate(t.Context(), job(status))
		if err != nil {
			t.Errorf("%s: %v", status, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", status, diff)
		}
	}
}
