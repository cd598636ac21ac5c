-- mandelbrot: membership of the points of a square grid; see ../mandelbrot.dl
local ITERATIONS = 50

local function inside(real, imaginary)
  local x, y, xx, yy = 0.0, 0.0, 0.0, 0.0
  for _ = 1, ITERATIONS do
    y = 2.0 * x * y + imaginary
    x = xx - yy + real
    xx = x * x
    yy = y * y
    if xx + yy > 4.0 then return false end
  end
  return true
end

local size = math.floor(tonumber(arg[1] or 400))
local checksum, total = 0, 0
for row = 0, size - 1 do
  local imaginary = 2.0 * row / size - 1.0
  local byte = 0
  for column = 0, size - 1 do
    byte = byte * 2
    if inside(2.0 * column / size - 1.5, imaginary) then
      byte = byte + 1
      total = total + 1
    end
    if column % 8 == 7 then
      checksum = (checksum * 31 + byte) % 1000003
      byte = 0
    end
  end
  if size % 8 ~= 0 then
    byte = byte * 2 ^ (8 - size % 8)
    checksum = (checksum * 31 + byte) % 1000003
  end
end
print(string.format("P4 %d %d inside %d checksum %d", size, size, total, checksum))
