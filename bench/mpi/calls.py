"""What each call costs that moves next to nothing: the interface, more than Open MPI.

    mpirun -n 2 build/dynvm bench/mpi/calls.py 20000 --time"""

import sys

import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()
next_rank, last_rank = (rank + 1) % size, (rank - 1) % size
four, taken, all_of_them = np.arange(4.0), np.zeros(4), np.zeros(4 * size)
small = {"rank": rank, "row": [1.0, 2.0]}


def wait():
    request = comm.Irecv(taken, last_rank)
    comm.Isend(four, next_rank).Wait()
    request.Wait()


def waitall():
    MPI.Request.Waitall([comm.Irecv(taken, last_rank), comm.Isend(four, next_rank)])


CALLS = {
    "Isend Irecv Wait": wait,
    "Isend Irecv Waitall": waitall,
    "Sendrecv": lambda: comm.Sendrecv(four, next_rank, 0, taken, last_rank),
    "Bcast": lambda: comm.Bcast(taken),
    "Allreduce": lambda: comm.Allreduce(four, taken),
    "Allgather": lambda: comm.Allgather(four, all_of_them),
    "Barrier": comm.Barrier,
    "sendrecv": lambda: comm.sendrecv(small, next_rank, source=last_rank),
    "allreduce": lambda: comm.allreduce(rank),
}


def microseconds(call, turns):
    best = 1e9
    for repeat in range(3):
        comm.Barrier()
        start = MPI.Wtime()
        for turn in range(turns):
            call()
        best = min(best, MPI.Wtime() - start)
    return best / turns * 1e6


turns = int(sys.argv[1]) if len(sys.argv) > 1 else 20
for name, call in CALLS.items():
    found = microseconds(call, turns)
    if rank == 0:
        print(f"{name:20} {found:8.3f}" if "--time" in sys.argv else name, flush=True)
if rank == 0:
    print(taken.tolist(), all_of_them.tolist(), comm.Get_size())
