-- fasta: writes DNA sequences, repeated and random; see ../fasta.dl
local MODULUS, LINE = 139968, 60
local ALU =
  "GGCCGGGCGCGGTGGCTCACGCCTGTAATCCCAGCACTTTGGGAGGCCGAGGCGGGCGGATCACCTGAGGTC" ..
  "AGGAGTTCGAGACCAGCCTGGCCAACATGGTGAAACCCCGTCTCTACTAAAAATACAAAAATTAGCCGGGCG" ..
  "TGGTGGCGCGCGCCTGTAATCCCAGCTACTCGGGAGGCTGAGGCAGGAGAATCGCTTGAACCCGGGAGGCGG" ..
  "AGGTTGCAGTGAGCCGAGATCGCGCCACTGCACTCCAGCCTGGGCGACAGAGCGAGACTCCGTCTCAAAAA"
local AMBIGUOUS = {
  letters = "acgtBDHKMNRSVWY",
  0.27, 0.12, 0.12, 0.27, 0.02, 0.02, 0.02, 0.02, 0.02, 0.02, 0.02, 0.02, 0.02, 0.02, 0.02,
}
local HUMAN = {
  letters = "acgt",
  0.3029549426680, 0.1979883004921, 0.1975473066391, 0.3015094502008,
}

local generator = { state = 42 }

function generator:draw()
  local state = (self.state * 3877 + 29573) % MODULUS
  self.state = state
  return state / MODULUS
end

local function write_repeated(title, text, length)
  print(title)
  local doubled = text .. text
  local start = 0
  while length > 0 do
    local width = math.min(length, LINE)
    print(doubled:sub(start + 1, start + width))
    start = (start + width) % #text
    length = length - width
  end
end

local function write_random(title, frequencies, length)
  print(title)
  local letters, bounds, total = {}, {}, 0.0
  for i, share in ipairs(frequencies) do
    total = total + share
    letters[i] = frequencies.letters:sub(i, i)
    bounds[i] = total
  end
  local line = {}
  while length > 0 do
    local width = math.min(length, LINE)
    for i = 1, width do
      local point = generator:draw()
      local index = 1
      while bounds[index] < point do index = index + 1 end
      line[i] = letters[index]
    end
    print(table.concat(line, "", 1, width))
    length = length - width
  end
end

local size = math.floor(tonumber(arg[1] or 100000))
write_repeated(">ONE Homo sapiens alu", ALU, size * 2)
write_random(">TWO IUB ambiguity codes", AMBIGUOUS, size * 3)
write_random(">THREE Homo sapiens frequency", HUMAN, size * 5)
