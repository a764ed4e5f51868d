-- Shared by the scripts of wrk: numbers the threads, counts the failures that wrk does not see, and prints the result.

threads = {}

function setup(thread)
  thread:set("number", #threads)
  table.insert(threads, thread)
end

-- Reads the lines of a file.
function lines_of(path)
  local lines = {}
  for line in io.lines(path) do
    table.insert(lines, line)
  end
  return lines
end

-- Returns a function that gives the values of a list in turn, each thread from a place of its own.
function in_turn(values)
  local position = (number * 7919) % #values
  return function()
    position = position % #values + 1
    return values[position]
  end
end

-- The number of responses without the expected content, in this thread.
failed = 0

function done(summary, latency)
  local wrong = 0
  for _, thread in ipairs(threads) do
    wrong = wrong + thread:get("failed")
  end
  local errors = summary.errors
  print(string.format(
    'RESULT {"requests": %d, "microseconds": %d, "p50": %d, "p99": %d, "failed": %d, "wrong": %d}',
    summary.requests, summary.duration, latency:percentile(50), latency:percentile(99),
    errors.connect + errors.read + errors.write + errors.timeout + errors.status, wrong))
end
