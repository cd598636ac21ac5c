-- nbody: the outer planets moved by a symplectic integrator; see ../nbody.dl
local sqrt = math.sqrt
local SUN = 4 * 3.141592653589793 ^ 2
local YEAR = 365.24

local function body(x, y, z, vx, vy, vz, mass)
  return { x = x, y = y, z = z, vx = vx * YEAR, vy = vy * YEAR, vz = vz * YEAR, mass = mass * SUN }
end

local bodies = {
  body(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0),
  body(4.84143144246472090e+00, -1.16032004402742839e+00, -1.03622044471123109e-01,
    1.66007664274403694e-03, 7.69901118419740425e-03, -6.90460016972063023e-05, 9.54791938424326609e-04),
  body(8.34336671824457987e+00, 4.12479856412430479e+00, -4.03523417114321381e-01,
    -2.76742510726411899e-03, 4.99852801234917238e-03, 2.30417297573763929e-05, 2.85885980666130812e-04),
  body(1.28943695621391310e+01, -1.51111514016986312e+01, -2.23307578892655734e-01,
    2.96460137564761618e-03, 2.37847173959480950e-03, -2.96589568540237556e-05, 4.36624404335156298e-05),
  body(1.53796971148509165e+01, -2.59193146099879641e+01, 1.79258772950371181e-01,
    2.68067772490389322e-03, 1.62824170038242295e-03, -9.51592254519715870e-05, 5.15138902046611451e-05),
}

local function settle()
  local px, py, pz = 0.0, 0.0, 0.0
  for _, b in ipairs(bodies) do
    px = px + b.vx * b.mass
    py = py + b.vy * b.mass
    pz = pz + b.vz * b.mass
  end
  local sun = bodies[1]
  sun.vx, sun.vy, sun.vz = -px / SUN, -py / SUN, -pz / SUN
end

local function energy()
  local total = 0.0
  for i, a in ipairs(bodies) do
    total = total + 0.5 * a.mass * (a.vx * a.vx + a.vy * a.vy + a.vz * a.vz)
    for j = i + 1, #bodies do
      local b = bodies[j]
      local dx, dy, dz = a.x - b.x, a.y - b.y, a.z - b.z
      total = total - a.mass * b.mass / sqrt(dx * dx + dy * dy + dz * dz)
    end
  end
  return total
end

local function attract(a, b, dt)
  local dx, dy, dz = a.x - b.x, a.y - b.y, a.z - b.z
  local square = dx * dx + dy * dy + dz * dz
  local pull = dt / (square * sqrt(square))
  local of_b = b.mass * pull
  a.vx = a.vx - dx * of_b
  a.vy = a.vy - dy * of_b
  a.vz = a.vz - dz * of_b
  local of_a = a.mass * pull
  b.vx = b.vx + dx * of_a
  b.vy = b.vy + dy * of_a
  b.vz = b.vz + dz * of_a
end

local function step(dt)
  local size = #bodies
  for i = 1, size do
    for j = i + 1, size do attract(bodies[i], bodies[j], dt) end
  end
  for _, b in ipairs(bodies) do
    b.x = b.x + dt * b.vx
    b.y = b.y + dt * b.vy
    b.z = b.z + dt * b.vz
  end
end

settle()
print(string.format("%.9f", energy()))
for _ = 1, tonumber(arg[1] or 50000) do step(0.01) end
print(string.format("%.9f", energy()))
