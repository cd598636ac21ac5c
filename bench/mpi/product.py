"""A matrix product: A and C by rows, B's blocks of rows go round in a ring, the next one while this one is multiplied.

    mpirun -n 4 build/dynvm bench/mpi/product.py 512"""

import sys

import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD


def main(n):
    rank, size = comm.Get_rank(), comm.Get_size()
    bounds = [n * i // size for i in range(size + 1)]
    rows = np.arange(bounds[rank], bounds[rank + 1]).reshape(-1, 1)
    columns = np.arange(n)
    most = max(b - a for a, b in zip(bounds, bounds[1:]))
    a = ((rows * 5 + columns * 3) % 17 - 8.0) / 8
    now, coming = np.zeros((most, n)), np.zeros((most, n))
    now[:len(rows)] = ((rows * 7 - columns) % 13 - 6.0) / 4
    c = np.zeros((len(rows), n))
    comm.Barrier()
    start = MPI.Wtime()
    for step in range(size):
        owner = (rank + step) % size
        requests = []
        if step + 1 < size:
            requests = [comm.Isend(now, (rank - 1) % size), comm.Irecv(coming, (rank + 1) % size)]
        begin, end = bounds[owner], bounds[owner + 1]
        c += a[:, begin:end] @ now[:end - begin]
        MPI.Request.Waitall(requests)
        now, coming = coming, now
    seconds = MPI.Wtime() - start
    norm, trace = np.zeros(1), np.zeros(1)
    comm.Allreduce(np.array([float((c * c).sum())]), norm)
    comm.Allreduce(np.array([float(sum(c[i, bounds[rank] + i] for i in range(len(rows))))]), trace)
    if rank == 0:
        print(f"norm {norm[0] ** 0.5:.6f}, trace {trace[0]:.6f}")
    return comm.allreduce(seconds, op=MPI.MAX)


if __name__ == "__main__":
    took = main(int(sys.argv[1]) if len(sys.argv) > 1 else 48)
    if comm.Get_rank() == 0 and "--time" in sys.argv:
        print(f"seconds {took:.6f}")
