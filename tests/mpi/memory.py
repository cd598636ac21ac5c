"""Datatypes, packing; windows; files."""

import os
import tempfile

import numpy as np
from said import MPI, comm, fails, left, rank, right, say, size

say(MPI.DOUBLE.size, MPI.INT.extent, MPI.DOUBLE.name, MPI.DOUBLE.is_named, MPI.DOUBLE.is_predefined,
    MPI.DOUBLE.Get_envelope(),
    MPI.BYTE == MPI.CHAR, bool(MPI.DATATYPE_NULL), MPI.SHORT.Get_true_extent(),
    MPI.Datatype.Match_size(MPI.TYPECLASS_REAL, 8).size)
made = [MPI.INT.Create_contiguous(3), MPI.INT.Create_vector(2, 1, 3), MPI.INT.Create_hvector(2, 1, 20),
        MPI.INT.Create_indexed([1, 2], [0, 3]),
        MPI.INT.Create_hindexed([1, 2], [0, 8]), MPI.INT.Create_indexed_block(2, [0, 3]),
        MPI.INT.Create_hindexed_block(1, [4, 12]),
        MPI.Datatype.Create_struct([1, 1], [0, 8], [MPI.INT, MPI.DOUBLE]),
        MPI.INT.Create_subarray([4, 4], [2, 2], [1, 1]),
        MPI.INT.Create_resized(0, 16), MPI.INT.Dup(), MPI.INT.Create_darray(4, 1, [4], [MPI.DISTRIBUTE_BLOCK],
                                                                            [MPI.DISTRIBUTE_DFLT_DARG], [4])]
for t in made:
    t.Commit()
    say(t.size, t.Get_extent(), t.lb, t.ub, t.true_extent, t.envelope, t.contents[:2], t.is_named, t.is_predefined)
    a, b = np.arange(32, dtype="i") + rank, np.zeros(32, dtype="i")
    comm.Sendrecv([a, 1, t], right, 0, [b, 1, t], left, 0)
    say(b)
    t.Free()
say(made[0] == MPI.DATATYPE_NULL, MPI.INT.Create_vector(2, 1, 3).decode()[1:],
    MPI.INT.Create_subarray([4, 4], [2, 2], [1, 1]).decode()[1:])
named = MPI.INT.Create_contiguous(2)
named.Set_name("two ints")
say(named.name)
a, raw, b = np.arange(4.0), bytearray(MPI.DOUBLE.Pack_size(4, comm)), np.zeros(4)
at = MPI.DOUBLE.Pack(a, raw, 0, comm)
say(at, MPI.DOUBLE.Unpack(raw, 0, b, comm), b, MPI.INT.Pack_external_size("external32", 3))
raw = bytearray(32)
say(MPI.DOUBLE.Pack_external("external32", a, raw, 0), MPI.DOUBLE.Unpack_external("external32", raw, 0, b), b,
    bytes(raw[:16]))

mem = MPI.Alloc_mem(16)
mem[:] = bytes(range(16))
say(bytes(mem), len(mem))
MPI.Free_mem(mem)
win = MPI.Win.Allocate(8 * size, 8, comm=comm)
view = win.tomemory()
view[:] = bytes(8 * size)
win.Fence()
win.Put(np.array([1.5 + rank]), right, rank)
win.Fence()
say(bytes(view), win.flavor == MPI.WIN_FLAVOR_ALLOCATE, win.attrs[1:], win.group.size)
win.Free()
say(win == MPI.WIN_NULL)
if size > 1:
    target = np.arange(4.0) + 10 * rank
    win = MPI.Win.Create(target, 8, comm=comm)

    def seen():
        """What is in the window when all have done."""
        comm.Barrier()
        win.Lock(rank)
        win.Sync()
        copy = target.copy()
        win.Unlock(rank)
        comm.Barrier()
        return copy

    got, more = np.zeros(4), np.zeros(1)
    win.Fence()
    win.Get(got, right)
    win.Fence()
    say(got)
    win.Lock(right)
    win.Accumulate(np.array([100.0]), right, [1, 1, MPI.DOUBLE], MPI.SUM)
    win.Flush(right)
    win.Unlock(right)
    say(seen())
    win.Lock_all()
    win.Get_accumulate(np.array([0.5]), more, right, 2)
    win.Flush_all()
    win.Unlock_all()
    say(more, seen())
    win.Lock(0)
    win.Fetch_and_op(np.array([1.0]), more, 0, 3)
    win.Unlock(0)
    say(seen()[3])
    win.Post(comm.group.Incl([left]))
    win.Start(comm.group.Incl([right]))
    win.Put([np.array([7.0]), MPI.DOUBLE], right, (0, 1))
    win.Complete()
    win.Wait()
    say(seen()[0])
    win.Lock_all()
    request = win.Rput(np.array([8.0 + rank]), right, 1)
    request.Wait()
    win.Rget(more, right, 0).Wait()
    win.Flush_local_all()
    win.Unlock_all()
    say(seen(), more)
    win.Free()
    whole = np.zeros(1, dtype=np.int64)
    win = MPI.Win.Create(whole, 8, comm=comm)
    old, new, expected = np.zeros(1, dtype=np.int64), np.array([5 + rank]), np.array([0])
    win.Lock(right)
    win.Compare_and_swap(new, expected, old, right)
    win.Unlock(right)
    comm.Barrier()
    say(whole, old)
    win.Free()
    shared = MPI.Win.Allocate_shared(8, comm=comm)
    mine, unit = shared.Shared_query(rank)
    mine[:] = bytes([rank] * 8)
    shared.Fence()
    say(bytes(shared.Shared_query(right)[0]), unit)
    shared.Free()

path = comm.bcast(os.path.join(tempfile.gettempdir(), f"mpi_memory_{os.getpid()}") if rank == 0 else None)
f = MPI.File.Open(comm, path, MPI.MODE_RDWR | MPI.MODE_CREATE)
f.Write_at(4 * rank, np.array([rank + 1], dtype="i"))
f.Sync()
comm.Barrier()
every = np.zeros(size, dtype="i")
f.Read_at_all(0, every)
say(every, f.Get_size(), f.amode == MPI.MODE_RDWR | MPI.MODE_CREATE, f.group.size, f.atomicity)
f.Set_view(4 * rank, MPI.INT)
f.Write_all(np.array([10 * rank], dtype="i"))
f.Sync()
comm.Barrier()
f.Seek(0)
one = np.zeros(1, dtype="i")
f.Read(one)
say(one, f.Get_position(), f.Get_byte_offset(1), f.Get_view()[0], f.Get_view()[3], f.Get_type_extent(MPI.INT))
f.Seek(0)
comm.Barrier()
f.Iwrite(one + 1).Wait()
f.Sync()
comm.Barrier()
f.Seek(0)
f.Iread_all(one).Wait()
f.Set_view(0, MPI.BYTE)
f.Read_at_all_begin(0, every)
f.Read_at_all_end(every)
say(one, every)
f.Close()
say(f == MPI.FILE_NULL, fails(MPI.File.Open, comm, path + "/none", MPI.MODE_RDONLY)[0])
comm.Barrier()
if rank == 0:
    MPI.File.Delete(path)
    print(os.path.exists(path))
