-- Introspects the tokens of a file in turn, each thread from a place of its own.
-- Arguments: a file with one token per line, the kind of the tokens (token_type_hint), the value of Authorization.

require "common"

function init(args)
  local requests = {}
  local headers = { ["Content-Type"] = "application/x-www-form-urlencoded", ["Authorization"] = args[3] }
  for _, token in ipairs(lines_of(args[1])) do
    local body = "token=" .. token .. "&token_type_hint=" .. args[2]
    table.insert(requests, wrk.format("POST", "/introspect", headers, body))
  end
  next_request = in_turn(requests)
end

function request()
  return next_request()
end

function response(status, headers, body)
  if status ~= 200 or not body:find('"active":true', 1, true) then failed = failed + 1 end
end
