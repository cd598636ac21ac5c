"""Heat in a square plate: Jacobi's iteration, the grid cut into blocks of a Cartesian topology.

    mpirun -n 4 build/dynvm bench/mpi/stencil.py 256 100

Each step a rank sends its edges to up to four neighbours, two of them as columns: a datatype of MPI says where these
are, so that nothing is copied."""

import sys

import numpy as np
from mpi4py import MPI


def share(n, parts, part):
    """Where the part begins, and how long it is."""
    begin = n * part // parts
    return begin, n * (part + 1) // parts - begin


def main(n, steps):
    comm = MPI.COMM_WORLD
    dims = MPI.Compute_dims(comm.Get_size(), 2)
    cart = comm.Create_cart(dims, periods=[False, False])
    row, column = cart.Get_coords(cart.Get_rank())
    top, height = share(n, dims[0], row)
    left, width = share(n, dims[1], column)
    old = np.zeros((height + 2, width + 2))
    if row == 0:
        old[0, :] = 1.0  # the edge that is hot
    new = old.copy()
    up, down = cart.Shift(0, 1)
    before, behind = cart.Shift(1, 1)
    columns = MPI.DOUBLE.Create_vector(height, 1, width + 2).Commit()
    line = width + 2
    total = np.zeros(2)
    comm.Barrier()
    start = MPI.Wtime()
    for step in range(steps):
        cart.Sendrecv([old, (width, line + 1), MPI.DOUBLE], up, 0, [old, (width, (height + 1) * line + 1), MPI.DOUBLE],
                      down, 0)
        cart.Sendrecv([old, (width, height * line + 1), MPI.DOUBLE], down, 1, [old, (width, 1), MPI.DOUBLE], up, 1)
        send_columns(cart, old, columns, line, 1, before, width + 1, behind)
        send_columns(cart, old, columns, line, width, behind, 0, before)
        new[1:-1, 1:-1] = 0.25 * (old[:-2, 1:-1] + old[2:, 1:-1] + old[1:-1, :-2] + old[1:-1, 2:])
        old, new = new, old
    seconds = MPI.Wtime() - start
    change = np.array([np.abs(new - old)[1:-1, 1:-1].max(), 0.0])
    sums = np.array([old[1:-1, 1:-1].sum()])
    comm.Allreduce(MPI.IN_PLACE, change, op=MPI.MAX)
    comm.Allreduce(sums, total[:1])
    columns.Free()
    if comm.Get_rank() == 0:
        print(f"heat {total[0]:.6f}, last change {change[0]:.9f}")
    return comm.allreduce(seconds, op=MPI.MAX)


def send_columns(cart, a, columns, line, given, dest, taken, source):
    """Column `given` goes to one side, column `taken` comes from the other; both begin in the first inner row."""
    flat = a.reshape(-1)
    cart.Sendrecv([flat[line + given:], 1, columns] if dest != MPI.PROC_NULL else None, dest, 2,
                  [flat[line + taken:], 1, columns] if source != MPI.PROC_NULL else None, source, 2)


if __name__ == "__main__":
    took = main(int(sys.argv[1]) if len(sys.argv) > 1 else 64, int(sys.argv[2]) if len(sys.argv) > 2 else 50)
    if MPI.COMM_WORLD.Get_rank() == 0 and "--time" in sys.argv:
        print(f"seconds {took:.6f}")
