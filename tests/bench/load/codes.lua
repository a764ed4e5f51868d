-- Exchanges authorization codes, each once.
-- Arguments: a file with one code per line, the number of threads, the other fields of the form. A tab and a DPoP proof may follow a
-- code.

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
  local code, proof = (codes[position] or "used-up"):match("^([^\t]*)\t?(.*)$")
  local headers = { ["Content-Type"] = "application/x-www-form-urlencoded" }
  if proof ~= "" then headers["DPoP"] = proof end
  local body = "grant_type=authorization_code&code=" .. code .. "&" .. fields
  return wrk.format("POST", "/token", headers, body)
end

function response(status, headers, body)
  if status ~= 200 or not body:find('"refresh_token":"', 1, true) then failed = failed + 1 end
end
