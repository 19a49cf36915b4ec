-- Bodies for wrk, each another one: `create PREFIX BODY` makes new names, `update PREFIX BODY COUNT SALT` goes round
-- the names 1 to COUNT - 1 of an earlier run. BODY holds NAME and TEXT where those belong; SALT tells runs apart.
-- An update may be followed by METHOD, CONTENT-TYPE and QUERY, for what is no plain PUT.
local counter, prefix, body, count, salt = 0, "", "", 0, ""
local updates = false
local method, query = "PUT", ""
local headers = { ["content-type"] = "application/json" }

function init(args)
  updates = args[1] == "update"
  prefix, body, count, salt = args[2], args[3], tonumber(args[4] or "0"), args[5] or ""
  method, query = args[6] or method, args[8] or query
  headers["content-type"] = args[7] or headers["content-type"]
  headers["authorization"] = wrk.headers["authorization"]
end

function request()
  counter = counter + 1
  -- wrk asks for one request that it does not send, so names begin with 1.
  local name = prefix .. string.format("%06d", updates and counter % (count - 1) + 1 or counter - 1)
  local sent = body:gsub("NAME", name):gsub("TEXT", salt .. counter)
  if updates then return wrk.format(method, wrk.path .. "/" .. name .. query, headers, sent) end
  return wrk.format("POST", wrk.path, headers, sent)
end
