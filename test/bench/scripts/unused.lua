function evaluate()
  local used = {}
  local function use(pod, name)
    used[pod.metadata.namespace .. "/" .. name] = true
  end
  for _, pod in ipairs(resources) do
    if pod.kind == "Pod" then
      for _, container in ipairs(pod.spec.containers) do
        for _, env in ipairs(container.env or {}) do
          if env.valueFrom and env.valueFrom.configMapKeyRef then use(pod, env.valueFrom.configMapKeyRef.name) end
        end
        for _, from in ipairs(container.envFrom or {}) do
          if from.configMapRef then use(pod, from.configMapRef.name) end
        end
      end
      for _, volume in ipairs(pod.spec.volumes or {}) do
        if volume.configMap then use(pod, volume.configMap.name) end
      end
    end
  end
  local hs = {resources = {}}
  for _, configMap in ipairs(resources) do
    if configMap.kind == "ConfigMap" and not used[configMap.metadata.namespace .. "/" .. configMap.metadata.name] then
      table.insert(hs.resources, {resource = configMap, message = "unused"})
    end
  end
  return hs
end
