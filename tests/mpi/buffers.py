"""All that programs give as buffers, each so often that its sites are derivatives; then what does not fit, at the same sites."""

from array import array

import numpy as np
from said import MPI, comm, fails, left, rank, right, say

TURNS = 60
whole, bytes_ = np.arange(6.0) + rank, bytearray(range(12))
table = np.arange(12, dtype="i4").reshape(3, 4)
pairs = [
    (whole, np.zeros(6)), (table, np.zeros((3, 4), dtype="i4")), (table.T, np.zeros((3, 4), dtype="i4").T),
    (np.array(7.0 + rank), np.zeros(())), (np.array([1 + 2j, 3j]), np.zeros(2, dtype=complex)),
    (np.arange(3), np.zeros(3, dtype=int)), (np.zeros((0, 3)), np.ones((0, 3))),
    (np.zeros((2, 1, 2, 1, 2)) + rank, np.ones((2, 1, 2, 1, 2))),
    (bytes_, bytearray(12)), (array("d", [1.5, rank]), array("d", [0.0, 0.0])), (array("h", [1, 2]), array("h", [0, 0])),
    (memoryview(bytes_), memoryview(bytearray(12))), (b"read only", bytearray(9)),
    (memoryview(b"read"), memoryview(bytearray(4)))]
described = [
    ([whole, 4, MPI.DOUBLE], [np.zeros(6), 4, MPI.DOUBLE]), ([whole, MPI.DOUBLE], [np.zeros(6), MPI.DOUBLE]),
    ((whole, 2), (np.zeros(6), 2)), ([whole, "d"], [np.zeros(6), "d"]), ([whole, 3, "d"], [np.zeros(6), 3, "d"]),
    ([bytes_, 5, MPI.BYTE], [bytearray(12), 5, MPI.BYTE]), ([bytes_, MPI.INT], [bytearray(12), MPI.INT]),
    ([array("i", [1, 2, rank]), 2, MPI.INT], [array("i", [0] * 3), 2, MPI.INT]),
    ([memoryview(bytes_), 6, MPI.BYTE], [memoryview(bytearray(12)), 6, MPI.BYTE]),
    ([whole, (2, 3), MPI.DOUBLE], [np.zeros(6), (2, 1), MPI.DOUBLE]), ([whole, 2, 1, MPI.DOUBLE], [np.zeros(6), 2, 4, MPI.DOUBLE]),
    ([whole, 0, MPI.DOUBLE], [np.zeros(6), 0, MPI.DOUBLE]), ([None, 0, MPI.DOUBLE], [None, 0, MPI.DOUBLE]),
    ([whole[::1], np.int64(2), MPI.DOUBLE], [np.zeros(6), np.int32(2), MPI.DOUBLE])]


def shown(buffer):
    obj = buffer[0] if isinstance(buffer, (list, tuple)) else buffer
    return obj.tolist() if hasattr(obj, "tolist") else obj


def send(given, taken, status):
    comm.Send(given, right, 3)
    comm.Recv(taken, left, 3, status)


def exchange(given, taken, status):
    comm.Sendrecv(given, right, 4, taken, left, 4, status)


def start(given, taken, status):
    requests = [comm.Irecv(taken, left, 5), comm.Isend(given, right, 5)]
    for request in requests:
        request.Wait(status if request is requests[0] else None)


for way in send, exchange, start:
    for given, taken in pairs + described:
        status = MPI.Status()
        for turn in range(TURNS):
            way(given, taken, status)
        say(way.__name__, type(given).__name__, shown(taken), status.Get_count(MPI.BYTE), status.source == left)

# One site, all kinds in turns.
for turn in range(TURNS):
    for given, taken in pairs + described:
        send(given, taken, None)
say("mixed", [shown(taken) for given, taken in pairs[:4]])

# Collectives.
total, part = np.zeros(3), np.arange(3.0) + rank
for turn in range(TURNS):
    comm.Allreduce(part, total)
    comm.Allreduce([part, MPI.DOUBLE], [total, MPI.DOUBLE], MPI.MAX)
    comm.Allreduce(MPI.IN_PLACE, total)
    total /= comm.size
    text = bytearray(b"from the root" if rank == 0 else b"." * 13)
    comm.Bcast(text)
    comm.Bcast([text, 4, MPI.BYTE], 0)
    comm.Bcast(part if rank == 0 else total)
say(total, text)

# What does not fit, where all did.
locked = np.zeros(3)
locked.flags.writeable = False
for turn in range(3):
    for buffer in (locked, [locked, 3, MPI.DOUBLE], [locked, MPI.DOUBLE], np.zeros(6)[::2], [np.zeros(6)[::2], 3, MPI.DOUBLE],
                   b"bytes", memoryview(b"view"), [b"bytes", 2, MPI.BYTE]):
        say(fails(comm.Recv, buffer, MPI.PROC_NULL), fails(comm.Recv, buffer, left, 9))
    for buffer in ([part, -1, MPI.DOUBLE], "text", None, 5, [], [part, 1, 2, 3, 4], [part, "no"], np.zeros(6)[::2],
                   [part, 1, None], [5, 1, MPI.BYTE], [bytearray(5), MPI.INT]):
        failed = fails(comm.Send, buffer, right, 9)
        say(failed and failed[0])
    say(fails(comm.Send, part, MPI.PROC_NULL), fails(comm.Send, None, MPI.PROC_NULL), fails(comm.Send, "?", MPI.PROC_NULL))
    say(fails(comm.Send, part, comm.size), fails(comm.Recv, total, -7))

# Datatypes that come and go, at a site that knew them.
for turn in range(20):
    row = MPI.INT.Create_contiguous(2).Commit() if turn % 2 else MPI.INT.Create_vector(2, 1, 2).Commit()
    ints = np.zeros(6, dtype="i4")
    send([table, 1, row], [ints, 1, row], None)
    send([table, 1, row], [ints, 1, row], None)
    row.Free()
say(ints)
