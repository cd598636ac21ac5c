"""Point to point: buffers of all kinds, with every mode; requests; probes; messages."""

from array import array

import numpy as np
from said import MPI, comm, fails, left, rank, right, say, size

status = MPI.Status()
for kind in "d", "i", "f", "l", "B", complex:
    a, b = np.arange(6).astype(kind).reshape(2, 3) + rank % 3, np.zeros((3, 2), dtype=kind)
    comm.Sendrecv(a, right, 5, b, left, 5, status)
    say(b.tolist(), status.source == left, status.tag, status.Get_count(MPI.BYTE), status.count, status.Is_cancelled())
a = np.arange(10.0) + rank
b = np.zeros(10)
comm.Sendrecv([a, 4], right, 0, [b, MPI.DOUBLE], left, 0, status)
say(b, status.Get_count(MPI.DOUBLE), status.Get_elements(MPI.DOUBLE))
comm.Sendrecv([a, (3, 2), MPI.DOUBLE], right, 0, [b, 3, 5, "d"], left, 0)
say(b)
comm.Sendrecv_replace(a, right, 1, left, 1)
say(a)
for raw in bytearray(b"abcdefgh"), array("h", [1, -2, 3, 4]), memoryview(bytearray(8)):
    got = bytearray(8)
    comm.Sendrecv(raw, right, 0, [got, MPI.BYTE], left, 0)
    say(bytes(got))
got = bytearray(3)
comm.Sendrecv(b"xyz", right, 0, got, left, 0)
say(bytes(got), fails(comm.Recv, b"xyz", left) is not None)
zero = np.array(0.0)
comm.Sendrecv(np.array(2.5 + rank), right, 0, zero, left, 0)
say(zero, float(zero))

# Requests.
for name in "Isend", "Issend", "Irsend":
    incoming = comm.Irecv(b, left, 7)
    comm.Barrier()
    outgoing = getattr(comm, name)(a, right, 7)
    MPI.Request.Waitall([incoming, outgoing])
    say(name, b, incoming == MPI.REQUEST_NULL, bool(outgoing))
MPI.Attach_buffer(bytearray(4096 + MPI.BSEND_OVERHEAD))
comm.Bsend(a, right)
comm.Recv(b, left)
comm.Ibsend(a, right).Wait()
comm.Recv(b, left)
comm.bsend([rank], right)
say(b, comm.recv(source=left), type(MPI.Detach_buffer()).__name__)
incoming = [comm.Irecv(b[i:i + 1], left, i) for i in range(4)]
outgoing = [comm.Isend(a[i:i + 1], right, i) for i in range(4)]
statuses = [MPI.Status() for i in range(4)]
index = MPI.Request.Waitany(incoming, status)
say(0 <= index < 4, status.tag == index)
done = MPI.Request.Waitsome(incoming)
MPI.Request.Waitall(incoming, statuses)
say(sorted(set(done or [])) == sorted(done or []), b[:4], MPI.Request.Testall(outgoing) in (True, False))
MPI.Request.Waitall(outgoing)
say(MPI.Request.Waitany(incoming), MPI.Request.Testany(incoming), MPI.Request.Waitsome(incoming),
    MPI.Request.Testsome(incoming))
request = comm.Irecv(b, left, 99)
say(request.Test(), request.Get_status())
request.Cancel()
request.Wait(status)
say(status.Is_cancelled())
send, receive = comm.Send_init(a, right, 3), comm.Recv_init(b, left, 3)
for turn in range(3):
    a[0] = turn * 10 + rank
    MPI.Prequest.Startall([receive, send])
    MPI.Request.Waitall([receive, send])
    say(b[0], type(send).__name__, bool(send))
for persistent in comm.Bsend_init(a, right), comm.Ssend_init(a, right), comm.Rsend_init(a, right), send, receive:
    persistent.Free()

# Probes.
request = comm.Isend(a[:3], right, 4)
say(comm.Probe(left, 4, status), status.Get_count(MPI.DOUBLE), comm.Iprobe(left, 4), comm.Iprobe(left, 5))
message = comm.Mprobe(left, 4, status)
message.Recv(b, status)
request.Wait()
say(b[:3], status.tag, message == MPI.MESSAGE_NULL, comm.Improbe(left, 77))
request = comm.Isend(a[:2], right, 4)
MPI.Message.Probe(comm, left, 4).Irecv(b).Wait()
request.Wait()
say(b[:2])

# Nobody at the other end.
comm.Send(a, MPI.PROC_NULL)
comm.Recv(b, MPI.PROC_NULL, 0, status)
say(status.source == MPI.PROC_NULL, status.tag == MPI.ANY_TAG, status.count, comm.recv(source=MPI.PROC_NULL),
    comm.sendrecv(1, MPI.PROC_NULL, source=MPI.PROC_NULL))

# What is refused.
say(fails(comm.Send, a, size), fails(comm.Send, a, rank, -5), fails(comm.Send, a[::2], rank),
    fails(comm.Send, [a, 1, 2, 3, 4], rank))
say(fails(comm.Send, 5, rank)[0], fails(comm.Send, [a, -1, MPI.DOUBLE], rank)[0], fails(comm.Send, "text", rank)[0])
request = comm.Isend(a, right)
say(fails(comm.Recv, b[:2], left)[:2])
request.Wait()
status = MPI.Status(status)
status.Set_source(3), status.Set_tag(4), status.Set_error(5), status.Set_elements(MPI.INT,
    2), status.Set_cancelled(True)
say(status.source, status.tag, status.error, status.count, status.cancelled, status == MPI.Status(status),
    status != MPI.Status())
fixed = np.zeros(4)
fixed.flags.writeable = False
say(fails(comm.Recv, fixed, left), fails(comm.Bcast, None), fails(comm.Send, a)[0], fails(comm.Send, [a, "x"], rank))
