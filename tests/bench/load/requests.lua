-- Sends the requests of a file in turn, each thread from a place of its own.
-- Arguments: the file, the bearer token or "", the body or "".
-- A line of the file has a method, a path, and the value of If-None-Match or nothing, separated by tabs.

require "common"

function init(args)
  local requests = {}
  local token, body = args[2], args[3]
  for _, line in ipairs(lines_of(args[1])) do
    local method, path, etag = line:match("^([^\t]*)\t([^\t]*)\t(.*)$")
    local headers = {}
    if token ~= "" then headers["Authorization"] = "Bearer " .. token end
    if etag ~= "" then headers["If-None-Match"] = etag end
    if body ~= "" then headers["Content-Type"] = "application/json" end
    table.insert(requests, wrk.format(method, path, headers, body ~= "" and body or nil))
  end
  next_request = in_turn(requests)
end

function request()
  return next_request()
end
