"""Sample sort: each rank has random numbers; in the end they lie in order over the ranks.

    mpirun -n 4 build/dynvm bench/mpi/sort.py 1000000

Everyone sorts its own, a sample of all says where to cut, one exchange of parts of unequal size puts each number
where it belongs."""

import sys

import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD


def numbers(n, rank, size):
    """A part of n numbers that are the same whatever the number of ranks is."""
    i = np.arange(n * rank // size, n * (rank + 1) // size, dtype=np.int64)
    return (i * 1103515245 + 12345) % 2147483647 * 16807 % 2147483647


def main(n):
    rank, size = comm.Get_rank(), comm.Get_size()
    mine = numbers(n, rank, size)
    comm.Barrier()
    start = MPI.Wtime()
    mine.sort()
    sample = mine[np.arange(size * 8) * len(mine) // (size * 8)].copy()
    all_samples = np.empty(size * len(sample), dtype=np.int64)
    comm.Allgather(sample, all_samples)
    all_samples.sort()
    cuts = np.searchsorted(mine, all_samples[len(sample)::len(sample)])
    ends = [0, *[int(c) for c in cuts], len(mine)]
    counts = [b - a for a, b in zip(ends, ends[1:])]
    coming = comm.alltoall(counts)
    parts = np.empty(sum(coming), dtype=np.int64)
    comm.Alltoallv([mine, counts], [parts, coming])
    parts.sort()
    seconds = MPI.Wtime() - start
    # Each rank's last number is not behind the next one's first.
    last = comm.allgather((int(parts[0]), int(parts[-1])) if len(parts) else None)
    ends = [x for x in last if x is not None]
    ordered = all(a[1] <= b[0] for a, b in zip(ends, ends[1:])) and bool((parts[1:] >= parts[:-1]).all())
    ordered = comm.allreduce(ordered, op=MPI.LAND)
    position = comm.exscan(len(parts))
    weights = np.arange(1, len(parts) + 1, dtype=np.int64) + (position or 0)
    check = comm.allreduce(int((parts % 1000 * (weights % 1000)).sum()))
    if rank == 0:
        print(f"{comm.reduce(len(parts))} numbers, in order: {bool(ordered)}, check {check}")
    else:
        comm.reduce(len(parts))
    return comm.allreduce(seconds, op=MPI.MAX)


if __name__ == "__main__":
    took = main(int(sys.argv[1]) if len(sys.argv) > 1 else 20000)
    if comm.Get_rank() == 0 and "--time" in sys.argv:
        print(f"seconds {took:.6f}")
