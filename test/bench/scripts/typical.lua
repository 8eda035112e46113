function evaluate()
  local hs = {matching = false, message = ""}
  if obj.status == nil or obj.status.phase ~= "Succeeded" and obj.status.phase ~= "Failed" then return hs end
  local annotations = obj.metadata.annotations or {}
  if annotations["example.com/keep"] == "true" then return hs end
  local restarts = 0
  for _, container in ipairs(obj.status.containerStatuses or {}) do restarts = restarts + container.restartCount end
  local y, m, d = string.match(obj.metadata.creationTimestamp, "(%d+)-(%d+)-(%d+)T")
  local age = os.difftime(os.time(), os.time({year = y, month = m, day = d, hour = 0}))
  hs.matching, hs.message = age >= 0, obj.status.phase .. " after " .. restarts .. " restarts"
  return hs
end
