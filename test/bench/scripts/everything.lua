local values, phase

local function walk(value)
  if type(value) ~= "table" then
    values = values + 1
    return
  end
  for key, inner in pairs(value) do
    if key == "phase" then phase = inner end
    walk(inner)
  end
end

function evaluate()
  values, phase = 0, nil
  walk(obj)
  return {matching = phase == "Succeeded", message = values .. " values"}
end
