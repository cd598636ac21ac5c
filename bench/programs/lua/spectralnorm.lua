-- spectralnorm: the largest singular value of an infinite matrix; see ../spectralnorm.dl
local function entry(row, column)
  local diagonal = row + column
  return 1.0 / (diagonal * (diagonal + 1) / 2 + row + 1)
end

local function times(vector, out, size)
  for row = 0, size - 1 do
    local total = 0.0
    for column = 0, size - 1 do total = total + entry(row, column) * vector[column + 1] end
    out[row + 1] = total
  end
end

local function times_transposed(vector, out, size)
  for row = 0, size - 1 do
    local total = 0.0
    for column = 0, size - 1 do total = total + entry(column, row) * vector[column + 1] end
    out[row + 1] = total
  end
end

local function dot(left, right)
  local total = 0.0
  for i, value in ipairs(left) do total = total + value * right[i] end
  return total
end

local size = math.floor(tonumber(arg[1] or 300))
local u, v, between = {}, {}, {}
for i = 1, size do
  u[i] = 1.0
  v[i] = 0.0
  between[i] = 0.0
end
for _ = 1, 10 do
  times(u, between, size)
  times_transposed(between, v, size)
  times(v, between, size)
  times_transposed(between, u, size)
end
print(string.format("%.9f", math.sqrt(dot(u, v) / dot(v, v))))
