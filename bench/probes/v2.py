import sys
class Vec:
    def __init__(self, x, y, z):
        self.x = x
        self.y = y
        self.z = z
    def __add__(self, o):
        return Vec(self.x + o.x, self.y + o.y, self.z + o.z)
    def __sub__(self, o):
        return Vec(self.x - o.x, self.y - o.y, self.z - o.z)
    def __mul__(self, k):
        return Vec(self.x * k, self.y * k, self.z * k)
    def dot(self, o):
        return self.x * o.x + self.y * o.y + self.z * o.z

class Body:
    def __init__(self, pos, vel, mass):
        self.pos = pos
        self.vel = vel
        self.mass = mass

def advance(bodies, dt, n):
    count = len(bodies)
    for _ in range(n):
        for i in range(count):
            a = bodies[i]
            for j in range(i + 1, count):
                b = bodies[j]
                d = a.pos - b.pos
                dist2 = d.dot(d)
                mag = dt / (dist2 * dist2 ** 0.5)
                a.vel = a.vel - d * (b.mass * mag)
                b.vel = b.vel + d * (a.mass * mag)
        for b in bodies:
            b.pos = b.pos + b.vel * dt

def energy(bodies):
    e = 0.0
    for i in range(len(bodies)):
        a = bodies[i]
        e += 0.5 * a.mass * a.vel.dot(a.vel)
        for j in range(i + 1, len(bodies)):
            d = a.pos - bodies[j].pos
            e -= a.mass * bodies[j].mass / d.dot(d) ** 0.5
    return e

def main(n):
    bodies = [Body(Vec(0.0, 0.0, 0.0), Vec(0.0, 0.0, 0.0), 39.47),
      Body(Vec(4.84, -1.16, -0.10), Vec(0.606, 2.81, -0.02), 0.0376),
      Body(Vec(8.34, 4.12, -0.4), Vec(-1.01, 1.82, 0.008), 0.0112),
      Body(Vec(12.89, -15.11, -0.22), Vec(1.08, 0.868, -0.01), 0.0017),
      Body(Vec(15.37, -25.9, 0.179), Vec(0.979, 0.594, -0.034), 0.002)]
    print(energy(bodies))
    advance(bodies, 0.01, n)
    print(energy(bodies))
main(int(sys.argv[1]) if len(sys.argv) > 1 else 2000)
