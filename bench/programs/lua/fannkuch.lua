-- fannkuch: counts pancake flips over all permutations of n; see ../fannkuch.dl
local function flips_of(order, scratch, size)
  for i = 0, size - 1 do scratch[i] = order[i] end
  local flips = 0
  local top = scratch[0]
  while top ~= 0 do
    local low, high = 0, top
    while low < high do
      scratch[low], scratch[high] = scratch[high], scratch[low]
      low = low + 1
      high = high - 1
    end
    flips = flips + 1
    top = scratch[0]
  end
  return flips
end

local function advance(order, counts, depth, size)
  while depth < size do
    local first = order[0]
    for i = 0, depth - 1 do order[i] = order[i + 1] end
    order[depth] = first
    counts[depth] = counts[depth] - 1
    if counts[depth] > 0 then return depth end
    depth = depth + 1
  end
  return size
end

local function fannkuch(size)
  local order, scratch, counts = {}, {}, {}
  for i = 0, size - 1 do
    order[i] = i
    scratch[i] = 0
    counts[i] = 0
  end
  local most, checksum, sign, depth = 0, 0, 1, size
  while true do
    while depth > 1 do
      counts[depth - 1] = depth
      depth = depth - 1
    end
    local flips = flips_of(order, scratch, size)
    if flips > most then most = flips end
    checksum = checksum + sign * flips
    sign = -sign
    depth = advance(order, counts, depth, size)
    if depth == size then return checksum, most end
  end
end

local n = math.floor(tonumber(arg[1] or 9))
local total, best = fannkuch(n)
print(string.format("%d\nPfannkuchen(%d) = %d", total, n, best))
