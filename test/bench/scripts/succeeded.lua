function evaluate()
  local hs = {matching = false}
  if obj.status ~= nil and obj.status.phase == "Succeeded" then
    hs.matching = true
  end
  return hs
end
