-- Exchanges authorization codes, each once.
-- Arguments: a file with one code per line, the number of threads, the other fields of the form.

require "common"

function init(args)
  codes, position, fields = {}, 0, args[3]
  local count = tonumber(args[2])
  for index, code in ipairs(lines_of(args[1])) do
    if index % count == number then table.insert(codes, code) end
  end
end

function request()
  position = position + 1
  local body = "grant_type=authorization_code&code=" .. (codes[position] or "used-up") .. "&" .. fields
  return wrk.format("POST", "/token", { ["Content-Type"] = "application/x-www-form-urlencoded" }, body)
end

function response(status, headers, body)
  if status ~= 200 or not body:find('"refresh_token":"', 1, true) then failed = failed + 1 end
end
