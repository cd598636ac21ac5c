"""The conjugate gradient method for Poisson's equation on a square, the rows shared out among the ranks.

    mpirun -n 4 build/dynvm bench/mpi/gradient.py 128 60

A step has two sums over all ranks, which wait for the network, and one exchange of a row with each neighbour."""

import sys

import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD


def apply(p, out, up, down):
    """out = A p: four times each point less its neighbours; the first and last row of p are the neighbours'."""
    comm.Sendrecv(p[1], up, 0, p[-1], down, 0)
    comm.Sendrecv(p[-2], down, 1, p[0], up, 1)
    out[:, :] = 4.0 * p[1:-1] - p[:-2] - p[2:]
    out[:, 1:] -= p[1:-1, :-1]
    out[:, :-1] -= p[1:-1, 1:]


def dot(a, b):
    mine, total = np.array([float((a * b).sum())]), np.zeros(1)
    comm.Allreduce(mine, total)
    return float(total[0])


def main(n, steps):
    rank, size = comm.Get_rank(), comm.Get_size()
    begin, end = n * rank // size, n * (rank + 1) // size
    up = rank - 1 if rank else MPI.PROC_NULL
    down = rank + 1 if rank + 1 < size else MPI.PROC_NULL
    rows = np.arange(begin, end).reshape(-1, 1)
    b = ((rows * 7 + np.arange(n) * 3) % 11 - 5.0) / n
    x, r, q = np.zeros((end - begin, n)), b.copy(), np.zeros((end - begin, n))
    p = np.zeros((end - begin + 2, n))
    p[1:-1] = r
    rho = dot(r, r)
    first = rho
    comm.Barrier()
    start = MPI.Wtime()
    for step in range(steps):
        apply(p, q, up, down)
        alpha = rho / dot(p[1:-1], q)
        x += alpha * p[1:-1]
        r -= alpha * q
        rho, old = dot(r, r), rho
        p[1:-1] = r + (rho / old) * p[1:-1]
    seconds = MPI.Wtime() - start
    norm = dot(x, x)
    if rank == 0:
        print(f"residual {(rho / first) ** 0.5:.4e} of the first, norm {norm:.6f}")
    return comm.allreduce(seconds, op=MPI.MAX)


if __name__ == "__main__":
    took = main(int(sys.argv[1]) if len(sys.argv) > 1 else 32, int(sys.argv[2]) if len(sys.argv) > 2 else 30)
    if comm.Get_rank() == 0 and "--time" in sys.argv:
        print(f"seconds {took:.6f}")
