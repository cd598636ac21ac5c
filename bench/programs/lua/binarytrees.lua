-- binarytrees: builds and walks complete binary trees; see ../binarytrees.dl
local SMALLEST = 4

local function grow(depth)
  if depth == 0 then return { left = false, right = false } end
  return { left = grow(depth - 1), right = grow(depth - 1) }
end

local function count(node)
  if not node.left then return 1 end
  return count(node.left) + count(node.right) + 1
end

local function run(size)
  local largest = math.max(size, SMALLEST + 2)
  print(string.format("stretch tree of depth %d\t check: %d", largest + 1, count(grow(largest + 1))))
  local keeper = grow(largest)
  for depth = SMALLEST, largest, 2 do
    local rounds = 2 ^ (largest - depth + SMALLEST)
    local nodes = 0
    for _ = 1, rounds do nodes = nodes + count(grow(depth)) end
    print(string.format("%d\t trees of depth %d\t check: %d", rounds, depth, nodes))
  end
  print(string.format("long lived tree of depth %d\t check: %d", largest, count(keeper)))
end

run(tonumber(arg[1] or 12))
