"""What the scripts of this folder print with: lines of all ranks, in order, written by rank 0 alone."""

import mpi4py

mpi4py.rc.threads = False  # (Open MPI 4.1 has windows of a program's memory in programs of one thread alone.)

from mpi4py import MPI  # noqa: E402

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()
right, left = (rank + 1) % size, (rank - 1) % size


def say(*values):
    lines = comm.gather(" ".join(str(v) for v in values), root=0)
    if rank == 0:
        for i, line in enumerate(lines):
            print(i, line, flush=True)


def fails(function, *args, **keywords):
    """The class of what is raised, and its text."""
    try:
        function(*args, **keywords)
    except MPI.Exception as e:
        return "MPI", MPI.Get_error_class(e.Get_error_code()), str(e)
    except Exception as e:
        return type(e).__name__, str(e)
    return None
