"""Collectives of buffers, blocking and not, in place, with counts, of other datatypes; reductions; own operations."""

import numpy as np
from said import MPI, comm, fails, left, rank, right, say, size


def both(name, make, *more):
    """The call and its twin that gives a request."""
    for way in "", "I":
        args, result = make()
        request = getattr(comm, way + (name.lower() if way else name))(*args, *more)
        if request is not None:
            request.Wait()
        say(way + name, *[r.tolist() if hasattr(r, "tolist") else r for r in result])


def fresh(*results):
    return results


last = size - 1
mine = np.arange(3, dtype="i") + 10 * rank
comm.Barrier()
comm.Ibarrier().Wait()


def case(build):
    def make():
        return build()
    return make


def bcast():
    a = np.array([1.0, 2.0, rank])
    return (a, last), (a,)


def gather():
    to = np.zeros((size, 3), dtype="i") if rank == last else None
    return (mine, to, last), (to,)


def gather_in_place():
    to = np.zeros((size, 3), dtype="i")
    to[rank] = mine
    return (MPI.IN_PLACE if rank == 0 else mine, to if rank == 0 else None, 0), (to,)


def scatter():
    a = np.arange(2.0 * size) if rank == last else None
    to = np.zeros(2)
    return (a, to, last), (to,)


def allgather():
    to = np.zeros(3 * size, dtype="i")
    return ([mine, MPI.INT], [to, MPI.INT]), (to,)


def allgather_in_place():
    to = np.zeros((size, 3), dtype="i")
    to[rank] = mine
    return (MPI.IN_PLACE, to), (to,)


def alltoall():
    a, to = np.arange(2.0 * size) + 100 * rank, np.zeros(2 * size)
    return (a, to), (to,)


counts = [i + 1 for i in range(size)]
places = [sum(counts[:i]) + i for i in range(size)]


def gatherv():
    to = np.full(sum(counts) + size, -1.0)
    return (np.full(rank + 1, rank + 0.5), [to, counts, places, MPI.DOUBLE] if rank == 0 else None, 0), (to,)


def scatterv():
    to = np.zeros(rank + 1)
    return ([np.arange(float(sum(counts))), counts] if rank == 0 else None, to, 0), (to,)


def allgatherv():
    to = np.zeros(sum(counts))
    return (np.full(rank + 1, rank + 0.5), [to, (counts, None)] if False else (to, counts)), (to,)


def alltoallv():
    a, to = np.arange(float(size * (rank + 1))), np.zeros(sum(counts))
    return ([a, rank + 1 if False else [rank + 1] * size], [to, counts]), (to,)


def alltoallw():
    a, to = np.arange(size, dtype="i") + 10 * rank, np.zeros(size, dtype="i")
    types, places = [MPI.INT] * size, [4 * i for i in range(size)]
    return ([a, [1] * size, places, types], [to, ([1] * size, places), types]), (to,)


for name, build in (("Bcast", bcast), ("Gather", gather), ("Gather", gather_in_place), ("Scatter", scatter),
                    ("Allgather", allgather),
                    ("Allgather", allgather_in_place), ("Alltoall", alltoall), ("Gatherv", gatherv),
                    ("Scatterv", scatterv),
                    ("Allgatherv", allgatherv), ("Alltoallv", alltoallv), ("Alltoallw", alltoallw)):
    both(name, build)

for op in MPI.SUM, MPI.PROD, MPI.MAX, MPI.MIN, MPI.BXOR, MPI.LAND:
    def reduce():
        to = np.zeros(3, dtype="i") if rank == last else None
        return (mine + 1, to, op, last), (to,)

    def allreduce():
        to = np.zeros(3, dtype="i")
        return (mine + 1, to, op), (to,)

    def in_place():
        a = mine + 1
        return (MPI.IN_PLACE, a, op), (a,)

    both("Reduce", reduce)
    both("Allreduce", allreduce)
    both("Scan", in_place)


def exscan():
    to = np.full(3, -1, dtype="i")
    return (mine, to), (to,)


def reduce_scatter_block():
    to = np.zeros(2)
    return (np.arange(2.0 * size) + rank, to), (to,)


def reduce_scatter():
    to = np.zeros(rank + 1)
    return (np.arange(float(sum(counts))), to, counts), (to,)


both("Exscan", exscan)
both("Reduce_scatter_block", reduce_scatter_block)
both("Reduce_scatter", reduce_scatter)
pairs = np.zeros(2, dtype="i")
comm.Allreduce([np.array([rank * (3 - rank), rank], dtype="i"), 1, MPI.TWOINT], [pairs, 1, MPI.TWOINT], MPI.MAXLOC)
z = np.zeros(2, dtype=complex)
comm.Allreduce(np.array([rank + 1j, 2.0]), z)
say(pairs, z)


def difference(a, b, datatype):
    x, y = bytes(a), bytes(b)
    b[:] = bytes((i + 2 * j) % 256 for i, j in zip(x, y))


own = MPI.Op.Create(difference, commute=False)
a, b = np.arange(4, dtype="B") + rank, np.zeros(4, dtype="B")
comm.Allreduce(a, b, own)
say(b, own.Is_commutative(), own.is_predefined, MPI.SUM.is_commutative, MPI.SUM.is_predefined)
own.Free()
say(own == MPI.OP_NULL, bool(own))
MPI.SUM.Reduce_local(a, b)
say(b)
say(fails(comm.Bcast, a, size)[:2], fails(comm.Allreduce, a, b[:2]), fails(comm.Allreduce, a, np.zeros(4))[0])
say(fails(comm.Allgather, a, np.zeros(4 * size + 1 if size > 1 else 0, dtype="B"))[0] if size > 1 else "")
