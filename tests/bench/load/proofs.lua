-- Sends GET requests with a bound access token, each with a DPoP proof of its own.
-- Arguments: a file, the number of threads, the access token. A line of the file has a path and its proof, separated by a tab.

require "common"

function init(args)
  requests, position = {}, 0
  local count, token = tonumber(args[2]), args[3]
  for index, line in ipairs(lines_of(args[1])) do
    if index % count == number then
      local path, proof = line:match("^([^\t]*)\t(.*)$")
      local headers = { ["Authorization"] = "DPoP " .. token, ["DPoP"] = proof }
      table.insert(requests, wrk.format("GET", path, headers))
    end
  end
end

function request()
  position = position + 1
  -- A request without credentials fails: all proofs were used.
  return requests[position] or wrk.format("GET", "/me")
end
