"""Objects: what may be sent, and all calls that send them."""

from collections import Counter, OrderedDict, defaultdict, deque, namedtuple
from fractions import Fraction

import numpy as np
from said import MPI, comm, fails, left, rank, right, say, size

Point = namedtuple("Point", "x y")


class Plain:
    def __init__(self, x):
        self.x, self.me = x, self

    def double(self):
        return 2 * self.x


class Slots:
    __slots__ = ("a", "b")

    def __init__(self):
        self.a = [1]

    def __eq__(self, other):
        return self.a == other.a


class Reduced(Plain):
    def __reduce__(self):
        return Reduced, (self.x + 1,)


class Stateful:
    def __getstate__(self):
        return {"kept": self.kept}

    def __setstate__(self, state):
        self.kept = state["kept"] + "!"


class Words(list):
    pass


def twice(x):
    return 2 * x


values = [None, True, 0, -1, 1 << 62, -(1 << 63), 1 << 100, -(1 << 200), 1.5, float("inf"), -0.0, 2 - 3j, "",
          "text \u00e9 \U0001f600",
          b"", b"bytes", bytearray(b"array"), [], [1, [2, [3]]], (), (1, ("a", None)), {}, {"k": [1], 2: {3: 4}},
          {1, 2},
          frozenset((3,)), range(2, 9, 3), slice(1, None, 2), ..., int, len, twice, Plain, Point(1, "y"),
          Fraction(3, 4),
          deque([1, 2], 5), OrderedDict(a=1), Counter("abca"), ValueError("no", 3), Words([1, 2])]
for value in values:
    got = comm.sendrecv(value, right, source=left)
    if not (type(got) is type(value) and repr(got) == repr(value)):
        print("differs", repr(value), repr(got))
say("same")
d = defaultdict(list, a=[1])
got = comm.sendrecv([Plain(rank), Slots(), Reduced(rank), d], right, source=left)
say(got[0].double(), got[0].me is got[0], got[1] == Slots(), got[2].x, got[3]["a"], got[3]["new"],
    got[3].default_factory)
s = Stateful()
s.kept = "kept"
say(comm.sendrecv(s, right, source=left).kept)
shared = [rank]
loop = [shared, shared, {"self": shared}]
loop.append(loop)
got = comm.sendrecv(loop, right, source=left)
say(got[0] is got[1] is got[2]["self"], got[3] is got, got[0])
for kind in "d", "i", "f", "B", bool, complex:
    a = comm.sendrecv(np.arange(6).reshape(2, 3).astype(kind), right, source=left)
    say(a.tolist(), a.dtype, a.shape, a.flags.writeable)
a = comm.sendrecv(np.arange(6.0).reshape(2, 3).T, right, source=left)
say(a.tolist(), a.flags.f_contiguous, comm.sendrecv(np.float32(1.5), right, source=left),
    comm.sendrecv(np.dtype("f"), right, source=left))
say(fails(comm.send, (i for i in ()), right)[0])

# What ends too early is refused, wherever that is.
whole = MPI.pickle.dumps([1, 2.5, "ä", "", (None, b"b"), {"k": {3}}, 1 << 70, 2j, range(2), np.arange(3.0), [0.5] * 6])
refused = []
for n in range(len(whole)):
    try:
        MPI.pickle.loads(whole[:n])
    except Exception:
        refused.append(n)
say(len(refused) == len(whole))

# Point to point.
status = MPI.Status()
request = comm.isend({"rank": rank}, right, 3)
say(comm.recv(source=left, tag=3, status=status), status.tag, status.source == left)
request.wait()
request = comm.issend(rank, right)
say(comm.irecv(source=left).wait(status), request.wait())
request, incoming = comm.isend([1] * rank, right), comm.irecv(bytearray(1000), left)
say(MPI.Request.waitall([incoming, request]))
request, incoming = comm.isend("any", right), comm.irecv(source=left)
say(MPI.Request.waitany([incoming]), incoming.test(), request.wait())
request = comm.isend("probed", right, 8)
say(comm.probe(left, 8), comm.iprobe(left, 9), comm.mprobe(left, 8).recv(), request.wait(), comm.improbe(left, 77))
request = comm.isend("later", right, 8)
say(MPI.Message.probe(comm, left, 8).irecv().wait(), request.wait())

# Collectives.
for root in 0, size - 1:
    say(comm.bcast({"from": rank} if rank == root else None, root), comm.gather((rank, "x" * rank), root),
        comm.scatter([[i] * i for i in range(size)] if rank == root else None, root), comm.reduce([rank], root=root))
say(comm.allgather(rank * 1.5), comm.alltoall([(rank, i) for i in range(size)]))
for op in MPI.SUM, MPI.PROD, MPI.MAX, MPI.MIN, MPI.BAND, MPI.BOR, MPI.BXOR, MPI.LAND, MPI.LOR, MPI.LXOR:
    say(comm.allreduce(rank + 3, op), comm.reduce(rank + 3, op, 0), comm.scan(rank + 3, op), comm.exscan(rank + 3, op))
say(comm.allreduce((rank % 2, rank), MPI.MAXLOC), comm.allreduce((rank % 2, rank), MPI.MINLOC),
    comm.allreduce("abcd"[rank]),
    comm.allreduce(0.1 * (rank + 1)), comm.scan(0.1 * (rank + 1)),
    comm.reduce("r" + str(rank), op=lambda x, y: f"({x}{y})"))
say(comm.allreduce(np.arange(3) + rank), fails(comm.scatter, [1] * (size + 1), rank)[0] if size == 1 else "",
    MPI.SUM(2, 3))
comm.barrier()
