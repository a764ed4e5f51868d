-- Rotates refresh tokens. Each thread has a queue: a request takes a token, its response puts the successor back.
-- With as many tokens as connections, each connection finds a token when it needs one.
-- Arguments: a file with one token per line, the number of threads, the client id, the path of the token endpoint.

require "common"

local first, last, queue = 1, 0, {}

local function put(token)
  last = last + 1
  queue[last] = token
end

function init(args)
  client_id, path = args[3], args[4]
  local count = tonumber(args[2])
  for index, token in ipairs(lines_of(args[1])) do
    if index % count == number then put(token) end
  end
  -- wrk calls request() once in the first thread without sending it.
  is_trial = number == 0
end

function request()
  local token = queue[first]
  if is_trial then
    is_trial = false
  else
    queue[first] = nil
    first = first + 1
  end
  local body = "grant_type=refresh_token&refresh_token=" .. token .. "&client_id=" .. client_id
  return wrk.format("POST", path, { ["Content-Type"] = "application/x-www-form-urlencoded" }, body)
end

function response(status, headers, body)
  local successor = body:match('"refresh_token":"([^"]+)"')
  if status == 200 and successor then
    put(successor)
  else
    failed = failed + 1
    put("missing")
  end
end
