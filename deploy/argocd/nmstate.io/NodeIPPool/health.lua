-- The health of a NodeIPPool in Argo CD.
--
--  the pool                                | health
--  ----------------------------------------+------------
--  nobody has looked at it, or at this spec| Progressing
--  Stalled                                 | Degraded
--  Reconciling, or being deleted           | Progressing
--  Ready                                   | Healthy
--  otherwise                               | Progressing
--
-- With authority Plan and no controller in the cluster nobody ever looks, and nobody has to: Healthy.
local status = obj.status or {}
local conditions = {}
for _, condition in ipairs(status.conditions or {}) do
  conditions[condition.type] = condition
end

local function is(type)
  return conditions[type] ~= nil and conditions[type].status == "True"
end

local function health(word, type)
  local condition = conditions[type] or {}
  return { status = word, message = condition.message or "Waiting for the controller of nodeippool" }
end

local observed = status.observedGeneration or -1
if observed < 0 and obj.spec ~= nil and obj.spec.authority == "Plan" then
  return { status = "Healthy", message = "Addresses are planned before they are applied" }
end
if observed ~= obj.metadata.generation then
  return health("Progressing")
end
if is("Stalled") then
  return health("Degraded", "Stalled")
end
if is("Reconciling") or obj.metadata.deletionTimestamp ~= nil then
  return health("Progressing", "Reconciling")
end
if is("Ready") then
  return health("Healthy", "Ready")
end
return health("Progressing", "Ready")
